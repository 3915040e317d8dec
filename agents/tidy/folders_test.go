package tidy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/api"
)

// TestFolders: a turn works in a folder that is allowed, named by its own path, or not at all.
func TestFolders(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pictures, other, link := filepath.Join(base, "pictures"), filepath.Join(base, "other"), filepath.Join(base, "link")
	for _, folder := range []string{filepath.Join(pictures, "may"), other} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(pictures, link); err != nil {
		t.Fatal(err)
	}
	folders := tidy.Folders{pictures}
	args := func(root string) jsontext.Value { return jsontext.Value(`{"root":"` + root + `"}`) }
	for _, row := range []struct {
		name string
		args jsontext.Value
		says string
	}{
		{"allowed", args(pictures), ""},
		{"in an allowed one", args(filepath.Join(pictures, "may")), ""},
		{"another", args(other), "not there, or not allowed"},
		{"beside, by dots", args(pictures + "/../other"), "not there, or not allowed"},
		{"not there", args(filepath.Join(pictures, "june")), "not there, or not allowed"},
		{"another name of it", args(link), "is another name of"},
		{"relative", args("pictures"), "not named from the root"},
		{"a misspelt name", jsontext.Value(`{"rot":"/a"}`), "cannot be read"},
	} {
		turn := api.TurnStart{Args: row.args}
		err := folders.Check(&turn)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
		if err == nil && (turn.Request == "" || turn.Label == "") {
			t.Errorf("%s: it does not say what it is about: %+v", row.name, turn)
		}
	}
	if err := folders.Resume(args(other)); err == nil || !strings.Contains(err.Error(), "not allowed now") {
		t.Errorf("resuming in a folder that is not allowed: %v", err)
	}
	if err := folders.Resume(args(pictures)); err != nil {
		t.Errorf("resuming in one that is: %v", err)
	}
}
