package hosts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// checked is what `earshot doctor agents` says of a host.
type checked struct {
	State    string   `json:"state"`
	Label    string   `json:"label"`
	Found    string   `json:"found"`
	Denied   bool     `json:"denial_held"`
	NotGated []string `json:"not_gated"`
	Advice   string   `json:"hint"`
}

// doctor runs `earshot doctor agents` on a host, whose program gets these arguments before its own.
func (h hostAt) doctor(host agenthost.Host, code int, args ...string) checked {
	h.t.Helper()
	own := h.command.Args[:1]
	if filepath.Base(own[0]) == "node" {
		own = h.command.Args[:2]
	}
	bin := h.t.TempDir()
	script := "#!/bin/sh\nexec '" + strings.Join(own, "' '") + "' " + strings.Join(args, " ") + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, host.String()), []byte(script), 0o700); err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(h.t.Context(), program, "doctor", "agents", host.String(), "--json")
	cmd.Dir = h.command.Dir
	cmd.Env = slices.Clone(h.command.Env)
	for i, variable := range cmd.Env {
		if path, is := strings.CutPrefix(variable, "PATH="); is {
			cmd.Env[i] = "PATH=" + bin + ":" + path
		}
	}
	out, err := cmd.Output()
	var found []checked
	if jerr := json.Unmarshal(out, &found); jerr != nil || len(found) != 1 || cmd.ProcessState.ExitCode() != code {
		h.t.Fatalf("found %s (%v), expected one host and the exit code %d", out, err, code)
	}
	return found[0]
}

// enforced takes all tools from a host that may change something, and demands the label that follows.
func (h hostAt) enforced(host agenthost.Host, before checked) {
	h.t.Helper()
	list, _ := strings.CutPrefix(before.NotGated[0], "Nobody is asked through Earshot for ")
	own := strings.Split(strings.TrimSuffix(list, "."), ", ")
	file := filepath.Join(h.command.Home, map[string]string{"claude": ".claude/settings.json", "opencode": ".config/opencode/opencode.json"}[host.String()])
	kept, err := os.ReadFile(file)
	if err != nil {
		h.t.Fatal(err)
	}
	settings := map[string]any{}
	if err := json.Unmarshal(kept, &settings); err != nil {
		h.t.Fatal(err)
	}
	settings["permissions"] = map[string]any{"deny": own}
	if host.String() == "opencode" {
		delete(settings, "permissions")
		off := map[string]any{}
		for _, name := range own {
			off[name] = false
		}
		settings["tools"] = off
	}
	denied, err := json.Marshal(settings)
	if err == nil {
		err = os.WriteFile(file, denied, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if got := h.doctor(host, 0); got.Label != "enforced" || got.State != "ok" {
		h.t.Errorf("without %v: %+v", own, got)
	}
	if err := os.WriteFile(file, kept, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// TestDoctorAgents: the real hosts, as `earshot install` has set them up, are labelled by what they do: without a hook the command runs,
// with it a no holds, and a hook that Codex does not trust is found.
func TestDoctorAgents(t *testing.T) {
	eachOf(t, installed, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		at := hostAt{t, agenthost.Prepare(t, programs, host, agenthost.Setup{BuiltinTools: true})}
		before := at.doctor(host, 0)
		if before.Label != "" || before.Denied || !strings.Contains(before.Found, "is not in") || !strings.Contains(strings.Join(before.NotGated, " "), "Nobody is asked through Earshot for ") {
			t.Errorf("without Earshot: %+v", before)
		}
		at.earshot("install", host.String())
		if broker := at.doctor(host, 0); broker.Label != "broker-only" || broker.State != "ok" {
			t.Errorf("with its server: %+v", broker)
		}
		if host.String() == "claude" || host.String() == "opencode" {
			at.enforced(host, before)
		}
		if host.String() == "opencode" { // it has no hooks
			return
		}
		at.earshot("install", host.String(), "--hooks")
		var trust []string
		if host.String() == "codex" { // a person grants it in the terminal
			if untrusted := at.doctor(host, 1); untrusted.State != "problem" || !strings.Contains(untrusted.Found, "did not run it") || !strings.Contains(untrusted.Advice, "/hooks") {
				t.Errorf("before it is trusted: %+v", untrusted)
			}
			trust = []string{"--dangerously-bypass-hook-trust"}
		}
		hooked := at.doctor(host, 0, trust...)
		if hooked.Label != "advisory" || hooked.State != "ok" || !hooked.Denied {
			t.Errorf("with its hook: %+v", hooked)
		}
		if open := strings.Contains(strings.Join(hooked.NotGated, " "), "goes on where the hook is killed"); open == blocks(host) {
			t.Errorf("where the hook is killed: %v", hooked.NotGated)
		}
		t.Logf("%+v", hooked)
		if host.String() == "qwen" { // three runs of it are enough
			return
		}
		at.earshot("uninstall", host.String(), "--hooks")
		if after := at.doctor(host, 0); after.Label != "broker-only" || after.Denied {
			t.Errorf("without its hook again: %+v", after)
		}
	})
}
