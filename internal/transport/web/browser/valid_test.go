package browser_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestValid: the HTML of every page is valid, as it is sent.
func TestValid(t *testing.T) {
	t.Parallel()
	pageChanged(t)
	needsChromium(t)
	packages, err := testkit.Packages("html", "testdata/valid/package-lock.json")
	if err != nil {
		lacks(t, err.Error())
	}
	s := asking(t, 2)
	pages := t.TempDir()
	keep := func(b *tab, path string) {
		text := value[string](b, `fetch("`+path+`").then((answer) => answer.text())`)
		name := strings.NewReplacer("/", "-", "?", "-").Replace(strings.Trim(path, "/")) + ".html"
		must(t, os.WriteFile(filepath.Join(pages, name), []byte(text), 0o600))
	}
	b := s.open()
	for _, path := range []string{"/login", "/page/offline", "/nowhere"} {
		keep(b, path)
	}
	b.login()
	keep(b, "/?nothing")
	if said, code := s.terminal("credential", "add", asker, "--role", "agent"); code != 0 {
		t.Fatal(said)
	}
	s.defineAsker()
	first := s.turn(1)
	s.turn(2)
	within(t, "two questions are open", func() (bool, error) { return len(s.questions()) == 2, nil })
	for _, path := range []string{
		"/", "/?session=" + first, "/questions", "/questions?after=1", "/questions/together", "/questions/1/arguments", "/sessions", "/alerts", "/passkeys", "/settings",
		"/sessions/" + first, "/agents", "/tools", "/audit", "/dead", "/logins", "/policy",
		"/start/" + asker,
	} {
		keep(b, path)
	}
	_, long := newLongSession(t, manyCalls)
	keep(long, "/sessions/sess_1")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // a loaded machine is not a failure
	defer cancel()
	rules, err := filepath.Abs("testdata/valid/rules.json")
	must(t, err)
	check := exec.CommandContext(ctx, "node", filepath.Join(packages, "html-validate", "bin", "html-validate.mjs"), "--config", rules, "--formatter", "text", pages)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, strings.ReplaceAll(string(out), pages+"/", ""))
	}
	broken := filepath.Join(pages, "broken.html")
	must(t, os.WriteFile(broken, []byte(`<!DOCTYPE html><html lang="en"><title>Broken</title><p><div>no</div></p></html>`), 0o600))
	if out, err := exec.CommandContext(ctx, "node", check.Args[1], "--config", rules, broken).CombinedOutput(); err == nil {
		t.Errorf("broken HTML passes:\n%s", out)
	}
}
