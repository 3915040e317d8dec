package hosts_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// acpAgent is an agent that speaks ACP, with its own shell.
type acpAgent struct {
	host  agenthost.Host
	name  string                              // at Earshot
	shell func(command string) fakemodel.Call // a call of its shell
	stops bool                                // whether a no ends its turn
	tells bool                                // whether it says that its command begins
}

func acpAgents() []acpAgent {
	return []acpAgent{
		{agenthost.ClaudeACP, "claude", func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "Bash", Args: map[string]any{"command": command, "description": "Write a file"}}
		}, false, false},
		{agenthost.CodexACP, "codex", func(command string) fakemodel.Call { // its sandbox lets it only read
			return fakemodel.Call{Tool: "exec_command", Args: map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "Write a file"}}
		}, true, true},
		{agenthost.GeminiACP, "gemini", func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "run_shell_command", Args: map[string]any{"command": command, "description": "Write a file"}}
		}, false, false},
		{agenthost.QwenACP, "qwen", func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "run_shell_command", Args: map[string]any{"command": command, "description": "Write a file", "is_background": false}}
		}, true, false},
		{agenthost.OpenCodeACP, "opencode", func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "bash", Args: map[string]any{"command": command, "description": "Write a file"}}
		}, true, false},
	}
}

// eachACP runs a test with each agent that speaks ACP.
func eachACP(t *testing.T, test func(t *testing.T, programs agenthost.Programs, agent acpAgent)) {
	t.Helper()
	eachACPOf(t, acpAgents(), test)
}

// eachACPOf runs a test with each of some agents, beside others.
func eachACPOf(t *testing.T, agents []acpAgent, test func(t *testing.T, programs agenthost.Programs, agent acpAgent)) {
	t.Helper()
	testkit.Slow(t)
	t.Parallel()
	agents = sampled(t, agents, func(a acpAgent) string { return a.name })
	programs := agenthost.Need(t)
	for _, agent := range agents {
		t.Run(agent.name, func(t *testing.T) {
			t.Parallel()
			test(t, programs, agent)
		})
	}
}

// acpSession is `earshot acp` with a real agent, as a person has it who types through a pipe.
type acpSession struct {
	t       *testing.T
	gate    *gate
	folder  string
	effect  string // the file that the agent's command writes
	process *agenthost.Process
	to      io.WriteCloser
	heard   chan string // what came next; closed at the end
	all     strings.Builder
}

// acpSetup is what differs between sessions.
type acpSetup struct {
	command  string           // for the agent's shell, with EFFECT for the file
	then     []fakemodel.Turn // of the model, after it has called the shell
	args     []string         // of `earshot acp`
	noModes  bool             // Codex has settings that are none of its modes
	untimely bool             // the model is asked for nothing
}

// startACP starts it.
func startACP(t *testing.T, programs agenthost.Programs, agent acpAgent, setup acpSetup) *acpSession {
	t.Helper()
	g := emptyGate(t)
	g.serves()
	s := &acpSession{t: t, gate: g, folder: filepath.Join(t.TempDir(), "photos"), heard: make(chan string, 100)}
	if err := os.Mkdir(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s.effect = filepath.Join(s.folder, "effect.txt")
	script := fakemodel.Script{
		agenthost.Title, agenthost.Suggestion, agenthost.OpenCodeTitle,
		{Aside: "Tool use aborted", Say: "I stop."}, // Claude may go on for a moment after it was told to stop
	}
	if !setup.untimely {
		call := agent.shell(strings.ReplaceAll(cmp.Or(setup.command, "echo done > EFFECT"), "EFFECT", s.effect))
		script = append(append(script, fakemodel.Turn{Call: []fakemodel.Call{call}}), setup.then...)
	}
	model := fakemodel.Start(t, script)
	command := agenthost.Prepare(t, programs, agent.host, agenthost.Setup{Model: model.URL, Dir: s.folder})
	if agent.name == "codex" && !setup.noModes {
		s.rewrites(filepath.Join(command.Home, ".codex", "config.toml"), `"untrusted"`, `"on-request"`, `"danger-full-access"`, `"read-only"`)
	}
	command.Args = slices.Concat([]string{program, "acp", "--no-start", "--data", g.data, "--token-file", g.approver()}, setup.args, []string{"--"}, command.Args)
	var from io.ReadCloser
	s.process, s.to, from = agenthost.Talk(t, command)
	go func() {
		defer close(s.heard)
		for buffer := make([]byte, 4096); ; {
			n, err := from.Read(buffer)
			s.heard <- string(buffer[:n])
			if err != nil { // the end, however it comes
				return
			}
		}
	}()
	return s
}

// rewrites replaces texts in a file of settings.
func (s *acpSession) rewrites(path string, texts ...string) {
	s.t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.NewReplacer(texts...).Replace(string(raw))), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// shows waits until the terminal has shown a text.
func (s *acpSession) shows(text string) {
	s.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for !strings.Contains(s.all.String(), text) {
		select {
		case more, is := <-s.heard:
			s.all.WriteString(more)
			if !is {
				s.t.Fatalf("found no %q in\n%s", text, s.all.String())
			}
		case <-timer.C:
			s.t.Fatalf("found no %q in\n%s", text, s.all.String())
		}
	}
}

// asked waits until the terminal has shown the question.
func (s *acpSession) asked() { s.shows("then press Enter.") }

// types writes lines, as a person types them ahead.
func (s *acpSession) types(lines ...string) {
	s.t.Helper()
	if _, err := io.WriteString(s.to, strings.Join(lines, "\n")+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end, and compares what the person has heard with a golden file.
func (s *acpSession) ends(golden string, code int) {
	s.t.Helper()
	outcome := s.process.Wait(s.t.Context())
	for more := range s.heard {
		s.all.WriteString(more)
	}
	heard := s.all.String()
	if outcome.Code != code {
		s.t.Errorf("found the exit code %d, expected %d\n%s\n%s", outcome.Code, code, heard, outcome.Stderr)
	}
	s.golden(golden, heard+"--- standard error\n"+string(outcome.Stderr))
	s.gate.does("audit", "verify", "--data", s.gate.data)
}

// effectIs demands that the agent's command has run, or that it has not.
func (s *acpSession) effectIs(done bool) {
	s.t.Helper()
	_, err := os.Stat(s.effect)
	if done && err != nil || !done && !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("the command has run: %v, expected %v", err, done)
	}
}

// golden compares with a file in testdata, without what differs between runs.
func (s *acpSession) golden(name, heard string) {
	s.t.Helper()
	heard = strings.ReplaceAll(strings.ReplaceAll(heard, "\n  ", " "), s.folder, "/home/me/photos") // where lines end depends on the folder
	for pattern, with := range map[string]string{
		`Answer by \d\d:\d\d`: "Answer by 15:04", `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`: "00000000-0000-0000-0000-000000000000", `\b1\d{12}\b`: "1700000000000", `127\.0\.0\.1:\d+`: "127.0.0.1:8080", `PGID: \d+`: "PGID: 1234",
		`(?m)^Starting .*$`: "Starting the agent.",
	} {
		heard = regexp.MustCompile(pattern).ReplaceAllString(heard, with)
	}
	path := filepath.Join("testdata", "acp", name+".txt")
	if *updateGolden {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(heard), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || heard != string(want) {
		s.t.Errorf("found (%v)\n%s\nexpected\n%s", err, heard, want)
	}
}

// TestACPYes: what the agent asks is a question with what it shows, and a yes lets it be done once.
func TestACPYes(t *testing.T) {
	eachACP(t, func(t *testing.T, programs agenthost.Programs, agent acpAgent) {
		s := startACP(t, programs, agent, acpSetup{then: []fakemodel.Turn{{Say: "That is all."}}})
		s.types("Write a file.")
		s.asked()
		s.effectIs(false)
		s.types("accept")
		_ = s.to.Close()
		s.ends(agent.name+"-yes", 0)
		s.effectIs(true)
	})
}

// TestACPNo: a no is what the agent is told, and its command does not run.
func TestACPNo(t *testing.T) {
	eachACP(t, func(t *testing.T, programs agenthost.Programs, agent acpAgent) {
		var then []fakemodel.Turn
		if !agent.stops {
			then = []fakemodel.Turn{{Say: "I see."}}
		}
		s := startACP(t, programs, agent, acpSetup{then: then, args: []string{"--request", "Write a file."}})
		s.types("why", "list", "reject")
		s.ends(agent.name+"-no", 3)
		s.effectIs(false)
	})
}

// TestACPStop: a stop while the agent asks ends its turn and its session, and nothing was done.
func TestACPStop(t *testing.T) {
	eachACP(t, func(t *testing.T, programs agenthost.Programs, agent acpAgent) {
		s := startACP(t, programs, agent, acpSetup{})
		s.types("Write a file.")
		s.asked()
		s.types("stop")
		s.ends(agent.name+"-stop", 3)
		s.effectIs(false)
	})
}

// TestACPStopElsewhere: a person stops the session on another surface while the agent's command runs. The agent ends with what it has
// started, and the terminal says what had begun.
func TestACPStopElsewhere(t *testing.T) {
	eachACP(t, func(t *testing.T, programs agenthost.Programs, agent acpAgent) {
		s := startACP(t, programs, agent, acpSetup{command: "echo $$ > EFFECT && sleep 600"})
		s.types("Write a file.")
		s.asked()
		s.gate.does("reply", "1", "accept", "--data", s.gate.data)
		s.gate.until("the effect", func(context.Context) error {
			raw, err := os.ReadFile(s.effect)
			if err == nil && len(raw) == 0 {
				err = errors.New("it is empty")
			}
			return err
		})
		if agent.tells { // what it has said is announced, or not, before the stop is
			s.shows("It begins: ")
		}
		s.gate.does("stop", "--data", s.gate.data)
		s.ends(agent.name+"-stop-elsewhere", 3)
	})
}

// TestACPInterrupt: Ctrl-C is a stop.
func TestACPInterrupt(t *testing.T) {
	const enough = 3 // what follows is as in TestACPStop
	eachACPOf(t, acpAgents()[:enough], func(t *testing.T, programs agenthost.Programs, agent acpAgent) {
		s := startACP(t, programs, agent, acpSetup{args: []string{"--request", "Write a file."}})
		s.asked()
		if err := syscall.Kill(s.process.PID(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		s.ends(agent.name+"-interrupt", 130)
		s.effectIs(false)
	})
}

// TestACPRefused: an agent that names no mode is refused before its first request.
func TestACPRefused(t *testing.T) {
	testkit.Slow(t)
	needs(t, "codex")
	codex := acpAgents()[1]
	s := startACP(t, agenthost.Need(t), codex, acpSetup{noModes: true, untimely: true})
	s.types("Write a file.")
	s.ends("codex-refused", 1)
	s.effectIs(false)
}

// TestACPAllowedMode: an agent works without asking where the person has named its mode, and that is said first.
func TestACPAllowedMode(t *testing.T) {
	testkit.Slow(t)
	needs(t, "claude")
	claude := acpAgents()[0]
	s := startACP(t, agenthost.Need(t), claude, acpSetup{
		then: []fakemodel.Turn{{Say: "That is all."}}, args: []string{"--allow-mode", "auto", "--request", "Write a file."},
	})
	s.ends("claude-auto", 0)
	s.effectIs(true)
}
