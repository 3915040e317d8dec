// Package schemas lists the JSON Schemas of AAEP's messages, finds one by a name, also where that is only nearly one, and writes
// them all into a folder.
package schemas

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/settings"
)

// Entry is one line of the list.
type Entry struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitzero"` // as it stands in the message; the envelope has none
	ID          string `json:"id"`            // of the schema
	Spec        string `json:"spec"`
	Description string `json:"description"`
}

// All are the schemas, the envelope first.
func All() []Entry {
	names := aaep.Names()
	all := make([]Entry, 0, len(names))
	for _, name := range names {
		e := Entry{Name: name, ID: aaep.SchemaID(name), Spec: "§3", Description: "What every event carries, of whatever type."}
		if message, ok := aaep.Describe(name); ok {
			e.Type, e.Spec, e.Description = message.Type, message.Spec, message.Description
		}
		all = append(all, e)
	}
	return all
}

// Of is the schema of a message, by its name or type.
func Of(name string) ([]byte, error) {
	raw, err := aaep.Schema(name)
	if err != nil {
		return nil, cause.Misuse(fmt.Sprintf("there is no message %.64q", name), unknownHint(name))
	}
	return raw, nil
}

// Write writes all schemas into a folder, which is made if need be, and calls each with the name of its file.
func Write(folder string, each func(file string)) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // schemas are for everybody
		return cause.Fail(err, "the folder cannot be made", "name another one")
	}
	for _, name := range aaep.Names() {
		raw, err := aaep.Schema(name)
		if err != nil {
			return cause.Fail(err, "the schema cannot be made", "")
		}
		file := name + aaep.SchemaSuffix
		if err := os.WriteFile(filepath.Join(folder, file), raw, 0o644); err != nil { //nolint:gosec // as above
			return cause.Fail(err, "the schema cannot be written", "name another folder")
		}
		each(file)
	}
	return nil
}

// unknownHint names the type that was probably meant, where one is near enough.
func unknownHint(name string) string {
	var known []string
	of := map[string]string{}
	for _, e := range All() {
		for _, spelling := range spellings(e) {
			known, of[spelling] = append(known, spelling), e.Name
		}
	}
	near := settings.Nearest(name, known)
	if near != "" {
		near = of[near]
	}
	return settings.Meaning(near, "see `earshot schema`, which lists them all")
}

// spellings are the ways in which a type may have been meant: whole, without the
// namespace, and by its last words.
func spellings(e Entry) []string {
	all := []string{e.Name, e.Type}
	if _, rest, found := strings.Cut(e.Name, "."); found {
		all = append(all, rest)
	}
	return all
}
