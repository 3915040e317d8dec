package hosts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
	"github.com/earshot-dev/earshot/internal/testkit/fakemodel"
)

// TestInstall: `earshot install` is all that a host needs: it lists Earshot among its servers, a call of its model waits for the person,
// and is done once after the yes. Once it is uninstalled, its file has no such entry any more.
func TestInstall(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		model := fakemodel.Start(t, fakemodel.Script{{Call: adds("one")}, {Say: "Done."}})
		command := agenthost.Prepare(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Add a line.", Installed: []string{hostfile.EntryName}, OwnTools: true,
		})
		at := hostAt{t, command}
		at.earshot("install", host.String(), "--data", g.data)
		if told := at.earshot("install", host.String(), "--data", g.data); !strings.Contains(told, "nothing changes") {
			t.Errorf("a second time it said: %s", told)
		}
		at.lists(host)
		process := agenthost.Start(t, command)
		g.asks(1)
		g.linesAre("")
		g.does("reply", "1", "accept", "--data", g.data)
		ended(t, process.Wait(t.Context()), "Done.")
		g.linesAre("one\n")
		at.earshot("uninstall", host.String(), "--data", g.data)
		if after := at.settings(host); strings.Contains(after, `earshot"`) || strings.Contains(after, "earshot]") {
			t.Errorf("after the removal the settings are:\n%s", after) // some hosts write their file anew by themselves
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
	raw, err := os.ReadFile(known.File(hostfile.Place{Home: h.command.Home, Getenv: func(string) string { return "" }}))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(raw)
}

// lists has the host itself list its servers.
func (h hostAt) lists(host agenthost.Host) {
	h.t.Helper()
	args := h.command.Args[:1]
	if filepath.Base(args[0]) == "node" {
		args = h.command.Args[:2]
	}
	list := exec.CommandContext(h.t.Context(), args[0], append(append([]string{}, args[1:]...), "mcp", "list")...)
	if told := h.runs(list); !strings.Contains(told, hostfile.EntryName) {
		h.t.Errorf("%s lists: %s", host, told)
	}
}
