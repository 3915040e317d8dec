package hosts_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// shells are the shells of the hosts, as their models call them.
var shells = map[string]struct{ tool, field string }{
	"claude": {"Bash", "command"}, "codex": {"exec_command", "cmd"}, "gemini": {"run_shell_command", "command"},
	"qwen": {"run_shell_command", "command"},
}

// blocks reports whether a host can be told to block where its hook fails.
func blocks(host agenthost.Host) bool { return host.String() == "claude" }

// addsBy has the host add a line to a file, with its own shell.
func addsBy(host agenthost.Host, effect, line string) []fakemodel.Call {
	shell := shells[host.String()]
	args := map[string]any{shell.field: "echo " + line + " >> " + effect, "description": "Add a line"}
	if host.String() == "qwen" {
		args["is_background"] = false // it demands that, and Claude Code refuses what it does not know
	}
	return []fakemodel.Call{{Tool: shell.tool, Args: args}}
}

// TestOwnTool: what a real host would do with its own shell is asked for: a yes lets it be done once, a no is what its model is told,
// and the person hears that the turn is over.
func TestOwnTool(t *testing.T) {
	eachOf(t, hooked, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := emptyGate(t)
		g.serves()
		folder := t.TempDir()
		effect := filepath.Join(folder, "effect.txt")
		model := fakemodel.Start(t, fakemodel.Script{
			{Call: addsBy(host, effect, "one")}, {Call: addsBy(host, effect, "two")}, {When: "A person said no.", Say: "I see."},
		})
		hook := program + " hook " + host.String() + " --no-start --data " + g.data
		hooks := []agenthost.Hook{{Command: hook, Block: blocks(host)}}
		for _, event := range map[string][]string{"claude": {"Stop", "SessionEnd"}, "codex": {"Stop", "SessionEnd"}, "gemini": {"AfterAgent", "SessionEnd"}, "qwen": {"Stop", "SessionEnd"}}[host.String()] {
			hooks = append(hooks, agenthost.Hook{Event: event, Command: hook})
		}
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Add two lines.", Dir: folder, BuiltinTools: true, Hooks: hooks,
		}))
		g.asks(1)
		isAbsent(t, effect, "before the yes")
		shown := strings.Join(strings.Fields(g.does("pending", "1", "--data", g.data)), " ")
		for _, want := range []string{host.String() + ", " + filepath.Base(folder), "its own tool", "echo one >> ", "neither stop nor undo"} {
			if !strings.Contains(shown, want) {
				t.Errorf("found no %q in the question: %s", want, shown)
			}
		}
		g.does("reply", "1", "accept", "--data", g.data)
		g.asks(2)
		g.does("reply", "2", "reject", "--data", g.data)
		ended(t, process.Wait(t.Context()), "I see.")
		if done, err := os.ReadFile(effect); string(done) != "one\n" {
			t.Errorf("found %q (%v), expected one line, once", done, err)
		}
		g.does("audit", "verify", "--data", g.data)
		if told := strings.Join(strings.Fields(g.does("recap", "20", "--data", g.data)), " "); !strings.Contains(told, host.String()+" reports: “It has finished its turn.”") {
			t.Errorf("the end of the turn is not announced: %s", told)
		}
	})
}

// TestInstallHooks: `earshot install --hooks` is all that a host needs to ask before it uses its shell, and uninstall leaves its file as
// it was.
func TestInstallHooks(t *testing.T) {
	eachOf(t, hooked, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := emptyGate(t)
		g.serves()
		folder := t.TempDir()
		effect := filepath.Join(folder, "effect.txt")
		model := fakemodel.Start(t, fakemodel.Script{{Call: addsBy(host, effect, "one")}, {Say: "Done."}})
		command := agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Add a line.", Dir: folder, BuiltinTools: true})
		if host.String() == "codex" { // a person grants it in the terminal
			command.Args = slices.Insert(command.Args, 2, "--dangerously-bypass-hook-trust")
		}
		at := hostAt{t, command}
		known, _ := hostfile.HookHostOf(host.String())
		file := known.File(hostfile.Environment{Home: command.Home, Getenv: func(string) string { return "" }})
		before, _ := os.ReadFile(file) // Codex has none
		at.earshot("install", host.String(), "--hooks", "--data", g.data)
		process := agenthost.Start(t, command)
		g.asks(1)
		isAbsent(t, effect, "before the yes")
		g.does("reply", "1", "accept", "--data", g.data)
		ended(t, process.Wait(t.Context()), "Done.")
		if done, err := os.ReadFile(effect); string(done) != "one\n" {
			t.Errorf("found %q (%v), expected one line, once", done, err)
		}
		at.earshot("uninstall", host.String(), "--hooks", "--data", g.data)
		after, err := os.ReadFile(file)
		same := string(after) == cmp.Or(string(before), "{}\n")
		if host.String() == "gemini" || host.String() == "qwen" { // they write their files again by themselves
			same = strings.Contains(string(after), `"hooks": {}`) && !strings.Contains(string(after), "earshot")
		}
		if err != nil || !same {
			t.Errorf("left is (%v)\n%s\nbefore\n%s", err, after, before)
		}
	})
}

// isAbsent demands that there is no such file.
func isAbsent(t *testing.T, path, when string) {
	t.Helper()
	_, err := os.Stat(path)
	if !os.IsNotExist(err) {
		t.Errorf("%s: found %s (%v)", when, path, err)
	}
}

// failure is something that goes wrong with a hook.
type failure struct {
	name, command string
	// blocks: only a host that is told to block where its hook fails is safe.
	blocks bool
	// serves: a server runs, which the failure ends once it has asked.
	serves bool
}

// failures are all of them, for a hook on the data directory of a server that runs, and one of which nothing is there.
func failures(host agenthost.Host, data, away, broken string) []failure {
	run := program + " hook " + host.String() + " --no-start --data "
	signalled := func(name string) string { // a program in the background has no input of its own
		return "exec 3<&0; " + run + data + " <&3 & sleep 2; kill -" + name + " $!; wait $!"
	}
	return []failure{
		{name: "server away", command: run + away},
		{name: "server killed", serves: true},
		{name: "data directory is a file", command: run + broken},
		{name: "nobody answers", command: run + data + " --answer-before 5s"},
		{name: "told to end", command: signalled("TERM")},
		{name: "interrupted", command: signalled("INT")},
		{name: "hung up", command: signalled("HUP")},
		{name: "crashed", command: signalled("QUIT")}, // the Go runtime ends as it does after a panic
		{name: "nothing said", command: run + data + " < /dev/null"},
		{name: "garbage said", command: "echo 'not json {' | " + run + data},
		{name: "too much said", command: "yes | head -c 9000000 | " + run + data},
		{name: "unknown event", command: `echo '{"hook_event_name":"BeforeLunch","tool_name":"Bash","tool_input":{}}' | ` + run + data},
		{name: "output closed", command: run + away + " >&-"},
		{name: "output full", command: run + away + " > /dev/full"},
		{name: "unknown flag", command: run + data + " --nonsense"},
		{name: "killed", command: signalled("KILL"), blocks: true},
		{name: "program missing", command: filepath.Join(away, "earshot") + " hook " + host.String(), blocks: true},
	}
}

// TestOwnToolFails: whatever fails in the hook, the real host does not run its command. Qwen Code is tried with all of it where
// EARSHOT_SOAK=1.
func TestOwnToolFails(t *testing.T) {
	eachOf(t, hooked, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		away := filepath.Join(t.TempDir(), "data") // no server is there
		broken := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(broken, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		g := emptyGate(t)
		g.serves()
		for _, f := range failures(host, g.data, away, broken) {
			if f.blocks && !blocks(host) {
				continue // nothing that a hook could do: docs/hosts.md says so
			}
			if host.String() == "qwen" && !slices.Contains([]string{"server away", "server killed", "nobody answers"}, f.name) && os.Getenv("EARSHOT_SOAK") == "" {
				continue // it takes six seconds of processor for each
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel() // it waits for most of its time
				failsWith(t, programs, host, f)
			})
		}
	})
}

// failsWith has a host use its shell with a hook that fails.
func failsWith(t *testing.T, programs agenthost.Programs, host agenthost.Host, f failure) {
	t.Helper()
	folder := t.TempDir()
	effect := filepath.Join(folder, "effect.txt")
	model := fakemodel.Start(t, fakemodel.Script{{Call: addsBy(host, effect, "one")}, {Say: "I see."}})
	var g *gate
	if f.serves {
		g = emptyGate(t)
		g.serves()
		f.command = program + " hook " + host.String() + " --no-start --answer-before 15s --data " + g.data
	}
	process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{
		Model: model.URL, Prompt: "Add a line.", Dir: folder, BuiltinTools: true,
		Hooks: []agenthost.Hook{{Command: f.command, Limit: time.Minute, Block: f.blocks}},
	}))
	if f.serves {
		g.asks(1)
		if err := g.up.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	out := process.Wait(t.Context())
	isAbsent(t, effect, "the command ran")
	results := model.Requests()[len(model.Requests())-1].Results()
	if len(results) == 0 {
		t.Fatal("the model was told nothing")
	}
	t.Logf("took %.1f s; the model was told: %s", out.Duration.Seconds(), results[len(results)-1].Text)
}

// TestOwnToolKilled: the question of a hook that was killed goes with it. A yes to it is not used, neither then nor for the same command
// later.
func TestOwnToolKilled(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	needs(t, "claude")
	programs := agenthost.Need(t)
	g := emptyGate(t)
	g.serves()
	folder := t.TempDir()
	effect := filepath.Join(folder, "effect.txt")
	model := fakemodel.Start(t, fakemodel.Script{
		{Call: addsBy(agenthost.Claude, effect, "one")}, {Wait: "answered", Call: addsBy(agenthost.Claude, effect, "one")}, {Say: "I see."},
	})
	hook := program + " hook claude --no-start --data " + g.data
	pid := filepath.Join(folder, "pid")
	// The first hook writes who it is, and is killed below; the next one is left alone.
	command := "if [ -e " + pid + " ]; then exec " + hook + "; fi; exec 3<&0; " + hook + " <&3 & echo $! > " + pid + "; wait $!"
	process := agenthost.Start(t, agenthost.Prepare(t, programs, agenthost.Claude, agenthost.Setup{
		Model: model.URL, Prompt: "Add a line.", Dir: folder, BuiltinTools: true, Hooks: []agenthost.Hook{{Command: command, Block: true}},
	}))
	g.asks(1)
	raw, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err == nil {
		err = syscall.Kill(number, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Request(process.Context(t.Context()), 2); err != nil { // the host has noticed
		t.Fatal(err)
	}
	said, err := g.tries(t.Context(), "reply", "1", "accept", "--data", g.data)
	if err == nil { // the question went with its hook
		t.Errorf("a late yes was taken: %s", said)
	}
	model.Open("answered")
	g.asks(2)
	isAbsent(t, effect, "the command ran by a yes that was not used")
	g.does("reply", "2", "reject", "--data", g.data)
	ended(t, process.Wait(t.Context()), "I see.")
	isAbsent(t, effect, "the command ran")
	g.does("audit", "verify", "--data", g.data)
}

// TestUnhooked: Codex runs no hook when it types into a command that still runs. Anyone who says yes to a shell says yes to what is typed
// into it; docs/hosts.md and `earshot doctor agents` say so. Where a later Codex runs one, this fails, and they can be corrected.
func TestUnhooked(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	needs(t, "codex")
	programs := agenthost.Need(t)
	folder := t.TempDir()
	effect, log := filepath.Join(folder, "effect.txt"), filepath.Join(folder, "hook.log")
	model := fakemodel.Start(t, fakemodel.Script{
		{Call: []fakemodel.Call{{Tool: "exec_command", Args: map[string]any{"cmd": "cat >> " + effect, "tty": true, "yield_time_ms": 500}}}},
		{Find: `session ID (\d+)`, Call: []fakemodel.Call{{Tool: "write_stdin", Raw: `{"session_id": $found, "chars": "typed\n\u0004", "yield_time_ms": 1000}`}}},
		{When: "typed", Say: "Done."},
	})
	ended(t, agenthost.Run(t, programs, agenthost.Codex, agenthost.Setup{
		Model: model.URL, Prompt: "Type something.", Dir: folder, BuiltinTools: true, Hooks: []agenthost.Hook{{Command: "cat >> " + log + "; echo >> " + log + "; echo '{}'"}},
	}), "Done.")
	seen, err := os.ReadFile(log)
	if err != nil || strings.Count(string(seen), `"hook_event_name":"PreToolUse"`) != 1 || strings.Contains(string(seen), "typed") {
		t.Errorf("the hook was told (%v):\n%s", err, seen)
	}
	if done, err := os.ReadFile(effect); string(done) != "typed\n" {
		t.Errorf("found %q (%v)", done, err)
	}
}
