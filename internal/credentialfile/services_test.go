package credentialfile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/credentialfile"
)

// TestServices: each service comes with one file, and with nobody else's.
func TestServices(t *testing.T) {
	t.Parallel()
	files := credentialfile.Dir{Path: filepath.Join(t.TempDir(), credentialfile.Folder), Project: "default"}
	for _, who := range []bus.Principal{{Kind: bus.Tool, Name: "desk"}, {Kind: bus.Tool, Name: "tickets"}, {Kind: bus.Agent, Name: "scout"}} {
		change, err := files.Add(who, nil)
		if err == nil {
			err = change.Write()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	desk := files.File(bus.Principal{Kind: bus.Tool, Name: "desk"})
	for _, row := range []struct {
		name, says string
		paths      []string
	}{
		{"one of two", "", []string{desk}},
		{"none", "", nil},
		{"twice", "which no service of the file is waiting for", []string{desk, desk}},
		{"an agent's", "which no service of the file is waiting for", []string{files.File(bus.Principal{Kind: bus.Agent, Name: "scout"})}},
		{"not there", "is not there", []string{"/nowhere/tool.desk.json"}},
	} {
		found, err := credentialfile.Named([]string{"desk", "tickets"}, row.paths)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) || err == nil && len(found) != len(row.paths) {
			t.Errorf("%s: %v, %v", row.name, found, err)
		}
	}
	found, err := credentialfile.Named([]string{"desk", "tickets"}, []string{desk})
	if err == nil {
		err = files.Complete([]string{"desk", "tickets"}, found)
	}
	if err != nil || len(found) != 2 || found["desk"] != desk {
		t.Errorf("completed %v, %v", found, err)
	}
	if err := files.Complete([]string{"oven"}, found); err == nil || !strings.Contains(err.Error(), "there are no credentials of tool/oven") {
		t.Errorf("a service without a file: %v", err)
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]bus.Kind{"tool": bus.Tool, "agent": bus.Agent, "operator": bus.Operator, "foreign": bus.External} {
		if kind, err := credentialfile.Kind(role, ""); err != nil || kind != want {
			t.Errorf("%s: %s, %v", role, kind, err)
		}
	}
	for role, says := range map[string]string{"": "the role is missing", "hub": `the role is "hub"`} {
		if _, err := credentialfile.Kind(role, ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", role, err)
		}
	}
}
