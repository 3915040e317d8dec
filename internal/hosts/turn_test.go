package hosts_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// headless are the hosts that take a prompt and end, with which each part of a turn is tried.
var headless = []agenthost.Host{agenthost.Claude, agenthost.Codex, agenthost.Gemini}

// hooked are those that run a program before they use a tool of their own, and installed all that Earshot is put into.
var (
	hooked    = slices.Concat(headless, []agenthost.Host{agenthost.Qwen})
	installed = slices.Concat(hooked, []agenthost.Host{agenthost.OpenCode})
)

// eachHost runs a test with each of the headless hosts.
func eachHost(t *testing.T, test func(t *testing.T, programs agenthost.Programs, host agenthost.Host)) {
	t.Helper()
	eachOf(t, headless, test)
}

// eachOf runs a test with each of some hosts, beside others: a host waits for most of its time.
func eachOf(t *testing.T, hosts []agenthost.Host, test func(t *testing.T, programs agenthost.Programs, host agenthost.Host)) {
	t.Helper()
	testkit.Slow(t)
	t.Parallel()
	hosts = sampled(t, hosts, agenthost.Host.String)
	programs := agenthost.Need(t)
	for _, host := range hosts {
		t.Run(host.String(), func(t *testing.T) {
			t.Parallel()
			test(t, programs, host)
		})
	}
}

// ended checks how a host has ended its turn.
func ended(t *testing.T, out agenthost.Outcome, said string) {
	t.Helper()
	if out.Code != 0 || out.Text() != said {
		t.Errorf("expected it to say %q: %v", said, out)
	}
	t.Logf("took %.1f s", out.Duration.Seconds())
}

// TestText: a turn in which the model only talks.
func TestText(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		model := fakemodel.Start(t, fakemodel.Say("Good morning, Ada."))
		ended(t, agenthost.Run(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Greet me."}), "Good morning, Ada.")
		if !strings.Contains(lastText(model.Requests()[0]), "Greet me.") {
			t.Errorf("found %+v, expected the prompt", model.Requests()[0].News())
		}
	})
}

// lastText is what the person has said last.
func lastText(r fakemodel.Request) string {
	text := ""
	for _, message := range r.News() {
		if message.Role == fakemodel.RoleUser {
			text += message.Text
		}
	}
	return text
}

// TestMCPTool: a tool of a real MCP server is called, and its effect is there.
func TestMCPTool(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		folder := t.TempDir()
		script, err := fakemodel.ReadFile("testdata/write.yaml", map[string]string{"FOLDER": folder, "SERVER": "files"})
		if err != nil {
			t.Fatal(err)
		}
		model := fakemodel.Start(t, script)
		ended(t, agenthost.Run(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Write a note.", Dir: folder,
			MCP: []agenthost.MCPServer{{Name: "files", Command: programs.FilesystemServer(folder)}},
		}), "The note is written.")
		if note, err := os.ReadFile(filepath.Join(folder, "note.txt")); string(note) != "hello" {
			t.Errorf("found the note %q (%v), expected it to say hello", note, err)
		}
	})
}

// TestParallelCalls: the model calls two tools of two servers in one answer, and is told both results.
func TestParallelCalls(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		folder := t.TempDir()
		model := fakemodel.Start(t, fakemodel.Script{
			{
				Think: fakemodel.Thought{Text: "Two at once.", Signature: "c2lnbmF0dXJl"}, Say: "I make a folder and add.",
				Call: []fakemodel.Call{
					{Tool: "files/create_directory", Args: map[string]any{"path": filepath.Join(folder, "notes")}},
					{Tool: "everything/get-sum", Args: map[string]any{"a": 20, "b": 22}},
				},
			},
			{When: "42", Say: "Both are done."},
		})
		ended(t, agenthost.Run(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Do both.", Dir: folder, MCP: []agenthost.MCPServer{
				{Name: "files", Command: programs.FilesystemServer(folder)},
				{Name: "everything", Command: programs.EverythingServer()},
			},
		}), "Both are done.")
		if results := model.Requests()[1].Results(); len(results) != 2 {
			t.Errorf("found %+v, expected two results", results)
		}
		if info, err := os.Stat(filepath.Join(folder, "notes")); err != nil || !info.IsDir() {
			t.Errorf("found %v (%v), expected a folder", info, err)
		}
	})
}

// TestModelBusy: a model that is busy at first is asked again.
func TestModelBusy(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		model := fakemodel.Start(t, fakemodel.Script{
			{Fail: fakemodel.Failure{Status: 503, Message: "Busy.", RetryAfter: "0"}},
			{Say: "Good morning, Ada."},
		})
		ended(t, agenthost.Run(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Greet me."}), "Good morning, Ada.")
	})
}

// TestKillHost: a host that is killed while its model thinks leaves nothing behind that writes into its folders.
func TestKillHost(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		model := fakemodel.Start(t, fakemodel.Script{{Wait: "never", Say: "Too late."}})
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Think.", Relaunch: true, MCP: []agenthost.MCPServer{{Name: "everything", Command: programs.EverythingServer()}},
		}))
		if _, err := model.Request(process.Context(t.Context()), 1); err != nil {
			t.Fatal(err)
		}
		process.Kill()
		if out := process.Wait(t.Context()); out.Code != -1 {
			t.Error(out)
		}
	})
}
