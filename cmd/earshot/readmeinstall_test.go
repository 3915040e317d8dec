package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestReadmeInstall: the two commands that README shows print what it shows, and leave the host's server behind the gate, unreviewed. Beside
// the server that runs it moves back and here again at once, under the same name.
func TestReadmeInstall(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	p := newPost(t)
	home := filepath.Dir(p.data)
	p.data = filepath.Join(home, ".local", "share", "earshot")
	self, err := os.Executable()
	must(t, err)
	raw, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{
		"outbox": map[string]any{"command": self, "args": []string{"-test.run=none"}, "env": map[string]string{mcpPlace: p.place}},
	}}, "", "  ")
	must(t, err)
	file := filepath.Join(home, ".claude.json")
	must(t, os.WriteFile(file, raw, 0o600))
	runs := func(verb string, args ...string) string {
		t.Helper()
		run := start(t, options{verb: verb, args: args, nobody: true, env: []string{"HOME=" + home}})
		run.ends(0)
		if verb == "install" {
			contains(t, run.prompt.String(), "Listing the tools of outbox. This can take some seconds.")
		}
		return run.out.String()
	}
	shown := readmeInstall(t, home)
	if got := runs("install", "claude", "--import"); !shown.MatchString(got) {
		t.Errorf("README shows %s\nand one sees\n%s", shown, got)
	}

	server := p.upWith(options{env: []string{"HOME=" + home}})
	p.lists(server, "outbox.send: irreversible, high risk, not reviewed")
	contains(t, runs("uninstall", "claude", "--restore"), "Tools that are not offered any more: outbox.", "The server that runs has ended outbox.")
	if got := p.does(0, "tools", "list"); strings.Contains(got, "outbox.") {
		t.Errorf("after --restore are listed: %s", got)
	}
	if raw, err = os.ReadFile(file); err != nil || !strings.Contains(string(raw), `"outbox"`) || strings.Contains(string(raw), `"earshot"`) {
		t.Errorf("after --restore the host has %s, %v", raw, err)
	}
	contains(t, runs("install", "claude", "--import"), "The server that runs offers the tools of outbox now.")
	contains(t, p.does(0, "tools", "list"), "outbox.send: irreversible, high risk, not reviewed")
	server.signal(os.Interrupt)
	server.ends(0)
}

// readmeInstall is what README shows of `earshot install`, in that home; a line that begins with … stands for any lines.
func readmeInstall(t *testing.T, home string) *regexp.Regexp {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	must(t, err)
	shown := regexp.MustCompile("(?s)\n```\n\\$ earshot install claude --import\n(.*?)\\$ earshot up\n```\n").FindStringSubmatch(string(readme))
	if shown == nil {
		t.Fatal("README does not show the two commands")
	}
	var pattern strings.Builder
	for line := range strings.Lines(shown[1]) {
		if strings.HasPrefix(strings.TrimSpace(line), "…") {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(strings.ReplaceAll(line, "/home/anna", home)))
	}
	return regexp.MustCompile("^" + pattern.String() + "$")
}
