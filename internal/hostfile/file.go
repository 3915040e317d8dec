package hostfile

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// format reads and edits one kind of file. A path leads from the root by names: to the section, or to an entry in it.
type format interface {
	// read refuses what is not of the format with a [*BrokenError].
	read(text []byte) (map[string]any, error)
	// set puts an object in the place of what stands there, or adds it.
	set(text []byte, path []string, value Object) ([]byte, error)
	remove(text []byte, path []string) ([]byte, error)
}

// BrokenError says where a text is not what its host reads.
type BrokenError struct {
	Line   int // from 1; 0 where it is not known
	Reason string
}

func (e *BrokenError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// HandError says that an entry is written in a way that is not edited: somebody has to do it.
type HandError struct{ Section, Name string }

func (e *HandError) Error() string {
	return "the entry " + e.Name + " of " + e.Section + " is written in a form that is not edited here"
}

// byteOrderMark stands at the beginning of files from Windows.
const byteOrderMark = "\xef\xbb\xbf"

// File is the file of a host, as it was read and edited.
type File struct {
	host   Host
	before []byte
	text   []byte
	tree   map[string]any
}

// Snippet is a file of a host with this entry alone: what to write by hand into one that is not edited.
func Snippet(host Host, name string, entry Object) string {
	f, err := Read(host, nil)
	if err == nil {
		err = f.Set(name, entry)
	}
	if err != nil { // an empty file is edited always
		return ""
	}
	return string(f.Text())
}

// Read reads a file of a host. An empty text is a file without entries.
func Read(host Host, text []byte) (*File, error) {
	f := &File{host: host, before: text, text: text}
	var err error
	f.tree, err = f.read(text)
	if err != nil {
		return nil, err
	}
	if section, is := f.tree[host.Section]; is && section != nil {
		if _, is := section.(map[string]any); !is {
			return nil, &BrokenError{Reason: host.Section + " is not a table of entries by their names"}
		}
	}
	return f, nil
}

func (f *File) read(text []byte) (map[string]any, error) {
	tree, err := f.host.format.read(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if err != nil {
		return nil, err
	}
	plain, _ := normal(tree).(map[string]any)
	return plain, nil
}

// Text is the file as it is to be written.
func (f *File) Text() []byte { return f.text }

// Changed reports whether it is another than the one that was read.
func (f *File) Changed() bool { return !bytes.Equal(f.before, f.text) }

// HasSection reports whether the file has the section of the servers.
func (f *File) HasSection() bool {
	_, there := f.tree[f.host.Section]
	return there
}

func (f *File) section() map[string]any {
	section, _ := f.tree[f.host.Section].(map[string]any)
	return section
}

// Names are the names of the entries.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.section())) }

// Entry is one of the entries; nil where there is none of that name.
func (f *File) Entry(name string) map[string]any {
	entry, _ := f.section()[name].(map[string]any)
	return entry
}

// Has reports whether an entry says the same as an object.
func (f *File) Has(name string, entry Object) bool {
	return reflect.DeepEqual(f.section()[name], any(entry.Table()))
}

// Set writes an entry in the place of the one of that name, or adds it.
func (f *File) Set(name string, entry Object) error {
	want := cloneTree(f.tree)
	section := cloneTree(f.section())
	section[name], want[f.host.Section] = entry.Table(), section
	return f.edit(want, name, func(text []byte) ([]byte, error) {
		return f.host.format.set(text, []string{f.host.Section, name}, entry)
	})
}

// Remove takes an entry away.
func (f *File) Remove(name string) error {
	want := cloneTree(f.tree)
	section := cloneTree(f.section())
	if _, there := section[name]; !there {
		return nil
	}
	delete(section, name)
	want[f.host.Section] = section
	return f.edit(want, name, func(text []byte) ([]byte, error) {
		return f.host.format.remove(text, []string{f.host.Section, name})
	})
}

// RemoveSection takes the section away if nothing is left in it.
func (f *File) RemoveSection() error {
	if len(f.section()) > 0 || !f.HasSection() {
		return nil
	}
	want := cloneTree(f.tree)
	delete(want, f.host.Section)
	return f.edit(want, "", func(text []byte) ([]byte, error) {
		return f.host.format.remove(text, []string{f.host.Section})
	})
}

func cloneTree(tree map[string]any) map[string]any {
	if tree == nil {
		return map[string]any{}
	}
	return maps.Clone(tree)
}

// edit keeps a changed text if it says what is wanted, and nothing else.
func (f *File) edit(want map[string]any, name string, change func(text []byte) ([]byte, error)) error {
	byHand := &HandError{Section: f.host.Section, Name: name}
	text, marked := bytes.CutPrefix(f.text, []byte(byteOrderMark))
	ends := bytes.Count(text, []byte("\n"))
	windows := ends > 0 && bytes.Count(text, []byte("\r\n")) == ends
	changed, err := change(text)
	if err != nil {
		return byHand
	}
	if windows {
		changed = windowsLines(changed)
	}
	if marked {
		changed = append([]byte(byteOrderMark), changed...)
	}
	got, err := f.read(changed)
	if err != nil || !same(f.host.Section, got, want) {
		return byHand
	}
	f.text, f.tree = changed, got
	return nil
}

// same compares two trees, in which an empty section is as good as none.
func same(section string, a, b map[string]any) bool {
	without := func(tree map[string]any) map[string]any {
		tree = cloneTree(tree)
		if inner, is := tree[section].(map[string]any); is && len(inner) == 0 || tree[section] == nil {
			delete(tree, section)
		}
		return tree
	}
	return reflect.DeepEqual(without(a), without(b))
}

// windowsLines ends each line as the file does, also those that were added.
func windowsLines(text []byte) []byte {
	return []byte(strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n", "\r\n"))
}

// splice is a part of a text that is replaced.
type splice struct {
	from, to int
	by       string
}

// spliced replaces parts that do not overlap.
func spliced(text []byte, parts ...splice) []byte {
	slices.SortStableFunc(parts, func(a, b splice) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, p := range parts {
		out = append(append(out, text[at:p.from]...), p.by...)
		at = p.to
	}
	return append(out, text[at:]...)
}
