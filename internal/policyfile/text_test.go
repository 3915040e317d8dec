package policyfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/internal/policyfile"
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
