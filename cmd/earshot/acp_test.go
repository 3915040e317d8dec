package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// acpKind makes the program of the tests an agent that speaks ACP, of a kind.
const acpKind = "EARSHOT_TEST_ACP"

// acpAgent asks before it writes a file in its folder. The kind "dies" ends in mid-turn, and "stubborn" goes on whatever it is told,
// as does a program that it has started.
type acpAgent struct {
	acp.Agent // nil: what is not below is not asked for

	kind    string
	conn    *acp.AgentSideConnection
	gateway *acp.McpServerStdio // Earshot's tools
}

func beACPAgent(kind string) int {
	a := &acpAgent{kind: kind}
	a.conn = acp.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	<-a.conn.Done()
	if kind == "stubborn" {
		select {}
	}
	return 0
}

func (a *acpAgent) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	if a.kind == "answers" { // at once, before anybody has heard of it
		said, _ := exec.Command(os.Getenv("EARSHOT_TEST_PROGRAM"), "reply", "1", "accept", "--data", os.Getenv("EARSHOT_TEST_DATA")).CombinedOutput()
		if err := os.WriteFile("said", said, 0o600); err != nil {
			return acp.InitializeResponse{}, err
		}
	}
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber, AgentInfo: &acp.Implementation{Name: "gemini-cli"}}, nil
}

func (a *acpAgent) NewSession(_ context.Context, r acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	if len(r.McpServers) > 0 {
		a.gateway = r.McpServers[0].Stdio
	}
	return acp.NewSessionResponse{SessionId: "s1", Modes: &acp.SessionModeState{
		CurrentModeId: "yolo", AvailableModes: []acp.SessionMode{{Id: "yolo", Name: "YOLO"}, {Id: "default", Name: "Default"}},
	}}, nil
}

func (*acpAgent) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, nil
}

func (*acpAgent) Cancel(context.Context, acp.CancelNotification) error { return nil }

func (a *acpAgent) Prompt(ctx context.Context, _ acp.PromptRequest) (acp.PromptResponse, error) {
	switch a.kind {
	case "dies":
		fmt.Fprintln(os.Stderr, "no credit")
		os.Exit(3)
	case "stubborn":
		sleeper := exec.Command("sh", "-c", `trap "" TERM; echo $$ $PPID > started; while :; do sleep 1; done`)
		if err := sleeper.Run(); err != nil {
			return acp.PromptResponse{}, err
		}
	case "calls":
		return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, a.calls(ctx)
	}
	r, err := a.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: "s1", ToolCall: acp.ToolCallUpdate{ToolCallId: "t1", Title: new("Write done")},
		Options: []acp.PermissionOption{{OptionId: "always", Kind: acp.PermissionOptionKindAllowAlways}, {OptionId: "yes", Kind: acp.PermissionOptionKindAllowOnce}},
	})
	outcome := "none"
	if err == nil && r.Outcome.Selected != nil {
		outcome = string(r.Outcome.Selected.OptionId)
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, os.WriteFile("done", []byte(outcome), 0o600)
}

// calls calls a tool of Earshot's, and writes down what came of it.
func (a *acpAgent) calls(ctx context.Context) error {
	if a.gateway == nil {
		return os.WriteFile("done", []byte("no tools"), 0o600)
	}
	server := exec.Command(a.gateway.Command, a.gateway.Args...)
	s, err := sdk.NewClient(&sdk.Implementation{Name: "gemini-cli", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: server}, nil)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	r, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "box_add", Arguments: map[string]any{"line": "one"}})
	if err != nil {
		return err
	}
	return os.WriteFile("done", fmt.Appendf(nil, "error %v", r.IsError), 0o600)
}

// acp starts `earshot acp` with such an agent.
func (s *scene) acp(kind string, args ...string) *process {
	s.t.Helper()
	self, err := os.Executable()
	must(s.t, err)
	p := start(s.t, options{verb: "acp", process: true, env: []string{acpKind + "=" + kind}, args: append(s.answering(append([]string{"--no-start", "--data", s.data}, args...)), "--", self)})
	return p
}

// outcome is what the agent was told.
func (p *process) outcome() string {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.cmd.Dir, "done"))
	must(p.t, err)
	return string(raw)
}

// TestACP: requests and answers are lines, the mode is said first, and the end of the input ends it all.
func TestACP(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for word, row := range map[string]struct {
		code int
		told string
	}{"accept": {0, "yes"}, "reject": {3, "none"}} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			counts(t)
			s := emptyScene(t)
			s.up()
			p := s.acp("asks")
			p.say("Write it.")
			s.awaitQuestion(1)
			p.say(word)
			p.closeInput()
			p.ends(row.code)
			if got := p.outcome(); got != row.told {
				t.Errorf("the agent was told %s, expected %s", got, row.told)
			}
			told := squeeze(p.out.String())
			mode, request := strings.Index(told, "Its mode is default: it asks before it uses tools."), strings.Index(told, "It is given the request: Write it.")
			if mode < 0 || request < mode || !strings.Contains(told, "The agent does not show the details.") {
				t.Errorf("found %s", told)
			}
		})
	}
}

// TestACPTools: an agent has Earshot's tools without further set-up. Their calls go through the gate, in the session of the terminal.
func TestACPTools(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for name, row := range map[string]struct {
		flags          []string
		word           string
		outcome, lines string
	}{
		"accept":   {nil, "accept", "error false", "one\n"},
		"reject":   {nil, "reject", "error true", ""},
		"no tools": {[]string{"--no-tools", "--request", "Add a line."}, "", "no tools", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts(t)
			s := emptyScene(t)
			tools, lines := s.box()
			s.up("--tools", tools)
			p := s.acp("calls", row.flags...)
			if row.word != "" {
				p.say("Add a line.")
				s.awaitQuestion(1)
				if got := linesOf(t, lines); got != "" {
					t.Errorf("before an answer the lines are %q", got)
				}
				p.say(row.word)
			}
			p.closeInput()
			p.wait()
			if got := p.outcome(); got != row.outcome {
				t.Errorf("the agent was told %s, expected %s; the person was told %s", got, row.outcome, p.out.String())
			}
			if got := linesOf(t, lines); got != row.lines {
				t.Errorf("the lines are %q, expected %q", got, row.lines)
			}
		})
	}
}

// TestACPEvents: with --json, standard output is the events.
func TestACPEvents(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	s.up()
	p := s.acp("asks", "--json", "--request", "Write it.")
	s.awaitQuestion(1)
	s.does(0, "reply", "1", "accept")
	p.ends(0)
	for _, line := range jsonLines(p.out.String()) {
		if !jsontext.Value(line).IsValid() {
			t.Errorf("found %s", line)
		}
	}
	if got := p.outcome(); got != "yes" {
		t.Errorf("the agent was told %s", got)
	}
}

// TestACPPiped: a request is the agent's although the input has ended before the agent was ready.
func TestACPPiped(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	s.up()
	p := s.acp("asks")
	p.say("Write it.")
	p.closeInput()
	s.awaitQuestion(1)
	s.does(0, "reply", "1", "accept")
	p.ends(0)
	if got := p.outcome(); got != "yes" {
		t.Errorf("the agent was told %s", got)
	}
}

// TestACPAgentDies: the session ends, and the agent's last words are shown.
func TestACPAgentDies(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	s.up()
	p := s.acp("dies", "--request", "Write it.")
	p.ends(1)
	contains(t, squeeze(p.prompt.String()), "error: the agent has ended: exit status 3; it wrote last: no credit hint:")
	contains(t, squeeze(p.out.String()), "It has ended unexpectedly.")
	contains(t, s.does(0, "sessions", "--all"), "The agent has ended unexpectedly.")
}

// TestACPStubborn: an agent that goes on whatever it is told ends with the second Ctrl-C, and so does what it has started.
func TestACPStubborn(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	s.up()
	p := s.acp("stubborn", "--request", "Write it.")
	left := p.started()
	p.signal(os.Interrupt)
	p.hears("Stopped.")
	p.insists(os.Interrupt)
	p.ends(130)
	for _, pid := range left {
		p.isGone(pid)
	}
}

// TestACPKilled: where the command itself is killed, the agent ends with it.
func TestACPKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	s.up()
	p := s.acp("stubborn", "--request", "Write it.")
	left := p.started()
	t.Cleanup(func() { _ = syscall.Kill(left[0], syscall.SIGKILL) }) // what an agent has started is not reached then
	p.kill()
	p.wait()
	p.isGone(left[1])
}

// started waits for the program that the agent has started, and returns its id and the agent's.
func (p *process) started() []int {
	p.t.Helper()
	for range 600 {
		raw, _ := os.ReadFile(filepath.Join(p.cmd.Dir, "started"))
		if words := strings.Fields(string(raw)); len(words) == 2 {
			var list []int
			for _, word := range words {
				pid, err := strconv.Atoi(word)
				must(p.t, err)
				list = append(list, pid)
			}
			return list
		}
		<-time.After(50 * time.Millisecond) // it is another process
	}
	p.t.Fatal("the agent did not start")
	return nil
}

// isGone waits until a process has ended. One that has may wait for its parent to notice.
func (p *process) isGone(pid int) {
	p.t.Helper()
	for range 600 {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(raw), ") ")
		if err != nil || strings.HasPrefix(rest, "Z") {
			return
		}
		<-time.After(50 * time.Millisecond) // it is another process
	}
	p.t.Errorf("process %d is left", pid)
}

// TestACPLogsIn: where a person types, acp asks for the code that is shown where the server runs, before the agent starts, and then
// the person's yes counts there. A server without a terminal needs no code.
func TestACPLogsIn(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	needsProcesses(t)
	self, err := os.Executable()
	must(t, err)
	for name, shown := range map[string]bool{"a code is shown": true, "no code is shown": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts(t)
			s := emptyScene(t)
			var up *process
			if shown {
				up = sit(t, 200, options{verb: "up", data: s.data, args: []string{"--http", "127.0.0.1:0"}})
				up.hears("Control C ends it")
			} else {
				s.up()
			}
			p := sit(t, 200, options{verb: "acp", env: []string{acpKind + "=asks"}, args: []string{"--no-start", "--data", s.data, "--", self}})
			if shown {
				p.hears("Type the code, then press Enter.")
				up.hears("within 5 minutes: ")
				p.line(up.shownCode())
			}
			p.hears("Type a request, then press Enter.")
			p.line("Write it.")
			p.hears("Type accept, reject, ") // what is typed before that is discarded
			p.line("accept")
			p.hears("It has finished its turn.")
			if got := p.outcome(); got != "yes" {
				t.Errorf("the agent was told %s, expected yes", got)
			}
			p.line("stop")
			<-p.ended
		})
	}
}

// TestACPAgentAnswersNothing: an agent that answers another session's question in its first moments is refused, although it was
// started in a terminal that accepts.
func TestACPAgentAnswersNothing(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	needsProcesses(t)
	self, err := os.Executable()
	must(t, err)
	s := newScene(t)
	s.up()
	run := s.run("--json")
	run.await(asked)
	p := sit(t, 200, options{
		verb: "acp", env: []string{acpKind + "=answers", "EARSHOT_TEST_PROGRAM=" + program(t), "EARSHOT_TEST_DATA=" + s.data},
		args: []string{"--no-start", "--data", s.data, "--", self},
	})
	p.hears("Type a request, then press Enter.")
	said, err := os.ReadFile(filepath.Join(p.cmd.Dir, "said"))
	must(t, err)
	contains(t, string(said), "error: nothing is accepted or answered from here")
	p.line("stop")
	<-p.ended
	s.untouched("after the agent's answer")
}
