package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestConformSubscriber: our own recorder, a subscriber of level 1, passes the judge of subscribers over each transport.
func TestConformSubscriber(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for transport, keeps := range map[string]string{"{url}": "  TR-SSE-09 kept: ", "{ws}": "  TR-WS-06 kept: ", "{grpc}": "  TR-GRPC-02 kept: ", "{unix}": "  TR-UDS-03 kept: "} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			junit, page := filepath.Join(dir, "report.xml"), filepath.Join(dir, "report.html")
			judge := plain(t, "conform", "subscriber", "--level", "1", "--junit", junit, "--html", page, "--socket", filepath.Join(dir, "j.sock"), "--", program(t), "capture", transport)
			judge.ends(0)
			text := judge.out.String()
			for _, want := range []string{"  ENV-17 kept: ", "  ENV-43 kept: ", "  VER-03 kept: ", keeps, ", broken 0, "} {
				if !strings.Contains(text, want) {
					t.Errorf("the report lacks %q:\n%s", want, text)
				}
			}
			for name, begins := range map[string]string{junit: "<?xml ", page: "<!DOCTYPE html>"} {
				if raw, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(raw), begins) {
					t.Errorf("%s: %.20q, %v", name, raw, err)
				}
			}
		})
	}
}

// TestConformSubscriberMisuse: what is wrong with the command line, or nobody who connects, is not a verdict.
func TestConformSubscriberMisuse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		err  string
	}{
		{[]string{"--level", "4"}, "error: the level is 4, expected 1, 2 or 3\nhint: "},
		{[]string{"--level", "0"}, "error: the level is 0, expected 1, 2 or 3\nhint: "},
		{[]string{"--listen", "nowhere"}, `error: --listen "nowhere" is not an address with a port`},
		{[]string{"--socket", "/no/such/folder/j.sock"}, "error: it cannot listen at /no/such/folder/j.sock"},
		{[]string{"--for", "10ms"}, "error: no subscriber has listened at http://127.0.0.1:"},
		{[]string{"--", "no-such-subscriber"}, "error: the subscriber could not be started"},
		{[]string{"--", "sh", "-c", "exit 3"}, "error: the subscriber has ended before it listened: exit status 3\nhint: "},
	} {
		out, problems, code := says(t, append([]string{"conform", "subscriber"}, row.args...)...)
		if out != "" || !strings.Contains(problems, row.err) || code != 2 {
			t.Errorf("%v: exit %d\n%s%s", row.args, code, out, problems)
		}
	}
}
