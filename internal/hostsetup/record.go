package hostsetup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
)

// record is what Earshot remembers of one file of a host. It may hold credentials, and is closed to others.
type record struct {
	Host string `json:"host"`
	File string `json:"file"`
	// Entry is what was written last; none while nothing is.
	Entry map[string]any `json:"entry,omitzero"`
	// Previous is what stood there before, in case that the file was not written any more.
	Previous map[string]any `json:"previous,omitzero"`
	// Made: the section of servers was not there before.
	Made bool `json:"made_section,omitzero"`
	// Moved are the servers that stand behind Earshot instead.
	Moved []moved `json:"moved,omitzero"`

	path string
}

// moved is a server as its host had it.
type moved struct {
	Name  string         `json:"name"`
	As    string         `json:"as"` // its name behind Earshot
	Entry map[string]any `json:"entry"`
}

// recordOf reads what is remembered of a file; an empty record where nothing is.
func recordOf(data, host, file string) (*record, error) {
	r := &record{Host: host, File: file, path: recordPath(data, host, file)}
	return r, readRecord(r.path, host, r)
}

// recordPath is where is remembered what was written into a file.
func recordPath(data, name, file string) string {
	sum := sha256.Sum256([]byte(file))
	return filepath.Join(data, "hosts", name+"-"+hex.EncodeToString(sum[:4])+".json")
}

// readRecord reads what is remembered; where nothing is, it stays as it is.
func readRecord(path, host string, into any) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return cause.Fail(err, "what Earshot has written for "+host+" cannot be read in "+cause.OneLine(path), "mend that file, or remove it: without it nothing is restored")
	}
	return nil
}

// save writes the record, or removes it where there is nothing to remember.
func (r *record) save() error {
	return saveRecord(r.path, r.Host, r, r.Entry == nil && len(r.Moved) == 0)
}

// saveRecord writes a record, or removes it.
func saveRecord(path, host string, record any, remove bool) error {
	var err error
	if remove {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else {
		var raw []byte
		raw, err = json.Marshal(record, jsontext.Multiline(true), json.Deterministic(true))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = datadir.WriteFile(path, append(raw, '\n'))
		}
	}
	if err != nil {
		return cause.Fail(err, "what is written for "+host+" could not be recorded, so nothing was", "make room, or see to the data directory")
	}
	return nil
}

// wrote reports whether an entry is as it was left here.
func (r *record) wrote(entry map[string]any) bool {
	return r.Entry != nil && (reflect.DeepEqual(r.Entry, entry) || reflect.DeepEqual(r.Previous, entry))
}

// others are the records of the other files of hosts.
func (r *record) others() []record {
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(r.path), "*.json"))
	var all []record
	for _, path := range paths {
		var other record
		if raw, err := os.ReadFile(path); path != r.path && err == nil && json.Unmarshal(raw, &other) == nil {
			all = append(all, other)
		}
	}
	return all
}

// shared reports whether another host has moved a server to that name, too.
func (r *record) shared(as string) bool {
	return slices.ContainsFunc(r.others(), func(other record) bool {
		return slices.ContainsFunc(other.Moved, func(m moved) bool { return m.As == as })
	})
}

// remember notes a server that moves. One of that name that moved before is another one by now.
func (r *record) remember(m moved) {
	r.Moved = append(slices.DeleteFunc(r.Moved, func(old moved) bool { return old.Name == m.Name }), m)
}
