package forward

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
)

// Cursor is what a [Gateway] remembers: after which message it resumes, and the questions of the producer that wait for an answer.
type Cursor struct {
	After     string     `json:"after,omitzero"`
	Questions []Question `json:"questions,omitzero"`
}

// Question is an open question, by the producer's own ids.
type Question struct {
	Session string `json:"session_id"`
	Token   string `json:"reply_token"`
	Number  int    `json:"question,omitzero"`
}

// LoadCursor reads a cursor from a file. One that is not there, or cannot be read, is the zero Cursor: then some is sent again, which the server
// tells once.
func LoadCursor(path string) Cursor {
	var p Cursor
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err != nil || json.Unmarshal(raw, &p) != nil {
		return Cursor{}
	}
	return p
}

// Save writes the cursor to a file, whole or not at all.
func (p Cursor) Save(path string) error {
	raw, err := json.Marshal(p, json.Deterministic(true))
	if err != nil {
		return err //nolint:wrapcheck // it has no further meaning
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err //nolint:wrapcheck // it names the folder
	}
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return err //nolint:wrapcheck // it names the file
	}
	return os.Rename(path+".new", path) //nolint:wrapcheck // the same
}

func (p *Cursor) add(q Question) bool {
	if slices.Contains(p.Questions, q) {
		return false
	}
	p.Questions = append(p.Questions, q)
	return true
}

func (p *Cursor) remove(q Question) {
	p.Questions = slices.DeleteFunc(slices.Clone(p.Questions), func(old Question) bool { return old == q })
}
