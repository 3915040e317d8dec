package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// mcpHost is a host with its `earshot mcp serve`.
type mcpHost struct {
	*sdk.ClientSession

	t   *testing.T
	cmd *exec.Cmd
}

// mcpVersions are the versions of the protocol that hosts speak: that of sessions, and that without.
var mcpVersions = []string{"2025-06-18", "2026-07-28"}

// host starts one, as the host that this process is. It speaks the newest version.
func (s *scene) host(name string, env []string, args ...string) *mcpHost {
	s.t.Helper()
	return s.hostOf("2026-07-28", name, env, args...)
}

// hostOf starts one that speaks one version of the protocol.
func (s *scene) hostOf(version, name string, env []string, args ...string) *mcpHost {
	s.t.Helper()
	return s.hostWith(nil, version, name, env, args...)
}

// hostWith starts one that can do more.
func (s *scene) hostWith(can *sdk.ClientOptions, version, name string, env []string, args ...string) *mcpHost {
	s.t.Helper()
	h := &mcpHost{t: s.t, cmd: command(s.t, options{verb: "mcp", data: s.data, args: append([]string{"serve"}, args...), env: env})}
	h.cmd.Dir = s.folder
	said := newHeard()
	h.cmd.Stderr = said
	c := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, can)
	session, err := c.Connect(s.t.Context(), &sdk.CommandTransport{Command: h.cmd}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.t.Fatalf("%v; standard error:\n%s", err, said)
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		s.t.Fatalf("the host speaks %s, expected %s", got, version)
	}
	h.ClientSession = session
	s.t.Cleanup(func() { _ = session.Close() })
	return h
}

// callResult is what came of a call.
type callResult struct {
	*sdk.CallToolResult

	err error
}

// later asks for a call, whose result comes later.
func (h *mcpHost) later(name string, args map[string]any) <-chan callResult {
	done := make(chan callResult, 1)
	go func() {
		r, err := h.CallTool(h.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		done <- callResult{r, err}
	}()
	return done
}

func result(t *testing.T, done <-chan callResult) (text string, wrong bool) {
	t.Helper()
	r := <-done
	must(t, r.err)
	if len(r.Content) == 0 {
		t.Fatal("the result is empty")
	}
	c, is := r.Content[0].(*sdk.TextContent)
	if !is {
		t.Fatalf("the result is %T", r.Content[0])
	}
	return c.Text, r.IsError
}

// TestMCPServe: in each version of the protocol a host's call waits for the person: nothing is done before the yes, and a no is a result.
func TestMCPServe(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, version := range mcpVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			counts(t)
			s := emptyScene(t)
			tools, lines := s.box()
			s.up("--tools", tools)
			h := s.hostOf(version, "claude-code", nil)
			h.yesAndNo(s, lines)
			text, wrong := result(t, h.later("box_read", nil))
			if wrong || !strings.Contains(text, `one\n`) {
				t.Errorf("what only reads: %v %s", wrong, text)
			}
			if text, wrong := result(t, h.later("earshot_say", map[string]any{"text": "Counting the lines."})); wrong {
				t.Errorf("what it is doing: %s", text)
			}
			contains(t, s.does(0, "recap"), "claude: “Counting the lines.”")
			must(t, h.Close())
			contains(t, s.does(0, "sessions", "--all"), "claude, photos")
		})
	}
}

// yesAndNo has the first call accepted, and the second one rejected.
func (h *mcpHost) yesAndNo(s *scene, lines string) {
	t := h.t
	t.Helper()
	done := h.later("box_add", map[string]any{"line": "one"})
	s.awaitQuestion(1)
	contains(t, s.does(0, "pending", "1"), "claude, photos", "Add a line.", "one")
	if got := linesOf(t, lines); got != "" {
		t.Errorf("before the yes the lines are %q", got)
	}
	s.does(0, "reply", "1", "accept")
	if text, wrong := result(t, done); wrong {
		t.Errorf("after the yes: %s", text)
	}
	done = h.later("box_add", map[string]any{"line": "two"})
	s.awaitQuestion(2)
	s.does(0, "reply", "2", "reject")
	text, wrong := result(t, done)
	if !wrong || !strings.Contains(text, "said no") {
		t.Errorf("after the no: %v %s", wrong, text)
	}
	if got := linesOf(t, lines); got != "one\n" {
		t.Errorf("the lines are %q", got)
	}
}

// TestMCPServeWall: a call that is open when the host's patience ends is answered with what it waits for, in each version of
// the protocol. The yes starts it once the agent waits again, and the same call from the same host joins it.
func TestMCPServeWall(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, version := range mcpVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			counts(t)
			s := emptyScene(t)
			tools, lines := s.box()
			s.up("--tools", tools)
			h := s.hostOf(version, "codex-mcp-client", nil, "--answer-before", "3s")
			text, wrong := result(t, h.later("box_add", map[string]any{"line": "one"}))
			if wrong || !strings.Contains(text, "Not done yet.") || !strings.Contains(text, "earshot_wait") {
				t.Errorf("at the wall: %v %s", wrong, text)
			}
			done := h.later("box_add", map[string]any{"line": "one"})
			s.does(0, "reply", "1", "accept")
			for {
				if text, wrong = result(t, done); wrong || !strings.Contains(text, "Not done yet.") {
					break
				}
				done = h.later("box_add", map[string]any{"line": "one"})
			}
			if wrong {
				t.Errorf("after the yes: %s", text)
			}
			if got := linesOf(t, lines); got != "one\n" {
				t.Errorf("the lines are %q", got)
			}
		})
	}
}

// TestMCPServeKilled: the gateway and the server are killed while a question is open. It survives both, the same call joins it,
// and nothing is done twice.
func TestMCPServeKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	tools, lines := s.box()
	first := s.upApart("--tools", tools)
	h := s.host("gemini-cli-mcp-client", nil)
	done := h.later("box_add", map[string]any{"line": "one"})
	s.awaitQuestion(1)
	must(t, h.cmd.Process.Kill())
	if r := <-done; r.err == nil {
		t.Errorf("the killed gateway answered %+v", r)
	}
	place := strings.TrimPrefix(s.place().URL, "http://")
	first.kill()
	first.wait()
	s.up("--tools", tools, "--http", place)
	h = s.host("gemini-cli-mcp-client", nil)
	done = h.later("box_add", map[string]any{"line": "one"})
	contains(t, s.does(0, "pending"), "Question 1, gemini, photos")
	s.does(0, "reply", "1", "accept")
	if text, wrong := result(t, done); wrong {
		t.Errorf("after the yes: %s", text)
	}
	if got := linesOf(t, lines); got != "one\n" {
		t.Errorf("the lines are %q", got)
	}
}

// TestMCPServeStarts: where no server runs one is started, by one of two gateways that come at once, and outlives them.
func TestMCPServeStarts(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	tools, _ := s.box()
	env := []string{"EARSHOT_TOOLS=" + tools, "EARSHOT_HTTP=127.0.0.1:0"}
	t.Cleanup(func() {
		p := s.place()
		must(t, syscall.Kill(p.PID, syscall.SIGTERM))
		for range 200 {
			if syscall.Kill(p.PID, 0) != nil {
				return
			}
			<-time.After(50 * time.Millisecond)
		}
		t.Error("the server that was started did not end")
	})
	one, two := s.host("claude-code", env), s.host("codex-mcp-client", env)
	reads := []<-chan callResult{one.later("box_read", nil), two.later("box_read", nil)}
	for _, done := range reads {
		if text, wrong := result(t, done); wrong {
			t.Errorf("the call: %s", text)
		}
	}
	must(t, one.Close())
	must(t, two.Close())
	contains(t, s.does(0, "sessions", "--all"), "claude, photos", "codex, photos")
	entries, err := os.ReadDir(filepath.Join(s.data, "agents"))
	must(t, err)
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 || !strings.HasSuffix(e.Name(), ".token") {
			t.Errorf("%s %v is there", e.Name(), info.Mode())
		}
	}
}

// TestMCPServeAlone: without a server, and with the order to start none, the host hears what to do.
func TestMCPServeAlone(t *testing.T) {
	t.Parallel()
	s := emptyScene(t)
	h := s.host("claude-code", nil, "--no-start")
	if _, err := h.ListTools(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "earshot up") {
		t.Errorf("the host hears %v", err)
	}
}
