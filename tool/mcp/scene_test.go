package mcp_test

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

func ignoreTermination() { signal.Ignore(syscall.SIGTERM) }

// scene is a server at work, with what it has offered.
type scene struct {
	t      *testing.T
	place  string // where the server leaves its marks
	server *mcp.Server

	mu      sync.Mutex
	tools   map[string]tool.Tool
	offers  chan struct{} // one for each offer
	notices chan string
}

const secret = "abc-secret-123"

func environment(name string) (string, bool) {
	if name == "SECRET_OF_TEST" {
		return secret, true
	}
	return "", false
}

// section is a file with the program of the tests as its one server.
func section(t *testing.T, mode, placeholder, more string) string {
	t.Helper()
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "mcp:\n  scene:\n    command: [" + program + ", -test.run=none]\n    environment: {" + serverVariable + ": " + mode + ", " + placeVariable + ": " + placeholder + `, TOKEN: "{token}"}` +
		"\n    secrets: {token: {env: SECRET_OF_TEST}}\n" + more
}

func load(text string, o mcp.Options) ([]*mcp.Server, error) {
	root, err := settings.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	in, err := root.Of("mcp")
	if err != nil {
		return nil, err
	}
	o.LookupEnv = environment
	return mcp.Load(in, o)
}

func ownFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// newScene loads a server.
func newScene(t *testing.T, text string) *scene {
	t.Helper()
	s := &scene{t: t, offers: make(chan struct{}, 100), notices: make(chan string, 100)}
	all, err := load(text, mcp.Options{Private: filepath.Join(ownFolder(t), "private"), Pause: time.Millisecond, Notice: func(line string) { s.notices <- line }})
	if err != nil {
		t.Fatal(err)
	}
	s.server = all[0]
	t.Cleanup(s.server.Close)
	return s
}

// stdio runs a server of a mode until the test ends, and waits for its first offer.
func stdio(t *testing.T, mode, more string) *scene {
	t.Helper()
	placeholder := ownFolder(t)
	s := newScene(t, section(t, mode, placeholder, more))
	s.place = placeholder
	s.run()
	s.offered()
	return s
}

// eachVersion tries a server that speaks one version of the protocol, for each of those that servers speak today.
func eachVersion(t *testing.T, mode string, test func(t *testing.T, mode string)) {
	t.Helper()
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(mode+"@"+version, func(t *testing.T) {
			t.Parallel()
			test(t, mode+"@"+version)
		})
	}
}

func (s *scene) run() {
	ctx, stop := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.server.Run(ctx, func(_ context.Context, tools []tool.Tool) error {
			s.mu.Lock()
			s.tools = map[string]tool.Tool{}
			for _, one := range tools {
				s.tools[one.Definition.Tool] = one
			}
			s.mu.Unlock()
			s.offers <- struct{}{}
			return nil
		})
	}()
	s.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
}

// connectTimeout is longer than anything that works takes.
const connectTimeout = time.Minute

func (s *scene) offered() {
	s.t.Helper()
	select {
	case <-s.offers:
	case <-time.After(connectTimeout):
		s.t.Fatal("nothing was offered")
	}
}

// hears waits for a notice.
func (s *scene) hears(part string) {
	s.t.Helper()
	end := time.After(connectTimeout)
	for {
		select {
		case line := <-s.notices:
			if strings.Contains(line, secret) {
				s.t.Errorf("the secret is told: %s", line)
			}
			if strings.Contains(line, part) {
				return
			}
		case <-end:
			s.t.Fatalf("nothing said %q", part)
		}
	}
}

func (s *scene) tool(name string) tool.Tool {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	one, there := s.tools["scene."+name]
	if !there {
		s.t.Fatalf("there is no tool %s", name)
	}
	return one
}

func (s *scene) digest(name string) string {
	s.t.Helper()
	digest, err := s.tool(name).Definition.Digest()
	if err != nil {
		s.t.Fatal(err)
	}
	return digest
}

// said is a result as it is told.
type said struct {
	mcp.Result

	status utp.Status
	err    *utp.ToolError
	text   string // all of the result, as JSON
}

func (s *scene) call(name, args string, class utp.Class) said {
	s.t.Helper()
	return s.calls(s.t.Context(), s.tool(name), args, class)
}

func (s *scene) calls(ctx context.Context, one tool.Tool, args string, class utp.Class) said {
	s.t.Helper()
	r, err := one.Run(ctx, &tool.Call{ID: "tc_" + s.t.Name(), Tool: one.Definition.Tool, Class: class, Args: jsontext.Value(args)})
	out := said{status: r.Status}
	if err != nil && !errors.As(err, &out.err) {
		s.t.Fatalf("the error is not a tool's: %v", err)
	}
	out.Result, _ = r.Value.(mcp.Result)
	raw, merr := json.Marshal(r.Value)
	if merr != nil {
		s.t.Error(merr)
	}
	if out.text = string(raw); strings.Contains(out.text, secret) || out.err != nil && strings.Contains(out.err.Message, secret) {
		s.t.Errorf("the secret is in the result: %s, %v", raw, err)
	}
	return out
}

// marks are what the server has done.
func (s *scene) marks() []string {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.place, "marks"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(raw))
}

func (s *scene) count(word string) int {
	n := 0
	for _, mark := range s.marks() {
		if mark == word {
			n++
		}
	}
	return n
}

// awaits waits until the server has done it.
func (s *scene) awaits(word string) {
	s.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(connectTimeout); !slices.Contains(s.marks(), word); {
		select {
		case <-tick.C:
		case <-end:
			s.t.Fatalf("the server has not marked %q", word)
		}
	}
}

func wantError(t *testing.T, got said, code utp.Code, part string) {
	t.Helper()
	if got.err == nil || got.err.Code != code || !strings.Contains(got.err.Message, part) {
		t.Errorf("it ended with %v, want %s: …%s…", got.err, code, part)
	}
}
