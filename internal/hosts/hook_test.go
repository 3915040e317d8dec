package hosts_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// TestHook: each host asks a hook before it runs a command, and runs it only when the hook lets it.
func TestHook(t *testing.T) {
	testkit.Slow(t)
	programs := agenthost.Need(t)
	type shell struct {
		host        agenthost.Host
		tool, field string
	}
	for _, agent := range sampled(t, []shell{
		{agenthost.Claude, "Bash", "command"},
		{agenthost.Codex, "exec_command", "cmd"},
		{agenthost.Gemini, "run_shell_command", "command"},
	}, func(s shell) string { return s.host.String() }) {
		for _, refuse := range []bool{false, true} {
			name := agent.host.String() + ", allowed"
			if refuse {
				name = agent.host.String() + ", refused"
			}
			t.Run(name, func(t *testing.T) {
				folder := t.TempDir()
				effect, heard := filepath.Join(folder, "effect.txt"), filepath.Join(folder, "heard.json")
				last := fakemodel.Turn{Say: "That is all."}
				hook := "cat > " + heard
				if refuse {
					last.When = "A person said no."
					hook += "; echo 'A person said no.' >&2; exit 2"
				}
				model := fakemodel.Start(t, fakemodel.Script{{Call: []fakemodel.Call{{Tool: agent.tool, Args: map[string]any{
					agent.field: "echo done > " + effect, "description": "Write a file",
				}}}}, last})
				out := agenthost.Run(t, programs, agent.host, agenthost.Setup{
					Model: model.URL, Prompt: "Write a file.", Dir: folder, BuiltinTools: true,
					Hooks: []agenthost.Hook{{Command: hook}},
				})
				if out.Code != 0 || out.Text() != "That is all." {
					t.Error(out)
				}
				if input, err := os.ReadFile(heard); !strings.Contains(string(input), fmt.Sprintf("%q", "echo done > "+effect)) {
					t.Errorf("found %q (%v) at the hook, expected the command", input, err)
				}
				_, err := os.Stat(effect)
				if ran := err == nil; ran == refuse {
					t.Errorf("refused: %v, ran: %v (%v)", refuse, ran, err)
				}
				if refuse && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
				}
				t.Logf("took %.1f s", out.Duration.Seconds())
			})
		}
	}
}
