package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestConformProducer: our own server passes the judge of producers at the level that it offers, over each transport,
// with a real session of the example agent that asks and is refused.
func TestConformProducer(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, scheme := range []string{"http", "ws", "grpc", "unix"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.up()
			dir := t.TempDir()
			junit, page := filepath.Join(dir, "report.xml"), filepath.Join(dir, "report.html")
			address := scheme + strings.TrimPrefix(s.place().URL, "http")
			if scheme == "unix" {
				address = "unix:" + filepath.Join(s.data, "aaep.sock")
			}
			judge := plain(t, "conform", "producer", address, "--token-file", s.approver(), "--sessions", "1", "--for", "2m", "--fresh", "--junit", junit, "--html", page)
			judge.await("It listens.")
			s.run("--json").ends(3)
			judge.ends(0)
			text := judge.out.String()
			for _, want := range []string{
				"  SEQ-01 kept: ", "  SEQ-30 kept: ", "  CONF-83 kept: ", "  BP-06 kept: ", "  MS-06 kept: ", "  HS-44 kept: ", "  HS-61 kept: ", "  CAP-14 kept: ", ", broken 0, ",
				"  CONF-51 kept: ", "  CONF-53 kept: ", "  CONF-61 kept: ", "  SEC-04 kept: ", "  TR-12 kept: ", "  HS-67 kept: ", "  I18N-18 kept: ",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("the report lacks %q:\n%s", want, text)
				}
			}
			for name, begins := range map[string]string{junit: "<?xml ", page: "<!DOCTYPE html>"} {
				if raw, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(raw), begins) {
					t.Errorf("%s: %.20q, %v", name, raw, err)
				}
			}
			s.untouched("after a no")
		})
	}
}

// TestConformProducerMisuse: what is wrong with the command line, or nobody who answers, is not a verdict.
func TestConformProducerMisuse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		err  string
	}{
		{nil, "error: expected one argument, the address of a producer"},
		{[]string{"nowhere"}, `error: "nowhere" is not the address of a producer`},
		{[]string{"http://127.0.0.1:1"}, "error: 127.0.0.1:1 cannot be reached"},
		{[]string{"ws://127.0.0.1:1"}, "error: 127.0.0.1:1 cannot be reached"},
		{[]string{"grpc://127.0.0.1:1"}, "error: 127.0.0.1:1 cannot be reached"},
		{[]string{"unix:/nowhere.sock"}, "error: /nowhere.sock cannot be reached"},
		{[]string{"unix:"}, `error: "unix:" is not the address of a producer`},
		{[]string{"http://127.0.0.1:1", "--level", "4"}, "error: the level is 4, expected 1, 2 or 3\nhint: "},
		{[]string{"http://127.0.0.1:1", "--level", "0"}, "error: the level is 0, expected 1, 2 or 3\nhint: "},
		{[]string{"http://127.0.0.1:1", "--answer", "maybe"}, `error: the answer is "maybe", expected reject, accept or none` + "\nhint: "},
		{[]string{"http://127.0.0.1:1/stream"}, "error: an address with a path is a stream without a subscription"},
		{[]string{"http://127.0.0.1:1", "--known", "nowhere"}, "error: the file of --known could not be read"},
	} {
		out, problems, code := says(t, append([]string{"conform", "producer"}, row.args...)...)
		if want := 2; out != "" || !strings.HasPrefix(problems, row.err) || code != want {
			t.Errorf("%v: exit %d\n%s%s", row.args, code, out, problems)
		}
	}
}
