package agenthost_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	out := agenthost.Start(t, agenthost.NewCommand(t, "echo hello; echo oops >&2; exit 3")).Wait(t.Context())
	if out.Code != 3 || out.Text() != "hello\n" || string(out.Stderr) != "oops\n" || out.Duration <= 0 {
		t.Errorf("found %v", out)
	}
	if text := out.String(); !strings.Contains(text, "shell ended with 3") {
		t.Errorf("found %q", text)
	}
}

func TestTalk(t *testing.T) {
	t.Parallel()
	process, to, from := agenthost.Talk(t, agenthost.NewCommand(t, "read line; echo \"heard $line\""))
	if _, err := fmt.Fprintln(to, "hello"); err != nil {
		t.Fatal(err)
	}
	if heard, err := io.ReadAll(from); string(heard) != "heard hello\n" {
		t.Errorf("found %q (%v)", heard, err)
	}
	if out := process.Wait(t.Context()); out.Code != 0 {
		t.Error(out)
	}
}

// TestKill: the host and its group end, and what waits for it is told.
func TestKill(t *testing.T) {
	t.Parallel()
	process, _, from := agenthost.Talk(t, agenthost.NewCommand(t, "sleep 1000 & echo begun; wait"))
	ctx := process.Context(t.Context())
	if _, err := io.ReadFull(from, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	process.Kill()
	if out := process.Wait(t.Context()); out.Code != -1 {
		t.Error(out)
	}
	if rest, err := io.ReadAll(from); len(rest) > 0 || err != nil { // the pipe is closed: the child has ended, too
		t.Errorf("found %q (%v)", rest, err)
	}
	<-ctx.Done()
}

// recorder is a test whose failures are kept.
type recorder struct {
	testing.TB
	cleanups []func()
	failed   []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(text string, a ...any) {
	r.failed = append(r.failed, fmt.Sprintf(text, a...))
}

// TestOutside: the loopback is reached directly, anything else fails the test of the host that has tried.
func TestOutside(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asks string
		want string
	}{
		"nothing": {"", ""},
		"HTTP":    {"http://example.com/", "shell tried to reach example.com,"},
		"HTTPS":   {"https://example.com/", "shell tried to reach example.com:443,"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := &recorder{TB: t}
			env := map[string]string{}
			for _, variable := range agenthost.BlockOutside(test, agenthost.Shell) {
				name, value, _ := strings.Cut(variable, "=")
				env[name] = value
			}
			if !strings.Contains(env["NO_PROXY"], "127.0.0.1") || env["https_proxy"] != env["HTTPS_PROXY"] {
				t.Errorf("found %v", env)
			}
			proxy, err := url.Parse(env["HTTPS_PROXY"])
			if err != nil {
				t.Fatal(err)
			}
			if tt.asks != "" {
				transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
				response, err := (&http.Client{Transport: transport}).Get(tt.asks)
				if err == nil {
					_ = response.Body.Close()
					if response.StatusCode != http.StatusForbidden {
						t.Errorf("found status %d, expected it to be refused", response.StatusCode)
					}
				}
				transport.CloseIdleConnections()
			}
			for _, f := range test.cleanups {
				f()
			}
			if got := strings.Join(test.failed, "\n"); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("found %q, expected %q", got, tt.want)
			}
		})
	}
}

// TestFilesOfRun: output is kept apart from the folder in which the host works.
func TestFilesOfRun(t *testing.T) {
	t.Parallel()
	command := agenthost.NewCommand(t, "pwd; echo $HOME")
	out := agenthost.Start(t, command).Wait(t.Context())
	if want := command.Dir + "\n" + filepath.Join(command.Root(), "home") + "\n"; string(out.Stdout) != want {
		t.Errorf("found %q, expected %q", out.Stdout, want)
	}
}
