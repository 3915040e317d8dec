package hostsetup_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/authserver"
	"github.com/earshot-dev/earshot/internal/toolfile"
)

// serverKind makes this program an MCP server: with tools, or with none.
const serverKind = "EARSHOT_TEST_SERVER"

func TestMain(m *testing.M) {
	kind := os.Getenv(serverKind)
	if kind == "" {
		os.Exit(m.Run())
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "post", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	if kind == "tools" {
		s.AddPrompt(&mcp.Prompt{Name: "letter"}, nil)
		s.AddTool(&mcp.Tool{Name: "send", Description: "Send a letter.", InputSchema: map[string]any{"type": "object"}}, nil)
	}
	if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		os.Exit(1)
	}
}

// bench is a home with a host, and a data directory.
type bench struct {
	t    *testing.T
	home string
	o    hostsetup.Options
	// asked are the servers, with their addresses, that ask for a login.
	asked []string
}

func newBench(t *testing.T, host string) *bench {
	t.Helper()
	b := &bench{t: t, home: t.TempDir()}
	b.o.Host, _ = hostfile.HostOf(host)
	b.o.File = b.o.Host.File(hostfile.Environment{Home: b.home, Getenv: func(string) string { return "" }})
	b.o.Data, b.o.Home, b.o.Program, b.o.Args = filepath.Join(b.home, "data"), b.home, "/usr/bin/earshot", []string{"mcp", "serve"}
	b.o.Tools = toolfile.Options{LookupEnv: os.LookupEnv, Private: t.TempDir()}
	b.o.AskLogin = func(_ context.Context, server, address string) error {
		b.asked = append(b.asked, server+" "+address)
		return nil
	}
	return b
}

func (b *bench) write(text string, mode fs.FileMode) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.o.File), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.o.File, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) text(path string) string {
	b.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

func (b *bench) install(change func(*hostsetup.Options)) hostsetup.Result {
	b.t.Helper()
	return b.run(hostsetup.Install, change)
}

func (b *bench) uninstall(change func(*hostsetup.Options)) hostsetup.Result {
	b.t.Helper()
	return b.run(hostsetup.Uninstall, change)
}

func (b *bench) run(do func(context.Context, hostsetup.Options) (hostsetup.Result, error), change func(*hostsetup.Options)) hostsetup.Result {
	b.t.Helper()
	o := b.o
	if change != nil {
		change(&o)
	}
	r, err := do(b.t.Context(), o)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// refuses demands an error that says so, and a file that is as it was.
func (b *bench) refuses(do func(context.Context, hostsetup.Options) (hostsetup.Result, error), want string) {
	b.t.Helper()
	before := b.text(b.o.File)
	_, err := do(b.t.Context(), b.o)
	if err == nil || !strings.Contains(err.Error(), want) {
		b.t.Errorf("found %v, expected %q", err, want)
	}
	if after := b.text(b.o.File); after != before {
		b.t.Errorf("it was changed:\n%s", after)
	}
}

const before = "{\n  // mine\n  \"theme\": \"dark\"\n}\n"

// TestInstall: the entry comes and goes, and the file is otherwise the same, with its rights; copies stay, and none is written over.
func TestInstall(t *testing.T) {
	t.Parallel()
	for _, host := range hostfile.Hosts() {
		t.Run(host.Name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, host.Name)
			text := map[string]string{"claude": "{\n\t\"a\": 1\n}\n", "codex": "# mine\na = 1\n", "goose": "# mine\na: 1\n"}[host.Name]
			if text == "" {
				text = before
			}
			b.write(text, 0o640)
			if r := b.install(func(o *hostsetup.Options) { o.DryRun = true }); !r.Changed || len(r.Diff) == 0 || b.text(b.o.File) != text {
				t.Errorf("a dry run: %+v", r)
			}
			if _, err := os.Stat(b.o.Data); err == nil {
				t.Error("a dry run made the data directory")
			}
			r := b.install(nil)
			if !r.Changed || r.Backup != b.o.File+".before-earshot" || b.text(r.Backup) != text {
				t.Errorf("found %+v", r)
			}
			if has, err := hostsetup.Has(host, b.o.File); !has || err != nil {
				t.Errorf("the entry is not there: %v", err)
			}
			for _, path := range []string{b.o.File, r.Backup} {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
					t.Errorf("%s is %v, %v", path, info.Mode(), err)
				}
			}
			if again := b.install(nil); again.Changed || again.Backup != "" || len(again.Diff) > 0 {
				t.Errorf("again: %+v", again)
			}
			gone := b.uninstall(nil)
			if gone.Backup != b.o.File+".before-earshot-2" || b.text(b.o.File) != text || b.text(r.Backup) != text {
				t.Errorf("%+v; left is\n%s", gone, b.text(b.o.File))
			}
			if again := b.uninstall(nil); again.Changed {
				t.Errorf("again: %+v", again)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(b.o.File), ".earshot-*")); len(left) > 0 || err != nil {
				t.Errorf("left are %v, %v", left, err)
			}
			if left, err := os.ReadDir(filepath.Join(b.o.Data, "hosts")); len(left) > 0 || err != nil {
				t.Errorf("recorded are %v, %v", left, err)
			}
		})
	}
}

// TestInstallAlone: a file that is not there is made, closed to others.
func TestInstallAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, "gemini")
	r := b.install(nil)
	if info, err := os.Stat(b.o.File); err != nil || info.Mode().Perm() != 0o600 || r.Backup != "" {
		t.Errorf("found %v, %v, %+v", info, err, r)
	}
}

// TestInstallLink: a link stays one, and its file is written; one that leads nowhere is left.
func TestInstallLink(t *testing.T) {
	t.Parallel()
	b := newBench(t, "gemini")
	if err := os.Mkdir(filepath.Dir(b.o.File), 0o700); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(b.home, "dotfiles", "claude.json")
	if err := os.Symlink(elsewhere, b.o.File); err != nil {
		t.Fatal(err)
	}
	if _, err := hostsetup.Install(t.Context(), b.o); err == nil || !strings.Contains(err.Error(), "is a link that leads to no file") {
		t.Errorf("found %v", err)
	}
	if err := os.Mkdir(filepath.Dir(elsewhere), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(elsewhere, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.install(nil)
	if target, err := os.Readlink(b.o.File); target != elsewhere || err != nil || r.Backup != elsewhere+".before-earshot" || !strings.Contains(b.text(elsewhere), "earshot") {
		t.Errorf("found %s, %v, %+v", target, err, r)
	}
}

// TestByHand: what somebody else has written, or changed, is left unless it is forced; what was written by hand as the documents say is
// taken over.
func TestByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t, "claude")
	force := func(o *hostsetup.Options) { o.Force = true }
	b.write(`{"mcpServers": {"earshot": {"command": "other"}}}`, 0o600)
	b.refuses(hostsetup.Install, "has an entry earshot that is not Earshot's")
	b.refuses(hostsetup.Uninstall, "has an entry earshot that is not Earshot's")
	b.write(`{"mcpServers": {"earshot": {"command": "earshot", "args": ["mcp", "serve"]}}}`, 0o600)
	b.install(nil)
	b.write(strings.Replace(b.text(b.o.File), "3600000", "5", 1), 0o600)
	b.refuses(hostsetup.Install, "was changed since Earshot wrote it")
	b.refuses(hostsetup.Uninstall, "was changed since Earshot wrote it")
	b.install(force)
	if !strings.Contains(b.text(b.o.File), "3600000") {
		t.Error(b.text(b.o.File))
	}
	b.write(strings.Replace(b.text(b.o.File), "3600000", "5", 1), 0o600)
	if r := b.uninstall(force); !r.Changed || strings.Contains(b.text(b.o.File), "earshot") {
		t.Error(b.text(b.o.File))
	}
	b.write(`{"mcpServers": `, 0o600)
	b.refuses(hostsetup.Install, "is not what Claude Code reads, and is left as it is: line 1: ")
}

// TestNewPlace: after an upgrade the entry names the new program, also where the first try was cut off.
func TestNewPlace(t *testing.T) {
	t.Parallel()
	b := newBench(t, "codex")
	b.install(nil)
	old := b.text(b.o.File)
	b.o.Program = "/opt/earshot"
	b.install(nil)
	b.write(old, 0o600) // as if it had ended right after it had recorded what it was about to write
	if r := b.install(nil); !r.Changed || !strings.Contains(b.text(b.o.File), `command = "/opt/earshot"`) {
		t.Errorf("%+v\n%s", r, b.text(b.o.File))
	}
}

// servers is a file of Cursor with servers that can move, and some that cannot.
func servers(t *testing.T) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{
  "mcpServers": {
    // Letters.
    "my post": {"command": %[1]q, "args": ["x"], "env": {"EARSHOT_TEST_SERVER": "tools", "POST_TOKEN": "xyz-secret-4711"}},
    "silent": {"command": %[1]q, "env": {"EARSHOT_TEST_SERVER": "none"}},
    "gone": {"command": "/no/such/program"},
    "cloud": {"type": "http", "url": "https://a.example/mcp", "authProviderType": "google_credentials"}
  },
  "theme": "dark"
}
`, own)
}

func importing(o *hostsetup.Options)  { o.Import = true }
func restoring(o *hostsetup.Options)  { o.Restore = true }
func rehearsing(o *hostsetup.Options) { o.Import, o.DryRun = true, true }

// TestImport: servers move behind Earshot and back. Credentials lie in files that only their owner can read, and are not shown.
func TestImport(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	b := newBench(t, "cursor")
	b.write(servers(t), 0o600)
	tools := filepath.Join(b.o.Data, "tools.yaml")
	if r := b.install(rehearsing); len(r.Moved) != 2 || b.text(b.o.File) != servers(t) {
		t.Errorf("a dry run: %+v", r)
	}
	r := b.install(importing)
	moved(t, b, r)
	if without := r.Moved[0].Without; len(without) != 0 {
		t.Errorf("it moved without %q", without)
	}
	records, err := filepath.Glob(filepath.Join(b.o.Data, "hosts", "cursor-*.json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("recorded are %v, %v", records, err)
	}
	for _, path := range []string{tools, filepath.Join(b.o.Data, "secrets", "my_post.POST_TOKEN"), records[0]} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", path, info, err)
		}
	}
	if told, want := r.Sentence(b.o.Host), "In "+b.o.File+", the file of Cursor, the entry earshot is added, and the entry my post is removed."; told != want {
		t.Errorf("found    %s\nexpected %s", told, want)
	}
	if text := b.text(tools); strings.Contains(text, "4711") || !strings.Contains(text, "POST_TOKEN: '{POST_TOKEN}'") {
		t.Errorf("the file of tools is\n%s", text)
	}
	if shown := strings.Join(r.Diff, "\n"); strings.Contains(shown, "4711") {
		t.Errorf("the token is shown:\n%s", shown)
	}
	if again := b.install(importing); again.Changed || len(again.Moved) > 0 {
		t.Errorf("again: %+v", again)
	}
	if gone := b.uninstall(nil); len(gone.Behind) != 1 || gone.Behind[0] != "my_post" {
		t.Errorf("without --restore: %+v", gone)
	}
	back := b.uninstall(restoring)
	if told, want := back.Sentence(b.o.Host), "In "+b.o.File+", the file of Cursor, the entry my post is added again."; told != want {
		t.Errorf("found    %s\nexpected %s", told, want)
	}
	if len(back.Moved) != 1 || len(back.Behind) > 0 || !strings.Contains(b.text(b.o.File), "xyz-secret-4711") {
		t.Errorf("with --restore: %+v\n%s", back, b.text(b.o.File))
	}
	for _, path := range []string{tools, filepath.Join(b.o.Data, "secrets", "my_post.POST_TOKEN")} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

func moved(t *testing.T, b *bench, r hostsetup.Result) {
	t.Helper()
	if len(r.Moved) != 1 || r.Moved[0].Name != "my post" || r.Moved[0].As != "my_post" {
		t.Errorf("moved are %+v", r.Moved)
	}
	reasons := map[string]string{
		"silent": "it offers no tools, resources or prompts", "gone": "there is no program /no/such/program",
		"cloud": "it logs in by its host",
	}
	for _, left := range r.Left {
		if reasons[left.Name] != left.Reason {
			t.Errorf("left is %+v", left)
		}
		delete(reasons, left.Name)
	}
	if len(reasons) > 0 {
		t.Errorf("nothing is told of %v", reasons)
	}
	text := b.text(b.o.File)
	for _, part := range []string{"// Letters.", `"silent"`, `"gone"`, `"cloud"`, `"earshot"`, `"theme": "dark"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in\n%s", part, text)
		}
	}
	if strings.Contains(text, "4711") {
		t.Errorf("the server is still there:\n%s", text)
	}
}

// TestImportLogin: a server that asks for a login moves, too. What its host knows of its own login stays with the host; a person logs
// in again.
func TestImportLogin(t *testing.T) {
	t.Parallel()
	remote := authserver.Start()
	defer remote.Close()
	b := newBench(t, "claude")
	text := fmt.Sprintf(`{"mcpServers": {"hub": {"type": "http", "url": %q, "oauth": {"clientId": "app-1", "clientSecret": "xyz-secret-4711"}}}}`, remote.Resource())
	b.write(text, 0o600)
	if r := b.install(rehearsing); len(r.Moved) != 1 || r.Moved[0].Login != "" || len(b.asked) > 0 {
		t.Errorf("a dry run: %+v, asked %v", r.Moved, b.asked)
	}
	r := b.install(importing)
	if len(r.Moved) != 1 || r.Moved[0].Login != "needed" || r.Moved[0].Client != "app-1" || len(r.Left) > 0 {
		t.Errorf("%+v", r)
	}
	if want := []string{"hub " + remote.Resource()}; !slices.Equal(b.asked, want) {
		t.Errorf("asked for the logins %v, expected %v", b.asked, want)
	}
	if tools := b.text(filepath.Join(b.o.Data, "tools.yaml")); !strings.Contains(tools, remote.Resource()) || strings.Contains(tools, "4711") {
		t.Errorf("the file of tools is\n%s", tools)
	}
	if shown := strings.Join(r.Diff, "\n"); strings.Contains(shown, "4711") {
		t.Errorf("the secret is shown:\n%s", shown)
	}
	if counts := remote.Counts(); counts.Clients > 0 {
		t.Errorf("it has logged in: %+v", counts)
	}
	b.uninstall(restoring)
	if back := b.text(b.o.File); !strings.Contains(back, "xyz-secret-4711") {
		t.Errorf("with --restore:\n%s", back)
	}
}

// TestImportCut: whatever was written when it was cut off, the next run ends as one that was not.
func TestImportCut(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, row := range []struct {
		name string
		lost []string // what had not been written yet, in the data directory
	}{
		{"before the host's file", nil},
		{"before the record", []string{"hosts"}},
		{"before the file of tools", []string{"hosts", "tools.yaml"}},
		{"before everything", []string{"hosts", "tools.yaml", "secrets"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "cursor")
			b.write(servers(t), 0o600)
			b.install(importing)
			want := b.text(b.o.File)
			b.write(servers(t), 0o600)
			for _, name := range row.lost {
				if err := os.RemoveAll(filepath.Join(b.o.Data, name)); err != nil {
					t.Fatal(err)
				}
			}
			moved(t, b, b.install(importing))
			if got := b.text(b.o.File); got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			if back := b.uninstall(restoring); len(back.Moved) != 1 || len(back.Left) > 0 {
				t.Errorf("%+v", back)
			}
		})
	}
}

// TestImportShared: two hosts have the same server. It stands behind Earshot once, until both have it back.
func TestImportShared(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	cursor := newBench(t, "cursor")
	cursor.write(servers(t), 0o600)
	cursor.install(importing)
	gemini := &bench{t: t, home: cursor.home, o: cursor.o}
	gemini.o.Host, _ = hostfile.HostOf("gemini")
	gemini.o.File = filepath.Join(cursor.home, ".gemini", "settings.json")
	gemini.write(servers(t), 0o600)
	moved(t, gemini, gemini.install(importing))
	if r := cursor.uninstall(restoring); len(r.Removed) > 0 {
		t.Errorf("removed behind Earshot are %q, which Gemini CLI has there, too", r.Removed)
	}
	present := func() bool {
		all, err := toolfile.Servers(filepath.Join(cursor.o.Data, "tools.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		_, there := all["my_post"]
		return there
	}
	if !present() {
		t.Error("it is gone, though Gemini CLI has it there")
	}
	if r := gemini.uninstall(restoring); !slices.Equal(r.Removed, []string{"my_post"}) {
		t.Errorf("removed behind Earshot are %q", r.Removed)
	}
	if present() {
		t.Error("it is still there")
	}
}

// TestImportTaken: another server of that name stands behind Earshot, so this one stays.
func TestImportTaken(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	b := newBench(t, "cursor")
	if err := os.Mkdir(b.o.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	draft, err := toolfile.AddServer(filepath.Join(b.o.Data, "tools.yaml"), "my_post", toolfile.MCPServer{URL: "https://a.example/mcp"})
	if err == nil {
		err = draft.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
	b.write(servers(t), 0o600)
	r := b.install(importing)
	if len(r.Moved) > 0 || !strings.Contains(fmt.Sprint(r.Left), "there is another server of the name my_post behind Earshot") || !strings.Contains(b.text(b.o.File), "4711") {
		t.Errorf("%+v", r)
	}
}
