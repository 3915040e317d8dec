package hostfile

import (
	"bytes"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/tailscale/hujson"
)

// hookSection is the table of the programs that a host runs at its events, lists by the names of the events.
const hookSection = "hooks"

// HookHosts are the hosts that run a program before they use a tool of their own, with the files that name it.
func HookHosts() []Host {
	return []Host{
		{
			Name: "claude", Title: "Claude Code", Section: hookSection, format: jsonFormat{strict: true}, project: ".claude/settings.json",
			user: func(p Environment) string { return p.under("CLAUDE_CONFIG_DIR", ".claude", "settings.json") },
		},
		{
			Name: "codex", Title: "Codex", Section: hookSection, format: jsonFormat{strict: true}, project: ".codex/hooks.json",
			user: func(p Environment) string { return p.under("CODEX_HOME", ".codex", "hooks.json") },
		},
		{
			Name: "gemini", Title: "Gemini CLI", Section: hookSection, format: jsonFormat{noLastComma: true}, project: ".gemini/settings.json",
			user: func(p Environment) string { return p.under("GEMINI_CLI_HOME", "", ".gemini", "settings.json") },
		},
		{
			Name: "cursor", Title: "Cursor", Section: hookSection, format: jsonFormat{strict: true}, project: ".cursor/hooks.json",
			user: func(p Environment) string { return p.under("", ".cursor", "hooks.json") },
		},
		{
			Name: "copilot", Title: "Copilot CLI", Section: hookSection, format: jsonFormat{strict: true}, project: filepath.Join(".github", "hooks", "earshot.json"),
			user: func(Environment) string { return "" }, // its documents know none
		},
		{
			Name: "qwen", Title: "Qwen Code", Section: hookSection, format: jsonFormat{noLastComma: true}, project: ".qwen/settings.json",
			user: func(p Environment) string { return p.under("QWEN_HOME", ".qwen", "settings.json") },
		},
	}
}

// HookHostOf is the host of a name.
func HookHostOf(name string) (Host, bool) {
	i := slices.IndexFunc(HookHosts(), func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return HookHosts()[i], true
}

// Programs are the names by which a host of a name is started.
func Programs(name string) []string {
	if host, known := HostOf(name); known {
		return host.Programs
	}
	return []string{name}
}

// List are the entries of a list of the section; none where there is no such list.
func (f *File) List(name string) []any {
	list, _ := f.section()[name].([]any)
	return list
}

// Append adds an entry to a list of the section, behind the others.
func (f *File) Append(name string, entry Object) error {
	want, section := cloneTree(f.tree), cloneTree(f.section())
	list, is := section[name].([]any)
	if section[name] != nil && !is {
		return &HandError{Section: f.host.Section, Name: name}
	}
	section[name], want[f.host.Section] = append(slices.Clone(list), any(entry.Table())), section
	path := []string{f.host.Section, name}
	return f.edit(want, name, func(text []byte) ([]byte, error) {
		if len(list) == 0 {
			return setJSON(text, path, []any{entry})
		}
		return appendJSON(text, path, entry)
	})
}

// RemoveAt takes one entry out of a list of the section, and the list if it was the last.
func (f *File) RemoveAt(name string, i int) error {
	list := f.List(name)
	if i < 0 || i >= len(list) {
		return nil
	}
	want, section := cloneTree(f.tree), cloneTree(f.section())
	section[name], want[f.host.Section] = slices.Delete(slices.Clone(list), i, i+1), section
	path := []string{f.host.Section, name}
	if len(list) == 1 {
		delete(section, name)
		return f.edit(want, name, func(text []byte) ([]byte, error) { return f.host.format.remove(text, path) })
	}
	return f.edit(want, name, func(text []byte) ([]byte, error) { return removeFromJSON(text, path, i) })
}

// Version is the member version of the file; nil where there is none.
func (f *File) Version() any { return f.tree[versionMember] }

const versionMember = "version"

// SetVersion adds the member version.
func (f *File) SetVersion(version int) error {
	want := maps.Clone(cloneTree(f.tree))
	want[versionMember] = normal(version)
	return f.edit(want, versionMember, func(text []byte) ([]byte, error) { return setJSON(text, []string{versionMember}, version) })
}

// RemoveVersion takes the member version away.
func (f *File) RemoveVersion() error {
	want := cloneTree(f.tree)
	delete(want, versionMember)
	return f.edit(want, versionMember, func(text []byte) ([]byte, error) { return f.host.format.remove(text, []string{versionMember}) })
}

// Same reports whether a value that was read says the same as an object.
func Same(read any, entry Object) bool { return reflect.DeepEqual(read, any(entry.Table())) }

// listAt finds a list, and by how much what is in it is indented.
func listAt(text []byte, path []string) (*hujson.Value, *hujson.Array, string, error) {
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, nil, "", errForm
	}
	at, unit := &root, jsonUnit(text, &root)
	for _, name := range path {
		object, is := at.Value.(*hujson.Object)
		if !is {
			return nil, nil, "", errForm
		}
		member := memberOf(object, name)
		if member == nil {
			return nil, nil, "", errForm
		}
		at = &member.Value
	}
	list, is := at.Value.(*hujson.Array)
	if !is || len(list.Elements) == 0 {
		return nil, nil, "", errForm
	}
	return at, list, unit, nil
}

// appendJSON adds an element to a list that has some, in the form in which they are written.
func appendJSON(text []byte, path []string, entry Object) ([]byte, error) {
	at, list, unit, err := listAt(text, path)
	if err != nil {
		return nil, err
	}
	last := list.Elements[len(list.Elements)-1]
	end := last.EndOffset
	if !bytes.Contains(text[at.StartOffset:last.StartOffset], []byte("\n")) {
		return spliced(text, splice{end, end, ", " + jsonText(entry, "", "")}), nil
	}
	indent := indentBefore(text, last.StartOffset)
	element := "\n" + indent + jsonText(entry, indent, unit)
	if last.AfterExtra != nil { // there is a last comma
		comma := end + len(last.AfterExtra) + 1
		return spliced(text, splice{comma, comma, element + ","}), nil
	}
	return spliced(text, splice{end, end, "," + element}), nil
}

// removeFromJSON takes an element out of a list that has others, with its comma.
func removeFromJSON(text []byte, path []string, i int) ([]byte, error) {
	_, list, _, err := listAt(text, path)
	if err != nil {
		return nil, err
	}
	element := list.Elements[i]
	from, to := element.StartOffset-len(element.BeforeExtra), element.EndOffset+len(element.AfterExtra)+1
	if i == len(list.Elements)-1 && element.AfterExtra == nil {
		before := list.Elements[i-1]
		from, to = before.EndOffset+len(before.AfterExtra), element.EndOffset
	}
	if len(bytes.TrimSpace(element.BeforeExtra)) > 0 { // a comment of the user's stands before it
		return nil, errForm
	}
	return spliced(text, splice{from, to, ""}), nil
}
