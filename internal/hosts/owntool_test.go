package hosts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
	"github.com/earshot-dev/earshot/internal/testkit/fakemodel"
)

// shells are the shells of the hosts, as their models call them.
var shells = map[string]struct{ tool, field string }{
	"claude": {"Bash", "command"}, "codex": {"exec_command", "cmd"}, "gemini": {"run_shell_command", "command"},
}

// blocks reports whether a host can be told to block where its hook fails.
func blocks(host agenthost.Host) bool { return host.String() == "claude" }

// addsBy has the host add a line to a file, with its own shell.
func addsBy(host agenthost.Host, effect, line string) []fakemodel.Call {
	shell := shells[host.String()]
	return []fakemodel.Call{{Tool: shell.tool, Args: map[string]any{shell.field: "echo " + line + " >> " + effect, "description": "Add a line"}}}
}

// TestOwnTool: what a real host would do with its own shell is asked for: a yes lets it be done once, a no is what its model is told,
// and the person hears that the turn is over.
func TestOwnTool(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := emptyGate(t)
		g.serves()
		folder := t.TempDir()
		effect := filepath.Join(folder, "effect.txt")
		model := fakemodel.Start(t, fakemodel.Script{
			{Call: addsBy(host, effect, "one")}, {Call: addsBy(host, effect, "two")}, {When: "A person said no.", Say: "I see."},
		})
		hook := program + " hook " + host.String() + " --no-start --data " + g.data
		hooks := []agenthost.Hook{{Command: hook, Block: blocks(host)}}
		for _, event := range map[string][]string{"claude": {"Stop", "SessionEnd"}, "codex": {"Stop", "SessionEnd"}, "gemini": {"AfterAgent", "SessionEnd"}}[host.String()] {
			hooks = append(hooks, agenthost.Hook{Event: event, Command: hook})
		}
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Add two lines.", Dir: folder, OwnTools: true, Hooks: hooks,
		}))
		g.asks(1)
		if _, err := os.Stat(effect); !os.IsNotExist(err) {
			t.Errorf("before the yes: %v", err)
		}
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
	})
}

// TestOwnToolFails: whatever fails in the hook, the real host does not run its command.
func TestOwnToolFails(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		away := filepath.Join(t.TempDir(), "data") // no server is there
		broken := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(broken, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		g := emptyGate(t)
		g.serves()
		run := program + " hook " + host.String() + " --no-start --data "
		rows := []struct {
			name, command string
			blocks        bool // only a host that blocks on failures is safe
		}{
			{name: "server away", command: run + away},
			{name: "data directory is a file", command: run + broken},
			{name: "nobody answers", command: run + g.data + " --answer-before 5s"},
			{name: "told to end", command: run + g.data + " & sleep 2; kill -TERM $!; wait $!"},
			{name: "interrupted", command: run + g.data + " & sleep 2; kill -INT $!; wait $!"},
			{name: "nothing said", command: run + g.data + " < /dev/null"},
			{name: "garbage said", command: "echo 'not json {' | " + run + g.data},
			{name: "too much said", command: "yes | head -c 9000000 | " + run + g.data},
			{name: "unknown event", command: `echo '{"hook_event_name":"BeforeLunch","tool_name":"Bash","tool_input":{}}' | ` + run + g.data},
			{name: "output closed", command: run + away + " >&-"},
			{name: "output full", command: run + away + " > /dev/full"},
			{name: "unknown flag", command: run + g.data + " --nonsense"},
			{name: "killed", command: run + g.data + " & sleep 2; kill -KILL $!; wait $!", blocks: true},
			{name: "program missing", command: filepath.Join(away, "earshot") + " hook " + host.String(), blocks: true},
		}
		for _, row := range rows {
			if row.blocks && !blocks(host) {
				continue // nothing that a hook could do: docs/hosts.md says so
			}
			t.Run(row.name, func(t *testing.T) {
				folder := t.TempDir()
				effect := filepath.Join(folder, "effect.txt")
				model := fakemodel.Start(t, fakemodel.Script{{Call: addsBy(host, effect, "one")}, {Say: "I see."}})
				command := row.command
				if strings.Contains(command, "&") && strings.Contains(command, "wait") { // a program in the background has no input of its own
					command = "exec 3<&0; " + strings.Replace(command, " & ", " <&3 & ", 1)
				}
				out := agenthost.Run(t, programs, host, agenthost.Setup{
					Model: model.URL, Prompt: "Add a line.", Dir: folder, OwnTools: true,
					Hooks: []agenthost.Hook{{Command: command, Limit: time.Minute, Block: row.blocks}},
				})
				if _, err := os.Stat(effect); !os.IsNotExist(err) {
					t.Errorf("the command ran (%v): %v", err, out)
				}
				results := model.Requests()[len(model.Requests())-1].Results()
				if len(results) == 0 {
					t.Fatal("the model was told nothing")
				}
				t.Logf("took %.1f s; the model was told: %s", out.Took.Seconds(), results[len(results)-1].Text)
			})
		}
	})
}
