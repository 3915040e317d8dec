package hosts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// TestInstall: `earshot install` is all that a host needs: it lists Earshot among its servers, a call of its model waits for the person,
// and is done once after the yes. Once it is uninstalled, its file has no such entry any more.
func TestInstall(t *testing.T) {
	eachOf(t, installed, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		model := fakemodel.Start(t, fakemodel.Script{{Call: adds("one")}, {Say: "Done."}})
		command := agenthost.Prepare(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Add a line.", Installed: []string{hostfile.EntryName}, BuiltinTools: true,
		})
		at := hostAt{t, command}
		at.earshot("install", host.String(), "--data", g.data)
		if told := at.earshot("install", host.String(), "--data", g.data); !strings.Contains(told, "nothing changes") {
			t.Errorf("a second time it said: %s", told)
		}
		if listed := at.host("mcp", "list"); !strings.Contains(listed, hostfile.EntryName) {
			t.Errorf("it lists: %s", listed)
		}
		process := agenthost.Start(t, command)
		g.asks(1)
		g.linesAre("")
		g.does("reply", "1", "accept", "--data", g.data)
		ended(t, process.Wait(t.Context()), "Done.")
		g.linesAre("one\n")
		at.earshot("uninstall", host.String(), "--data", g.data)
		if after := at.settings(host); strings.Contains(after, `earshot"`) || strings.Contains(after, "earshot]") {
			t.Errorf("after the removal the settings are:\n%s", after) // some hosts write their file again by themselves
		}
	})
}

// TestInstallImport: a server that a host has, as the host's own command has added it, moves behind Earshot with `--import`: what the host
// called without asking waits for the person then. With `--restore` the host has it again. Qwen Code's file has the form of Gemini CLI's.
func TestInstallImport(t *testing.T) {
	eachOf(t, slices.Concat(headless, []agenthost.Host{agenthost.OpenCode}), func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		folder := t.TempDir()
		note := filepath.Join(folder, "note.txt")
		g := emptyGate(t)
		model := fakemodel.Start(t, fakemodel.Script{
			{Call: []fakemodel.Call{{Tool: "earshot/outbox_write_file", Args: map[string]any{"path": note, "content": "hello"}}}},
			{When: "Successfully wrote", Say: "The note is written."},
		})
		command := agenthost.Prepare(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Write a note.", Dir: folder, Installed: []string{hostfile.EntryName}, BuiltinTools: true,
		})
		at := hostAt{t, command}
		add := map[string][]string{
			"claude": {"mcp", "add", "-s", "user", "outbox", "--"}, "codex": {"mcp", "add", "outbox", "--"}, "gemini": {"mcp", "add", "-s", "user", "outbox"},
			"opencode": {"mcp", "add", "outbox", "--"},
		}[host.String()]
		at.host(append(add, programs.FilesystemServer(folder)...)...)
		told := at.earshot("install", host.String(), "--import", "--data", g.data)
		if after := at.settings(host); !strings.Contains(told, "outbox moves behind Earshot") || strings.Contains(after, "outbox") {
			t.Errorf("it said\n%s\nand left\n%s", told, after)
		}
		g.serves()
		g.reviews("outbox", "read_text_file", "write_file")
		process := agenthost.Start(t, command)
		g.asks(1)
		if _, err := os.Stat(note); !os.IsNotExist(err) {
			t.Errorf("before the yes: %v", err)
		}
		g.does("reply", "1", "accept", "--data", g.data)
		ended(t, process.Wait(t.Context()), "The note is written.")
		if text, err := os.ReadFile(note); string(text) != "hello" {
			t.Errorf("found the note %q (%v), expected it to say hello", text, err)
		}
		at.earshot("uninstall", host.String(), "--restore", "--data", g.data)
		if listed := at.host("mcp", "list"); !strings.Contains(listed, "outbox") || strings.Contains(listed, "mcp serve") {
			t.Errorf("at last it lists: %s", listed)
		}
	})
}

// hostAt is a host with its home.
type hostAt struct {
	t       *testing.T
	command agenthost.Command
}

func (h hostAt) earshot(args ...string) string {
	h.t.Helper()
	return h.runs(exec.CommandContext(h.t.Context(), program, args...))
}

func (h hostAt) runs(cmd *exec.Cmd) string {
	h.t.Helper()
	cmd.Env, cmd.Dir = h.command.Env, h.command.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Errorf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// settings are those of the host in its file.
func (h hostAt) settings(host agenthost.Host) string {
	h.t.Helper()
	known, found := hostfile.HostOf(host.String())
	if !found {
		h.t.Fatalf("%s is not a host", host)
	}
	raw, err := os.ReadFile(known.File(hostfile.Environment{Home: h.command.Home, Getenv: func(string) string { return "" }}))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(raw)
}

// host runs a command of the host itself.
func (h hostAt) host(args ...string) string {
	h.t.Helper()
	own := h.command.Args[:1]
	if filepath.Base(own[0]) == "node" {
		own = h.command.Args[:2]
	}
	return h.runs(exec.CommandContext(h.t.Context(), own[0], slices.Concat(own[1:], args)...))
}
