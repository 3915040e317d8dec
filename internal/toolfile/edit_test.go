package toolfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/toolfile"
)

// TestEdit: adding and removing a server leaves everything else of a file as it is, comments too; and nothing changes until the
// draft is kept.
func TestEdit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	before := "# What the desk does.\ncommand:\n  target: desk\n  operations:\n    - {tool: desk.list, description: List the desk., class: read, program: /bin/ls, argv: [/]} # only lists\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	text := func() string {
		t.Helper()
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	entry := toolfile.MCPServer{
		Command: []string{"/bin/cat", "a b", "--x"}, Folder: "/", Environment: map[string]string{"TOKEN": "{token}"},
		Secrets: map[string]toolfile.SecretRef{"token": {Env: "NAME"}},
	}
	draft, err := toolfile.AddServer(path, "cat", entry)
	if err != nil {
		t.Fatal(err)
	}
	services, err := draft.Services(toolfile.Options{LookupEnv: os.LookupEnv, Private: t.TempDir()})
	if err != nil || len(services) != 2 || services[1].String() != "Service cat (mcp): /bin/cat 'a b' --x, whose tools are unreviewed until you review them" {
		t.Fatalf("the draft has %v, %v", services, err)
	}
	if text() != before {
		t.Errorf("the file changed before the draft was kept:\n%s", text())
	}
	if err := draft.Save(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"# What the desk does.", "# only lists", "mcp:\n  cat:\n    command: [/bin/cat, a b, --x]\n", `TOKEN: '{token}'`, "token:\n        env: NAME\n"} {
		if !strings.Contains(text(), part) {
			t.Errorf("%q is not in:\n%s", part, text())
		}
	}
	if _, err := toolfile.AddServer(path, "cat", entry); err == nil || !strings.Contains(err.Error(), "of the name cat already") {
		t.Errorf("it was added twice: %v", err)
	}
	if _, err := toolfile.RemoveServer(path, "dog"); err == nil || !strings.Contains(err.Error(), "there is no MCP server of the name dog") {
		t.Errorf("what is not there was removed: %v", err)
	}
	draft, err = toolfile.RemoveServer(path, "cat")
	if err == nil {
		err = draft.Save()
	}
	if err != nil || text() != before {
		t.Errorf("after the removal (%v):\n%s", err, text())
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("what is left: %v, %v", left, err)
	}
}

// TestEditAlone: a file that is not there is made, closed to others, and taken away with its last server; one that is broken is left.
func TestEditAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	draft, err := toolfile.AddServer(path, "far", toolfile.MCPServer{URL: "https://mcp.example.org/mcp"})
	if err == nil {
		err = draft.Save()
	}
	info, serr := os.Stat(path)
	if err != nil || serr != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(err, serr, info)
	}
	if draft, err = toolfile.RemoveServer(path, "far"); err == nil {
		err = draft.Save()
	}
	if _, serr := os.Stat(path); err != nil || !os.IsNotExist(serr) {
		t.Errorf("it is still there: %v, %v", err, serr)
	}
	if err := os.WriteFile(path, []byte("mcp: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := toolfile.AddServer(path, "far", toolfile.MCPServer{URL: "https://mcp.example.org/mcp"}); err == nil || !strings.Contains(err.Error(), "a value is missing") {
		t.Errorf("a broken file: %v", err)
	}
}
