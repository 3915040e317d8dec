package hostsetup_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/hostsetup"
)

// hookBench is a home with a host that has hooks.
type hookBench struct {
	t *testing.T
	o hostsetup.HookOptions
}

func newHookBench(t *testing.T, host string) *hookBench {
	t.Helper()
	b := &hookBench{t: t}
	home := t.TempDir()
	b.o.Hook, _ = hook.Named(host)
	b.o.Host, _ = hostfile.HookHostOf(host)
	if b.o.File = b.o.Host.File(hostfile.Environment{Home: home, Getenv: func(string) string { return "" }}); b.o.File == "" {
		b.o.File = b.o.Host.ProjectFile(home)
	}
	b.o.Data, b.o.Program = filepath.Join(home, "data"), "/usr/bin/earshot"
	return b
}

func (b *hookBench) write(text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.o.File), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.o.File, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *hookBench) text() string {
	b.t.Helper()
	raw, err := os.ReadFile(b.o.File)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

func (b *hookBench) run(do func(hostsetup.HookOptions) (hostsetup.HookResult, error), change ...func(*hostsetup.HookOptions)) hostsetup.HookResult {
	b.t.Helper()
	o := b.o
	for _, c := range change {
		c(&o)
	}
	r, err := do(o)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// TestInstallHooks: the hook comes and goes at each of its events, blocks where the host can be told to, and the file is otherwise the
// same.
func TestInstallHooks(t *testing.T) {
	t.Parallel()
	for _, host := range hostfile.HookHosts() {
		t.Run(host.Name, func(t *testing.T) {
			t.Parallel()
			b := newHookBench(t, host.Name)
			before := "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"" + b.o.Hook.Event() + "\": [\n      {\n        \"command\": \"mine\"\n      }\n    ]\n  }\n}\n"
			b.write(before)
			dry := func(o *hostsetup.HookOptions) { o.DryRun = true }
			if r := b.run(hostsetup.InstallHooks, dry); !r.Changed || len(r.Diff) == 0 || b.text() != before {
				t.Errorf("a dry run: %+v", r)
			}
			if _, err := os.Stat(b.o.Data); err == nil {
				t.Error("a dry run made the data directory")
			}
			r := b.run(hostsetup.InstallHooks)
			if !r.Changed || r.Backup == "" || !slices.Equal(r.Events, b.o.Hook.Settings("").Events()) {
				t.Errorf("found %+v", r)
			}
			text := b.text()
			if n := strings.Count(text, "/usr/bin/earshot hook "+host.Name+" --answer-before 59m"); n != len(r.Events) {
				t.Errorf("the hook stands there %d times, expected %d:\n%s", n, len(r.Events), text)
			}
			if closes := map[string]string{"claude": `"onFailure": "block"`, "cursor": `"failClosed": true`}[host.Name]; !strings.Contains(text, closes) {
				t.Errorf("found no %s:\n%s", closes, text)
			}
			if !strings.Contains(text, `"mine"`) {
				t.Errorf("the user's own hook is gone:\n%s", text)
			}
			if has, err := hostsetup.HasHooks(b.o); !has || err != nil {
				t.Errorf("the hook is not found: %v", err)
			}
			if again := b.run(hostsetup.InstallHooks); again.Changed || again.Backup != "" {
				t.Errorf("again: %+v", again)
			}
			moved := b.run(hostsetup.InstallHooks, func(o *hostsetup.HookOptions) { o.Program = "/opt/earshot/bin/earshot" })
			if got := b.text(); !moved.Changed || strings.Contains(got, "/usr/bin/earshot") || strings.Count(got, " hook "+host.Name) != len(r.Events) {
				t.Errorf("after the program has moved:\n%s", got)
			}
			b.run(hostsetup.UninstallHooks, dry)
			gone := b.run(hostsetup.UninstallHooks)
			if !gone.Changed || b.text() != before {
				t.Errorf("left is\n%s", b.text())
			}
			if again := b.run(hostsetup.UninstallHooks); again.Changed {
				t.Errorf("again: %+v", again)
			}
			if left, err := filepath.Glob(filepath.Join(b.o.Data, "hosts", "*")); len(left) > 0 || err != nil {
				t.Errorf("records are left: %v %v", left, err)
			}
		})
	}
}

// TestHooksWithoutAFile: where there was none, nothing but an empty object is left of it.
func TestHooksWithoutAFile(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"claude", "cursor", "copilot"} {
		b := newHookBench(t, host)
		b.run(hostsetup.InstallHooks)
		if version := strings.Contains(b.text(), `"version": 1`); version != (host != "claude") {
			t.Errorf("%s: %s", host, b.text())
		}
		b.run(hostsetup.UninstallHooks)
		if got := strings.TrimSpace(b.text()); got != "{}" {
			t.Errorf("%s: left is %s", host, got)
		}
	}
}

// TestHooksChangedByHand: what somebody has changed since is neither written over nor taken out, unless that is asked for.
func TestHooksChangedByHand(t *testing.T) {
	t.Parallel()
	b := newHookBench(t, "claude")
	b.run(hostsetup.InstallHooks)
	changed := strings.Replace(b.text(), `"timeout": 3600`, `"timeout": 60`, 1)
	b.write(changed)
	for name, do := range map[string]func(hostsetup.HookOptions) (hostsetup.HookResult, error){"install": hostsetup.InstallHooks, "uninstall": hostsetup.UninstallHooks} {
		if _, err := do(b.o); err == nil || !strings.Contains(err.Error(), "was changed since Earshot wrote it") || b.text() != changed {
			t.Errorf("%s: %v\n%s", name, err, b.text())
		}
	}
	force := func(o *hostsetup.HookOptions) { o.Force = true }
	b.run(hostsetup.InstallHooks, force)
	if !strings.Contains(b.text(), `"timeout": 3600`) {
		t.Errorf("found\n%s", b.text())
	}
	b.write(changed)
	b.run(hostsetup.UninstallHooks, force)
	if strings.Contains(b.text(), "earshot") {
		t.Errorf("left is\n%s", b.text())
	}
}

// TestHooksByHand: where the file is in another form, it is left alone, and what has to stand in it is given.
func TestHooksByHand(t *testing.T) {
	t.Parallel()
	b := newHookBench(t, "claude")
	const other = `{"hooks": {"Stop": "mine"}}`
	b.write(other)
	r, err := hostsetup.InstallHooks(b.o)
	if err == nil || !strings.Contains(r.Snippet, `"onFailure": "block"`) || b.text() != other {
		t.Errorf("found %+v, %v", r, err)
	}
	b.write(`{"hooks": }`)
	if _, err := hostsetup.InstallHooks(b.o); err == nil || !strings.Contains(err.Error(), "is not what Claude Code reads") {
		t.Errorf("a broken file: %v", err)
	}
}
