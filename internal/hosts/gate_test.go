package hosts_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// program is the earshot that these tests run.
var program string

func TestMain(m *testing.M) { os.Exit(built(m)) }

func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "earshot-hosts-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		program = filepath.Join(dir, "earshot")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", program, "../../cmd/earshot").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// gate is an Earshot with a tool that cannot be undone: it adds a line to a file.
type gate struct {
	t           *testing.T
	data, lines string
	args        []string // of the server
	up          *exec.Cmd
	gone        chan struct{} // closed once the server has ended
	said        *bytes.Buffer
	people      *client.Client
}

func newGate(t *testing.T) *gate { return newGateWithin(t, "8s") }

// newGateWithin is one that gives a host so long after a yes to ask for the call again.
func newGateWithin(t *testing.T, startWithin string) *gate {
	t.Helper()
	g := emptyGate(t)
	dir := filepath.Dir(g.data)
	g.lines = filepath.Join(dir, "lines")
	tools, policy, script := filepath.Join(dir, "tools.yaml"), filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "add.sh")
	for path, text := range map[string]string{
		g.lines: "",
		script:  "#!/bin/sh\necho \"$1\" >> \"$2\"\n",
		policy:  "rules: [{tool: box.add, decide: ask, undo: 3s, start_within: " + startWithin + ", timeout: 15m}]\n",
		tools: fmt.Sprintf(`command:
  target: box
  operations:
    - tool: box.add
      description: Add a line.
      class: irreversible
      program: %s
      argv: ["{line}", %q]
      parameters: {type: object, properties: {line: {type: string, pattern: "^[a-z]+$"}}, required: [line]}
`, script, g.lines),
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g.serves("--tools", tools, "--policy", policy)
	return g
}

// emptyGate is one whose server does not run yet.
func emptyGate(t *testing.T) *gate {
	t.Helper()
	return &gate{t: t, data: filepath.Join(t.TempDir(), "data")}
}

// serves starts the server and waits until a person has reached it.
func (g *gate) serves(args ...string) {
	g.t.Helper()
	g.servesAt("127.0.0.1:0", args...)
}

// restarts kills the server, and starts it again at the same address.
func (g *gate) restarts() {
	g.t.Helper()
	place := strings.TrimPrefix(g.people.Server(), "http://")
	if err := g.up.Process.Kill(); err != nil {
		g.t.Fatal(err)
	}
	<-g.gone
	g.servesAt(place, g.args...)
}

func (g *gate) servesAt(place string, args ...string) {
	g.t.Helper()
	g.args = args
	g.up, g.said = exec.Command(program, append([]string{"up", "--data", g.data, "--http", place}, args...)...), &bytes.Buffer{}
	g.up.Stdout, g.up.Stderr, g.up.Env = g.said, g.said, []string{"HOME=" + g.t.TempDir(), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	if err := g.up.Start(); err != nil {
		g.t.Fatal(err)
	}
	up, said, gone := g.up, g.said, make(chan struct{})
	g.gone = gone
	go func() {
		defer close(gone)
		_ = up.Wait() // what it said tells
	}()
	g.t.Cleanup(func() {
		_ = up.Process.Signal(syscall.SIGTERM) // it may have ended
		<-gone
		if g.t.Failed() {
			g.t.Logf("the server said:\n%s", said)
		}
	})
	g.until("a server", func(ctx context.Context) (err error) {
		g.people, err = client.Dial(ctx, client.Options{ServerFile: filepath.Join(g.data, "server.json"), TokenFile: filepath.Join(g.data, "person.token")})
		return err
	})
}

// until asks until there is no error. The server has a clock of its own.
func (g *gate) until(what string, ask func(ctx context.Context) error) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			g.t.Fatalf("expected %s: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// asks waits until a question is open.
func (g *gate) asks(number int) {
	g.t.Helper()
	g.until(fmt.Sprintf("question %d", number), func(ctx context.Context) error {
		open, err := g.people.Questions(ctx)
		for _, q := range open {
			if q.Number == number {
				return nil
			}
		}
		return cmp.Or(err, errors.New("it is not open"))
	})
}

// does runs a person's command.
func (g *gate) does(args ...string) string {
	g.t.Helper()
	out, err := g.tries(g.t.Context(), args...)
	if err != nil {
		g.t.Error(err)
	}
	return out
}

// approver makes a token that answers, once, and returns its file.
func (g *gate) approver() string {
	g.t.Helper()
	file := g.data + ".approver"
	if _, err := os.Stat(file); err == nil {
		return file
	}
	token, err := exec.CommandContext(g.t.Context(), program, "token", "add", "tests", "--role", "approver", "--surface", "terminal", "--data", g.data).Output()
	if err == nil {
		err = os.WriteFile(file, token, 0o600)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return file
}

func (g *gate) tries(ctx context.Context, args ...string) (string, error) {
	if args[0] == "reply" { // the tests answer as a script does, on purpose
		args = append(args, "--token-file", g.approver())
	}
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("earshot %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func (g *gate) linesAre(want string) {
	g.t.Helper()
	if got, err := os.ReadFile(g.lines); string(got) != want {
		g.t.Errorf("found the lines %q (%v), expected %q", got, err, want)
	}
}

// gateway is `earshot mcp serve` as a host has it.
func (g *gate) gateway(args ...string) []agenthost.MCPServer {
	return []agenthost.MCPServer{{Name: "earshot", Command: append([]string{program, "mcp", "serve", "--data", g.data}, args...)}}
}

// byAddress is the gateway as a host has it that connects to the server itself, with a token of its own.
func (g *gate) byAddress(host agenthost.Host) []agenthost.MCPServer {
	g.t.Helper()
	return []agenthost.MCPServer{{
		Name: "earshot", URL: g.people.Server() + "/mcp?answer-before=20s", Headers: map[string]string{"Authorization": "Bearer " + g.token(host.String())},
	}}
}

// token makes one for an agent.
func (g *gate) token(agent string) string {
	g.t.Helper()
	return regexp.MustCompile(`\bearshot_\S+`).FindString(g.does("token", "add", agent, "--role", "agent", "--data", g.data))
}

func adds(line string) []fakemodel.Call {
	return []fakemodel.Call{{Tool: "earshot/box_add", Args: map[string]any{"line": line}}}
}

// TestGate: what a real host asks for through the gate is not done before a person's yes, and done once after it; a no is a
// result that its model is told.
func TestGate(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		model := fakemodel.Start(t, fakemodel.Script{{Call: adds("one")}, {Call: adds("two")}, {When: "said no", Say: "I see."}})
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Add two lines.", MCP: g.gateway()}))
		g.asks(1)
		g.linesAre("")
		if shown := g.does("pending", "1", "--data", g.data); !strings.Contains(shown, host.String()) || !strings.Contains(shown, "one") {
			t.Errorf("the question is: %s", shown)
		}
		g.does("reply", "1", "accept", "--data", g.data)
		g.asks(2)
		g.linesAre("one\n")
		g.does("reply", "2", "reject", "--data", g.data)
		ended(t, process.Wait(t.Context()), "I see.")
		g.linesAre("one\n")
		g.does("audit", "verify", "--data", g.data)
	})
}

// TestGateWall: a person who takes longer than the host waits. The host is answered before, its model asks again, and the yes
// that comes then has one effect. With EARSHOT_SOAK=1 also with nothing set: Codex gives up after 300 s, the gateway answers it
// after 240 s, and the person after 400 s, which takes seven minutes.
func TestGateWall(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGateWithin(t, "60s")
		g.answersLate(programs, host, 0, agenthost.Setup{MCP: g.gateway("--answer-before", "15s"), Limit: 25 * time.Second})
	})
	if os.Getenv("EARSHOT_SOAK") != "" {
		t.Run("codex, by itself", func(t *testing.T) {
			needs(t, "codex")
			t.Attr("counts", "effects")
			g := newGate(t)
			g.answersLate(agenthost.Need(t), agenthost.Codex, 400*time.Second, agenthost.Setup{MCP: g.gateway()})
		})
	}
}

// answersLate has a host ask for a line, and the person accept once its model has asked again and that time has passed.
func (g *gate) answersLate(programs agenthost.Programs, host agenthost.Host, after time.Duration, setup agenthost.Setup) {
	g.t.Helper()
	model := fakemodel.Start(g.t, fakemodel.Script{{Call: adds("one")}, {When: "Not done yet", Call: adds("one")}, {Say: "Done."}})
	setup.Model, setup.Prompt = model.URL, "Add a line."
	process := agenthost.Start(g.t, agenthost.Prepare(g.t, programs, host, setup))
	ctx := process.Context(g.t.Context())
	if _, err := model.Request(ctx, 1); err != nil {
		g.t.Fatal(err)
	}
	late := time.After(after)
	if _, err := model.Request(ctx, 2); err != nil {
		g.t.Fatal(err)
	}
	<-late
	g.linesAre("")
	g.does("reply", "1", "accept", "--data", g.data)
	ended(g.t, process.Wait(g.t.Context()), "Done.")
	g.linesAre("one\n")
}

// TestGateByAddress: the same for a host that connects by an address: nothing before the yes, also where the host's patience ends
// first, and one effect after it; and nothing for a host that was killed.
func TestGateByAddress(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGateWithin(t, "20s")
		model := fakemodel.Start(t, fakemodel.Script{
			{Call: adds("one")}, {When: "Not done yet", Call: adds("one")}, {Call: adds("two")}, {When: "said no", Call: adds("three")},
		})
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Add lines.", MCP: g.byAddress(host), Limit: 40 * time.Second, Relaunch: true,
		}))
		if _, err := model.Request(process.Context(t.Context()), 2); err != nil {
			t.Fatal(err)
		}
		g.linesAre("")
		if shown := g.does("pending", "1", "--data", g.data); !strings.Contains(shown, host.String()+", ") {
			t.Errorf("the question is: %s", shown)
		}
		g.does("reply", "1", "accept", "--data", g.data)
		g.asks(2)
		g.linesAre("one\n")
		g.does("reply", "2", "reject", "--data", g.data)
		g.asks(3)
		process.Kill()
		g.does("reply", "3", "accept", "--data", g.data)
		g.until("the reason", func(context.Context) error {
			if told := g.does("recap", "20", "--data", g.data); !strings.Contains(told, "did not wait for it any more") {
				return errors.New(told)
			}
			return nil
		})
		g.linesAre("one\n")
	})
}

// TestGateHostKilled: a yes for a host that was killed starts nothing, and the person hears why.
func TestGateHostKilled(t *testing.T) {
	eachOf(t, installed, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		model := fakemodel.Start(t, fakemodel.Script{{Call: adds("one")}})
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Add a line.", MCP: g.gateway(), Relaunch: true}))
		g.asks(1)
		process.Kill()
		g.does("reply", "1", "accept", "--data", g.data)
		g.until("the reason", func(context.Context) error {
			if told := g.does("recap", "20", "--data", g.data); !strings.Contains(told, "did not wait for it any more") {
				return errors.New(told)
			}
			return nil
		})
		g.linesAre("")
	})
}

// reviews accepts what is proposed for a service once its proposal holds these tools. They are registered one after the other, and a
// proposal that one more has joined since is refused, so it asks until one is taken.
func (g *gate) reviews(service string, tools ...string) {
	g.t.Helper()
	command := regexp.MustCompile(`earshot (tools review '` + service + `\.\*' --digest .*)`)
	g.until("a proposal for the tools", func(ctx context.Context) error {
		shown, err := g.tries(ctx, "tools", "review", service+".*", "--data", g.data)
		review := command.FindStringSubmatch(shown)
		if err != nil || review == nil {
			return cmp.Or(err, errors.New(shown))
		}
		for _, tool := range tools {
			if !strings.Contains(shown, tool) {
				return fmt.Errorf("no %s in %s", tool, shown)
			}
		}
		_, err = g.tries(ctx, append(strings.Fields(strings.ReplaceAll(review[1], "'", "")), "--data", g.data)...)
		return err
	})
}

// TestGateUpstream: a real MCP server behind the gate, and a real host before it. The file is not there before the yes, and a read
// that was reviewed as one is not asked for; after a no there is no file, and the model hears the no.
func TestGateUpstream(t *testing.T) {
	eachOf(t, installed, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		folder := t.TempDir()
		g := emptyGate(t)
		g.does(append([]string{"mcp", "add", "outbox", "--data", g.data, "--"}, programs.FilesystemServer(folder)...)...)
		g.serves()
		g.reviews("outbox", "read_text_file", "write_file")
		note, other := filepath.Join(folder, "note.txt"), filepath.Join(folder, "other.txt")
		model := fakemodel.Start(t, fakemodel.Script{
			{Call: []fakemodel.Call{{Tool: "earshot/outbox_write_file", Args: map[string]any{"path": note, "content": "hello"}}}},
			{When: "Successfully wrote", Call: []fakemodel.Call{{Tool: "earshot/outbox_read_text_file", Args: map[string]any{"path": note}}}},
			{When: "hello", Call: []fakemodel.Call{{Tool: "earshot/outbox_write_file", Args: map[string]any{"path": other, "content": "no"}}}},
			{When: "said no", Say: "One note is written."},
		})
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Write a note.", MCP: g.gateway()}))
		g.asks(1)
		if _, err := os.Stat(note); !os.IsNotExist(err) {
			t.Errorf("before the yes: %v", err)
		}
		g.does("reply", "1", "accept", "--data", g.data)
		g.asks(2)
		g.does("reply", "2", "reject", "--data", g.data)
		ended(t, process.Wait(t.Context()), "One note is written.")
		if _, err := os.Stat(other); !os.IsNotExist(err) {
			t.Errorf("after the no: %v", err)
		}
		if text, err := os.ReadFile(note); string(text) != "hello" {
			t.Errorf("found the note %q (%v), expected it to say hello", text, err)
		}
	})
}
