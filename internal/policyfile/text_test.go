package policyfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/tool/settings"
)

// TestText: the rules are told as they were last valid, with what is wrong with the file now.
func TestText(t *testing.T) {
	t.Parallel()
	const valid = "rules:\n  - tool: files.delete\n    decide: ask\n"
	path := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(valid)
	file, err := policyfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if raw, trouble := file.Text(); string(raw) != valid || trouble != nil {
		t.Errorf("%q, %v", raw, trouble)
	}
	write("rules: none")
	if raw, trouble := file.Text(); string(raw) != valid || trouble == nil {
		t.Errorf("%q, %v", raw, trouble)
	}
	if none, err := policyfile.Open(""); err != nil {
		t.Fatal(err)
	} else if raw, trouble := none.Text(); raw != nil || trouble != nil {
		t.Errorf("%q, %v", raw, trouble)
	}
}

// TestWhenNobody: only the two words are taken, and a file has to have rules beside them, which may be cut off otherwise.
func TestWhenNobody(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		decides                bool
		line                   int
		field, found, expected string
	}{
		"rules: []\n": {},
		"questions: {when_nobody: wait}\nrules: []\n":    {},
		"rules: []\nquestions:\n  when_nobody: decide\n": {decides: true},
		"rules: []\nquestions:\n  when_nobody: accept\n": {line: 3, field: "questions.when_nobody", found: `it is "accept"`, expected: "wait or decide"},
		"rules: []\nquestions: {when_nobody: Decide}\n":  {line: 2, field: "questions.when_nobody", found: `it is "Decide"`, expected: "wait or decide"},
		"rules: []\nquestions: {when_nobody: true}\n":    {line: 2, field: "questions.when_nobody", found: `it is "true"`, expected: "a text; put it into quotes"},
		"rules: []\nquestions: {when_nobody: \"\"}\n":    {},
		"rules: []\nquestions: {when_anybody: wait}\n":   {line: 2, field: "questions.when_anybody", found: "unknown name"},
		"rules: []\nquestions: decide\n":                 {line: 2, field: "questions", found: `it is "decide"`, expected: "names and values"},
		"rules: []\nquestions:\n":                        {line: 2, field: "questions", found: "it is empty", expected: "a value, or no such line"},
	} {
		path := filepath.Join(t.TempDir(), "rules.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := policyfile.Open(path)
		if err == nil {
			if want.field != "" || file.Decides() != want.decides {
				t.Errorf("%q is taken, and decides: %v", text, file.Decides())
			}
			continue
		}
		wrong, is := errors.AsType[*settings.Error](err)
		if !is || wrong.Line != want.line || wrong.Field != want.field || wrong.Found != want.found || wrong.Expected != want.expected {
			t.Errorf("%q: %v (%+v)", text, err, wrong)
		}
	}
}
