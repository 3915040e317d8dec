package agentcheck

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// Variable has Earshot's hook say no to every tool, with the variable's value in its reason: what a check is known by.
const Variable = "EARSHOT_HOOK_CHECK"

// Denial is the reason that a hook gives that is only checked.
func Denial(nonce string) string {
	return "Not done: this is a check by `earshot doctor agents` (" + nonce + ")."
}

// Limit is how long a host may take for its turn.
const Limit = 90 * time.Second

// Options say which host is checked.
type Options struct {
	Hook    hook.Host
	Program string   // the path of the host's program
	Env     []string // with which it is started, NAME=VALUE
	// MCP: Earshot is among its MCP servers.
	MCP bool
}

// Result is what came of the host's turn.
type Result struct {
	// Asked reports whether the host came to the scripted model at all. If it did not, nothing else is known; Trouble says why.
	Asked   bool
	Trouble string
	// Denied: the hook ran, and its no has reached the model. Ran: the command was run all the same.
	Denied, Ran bool
	// Shell reports whether the host offers a shell to its model.
	Shell bool
	// AgentTools are the tools of the host's own that may change something, Quiet those that nobody is asked for, and Unhooked those before which
	// it runs no hook, as it offers them.
	AgentTools, Quiet, Unhooked []string
}

// Can reports whether it is known how a host is run for a check.
func Can(host string) bool {
	_, can := drivers[host]
	return can
}

// Run has the host take one turn. An error says that it could not be tried.
func Run(ctx context.Context, o Options) (Result, error) {
	d, can := drivers[o.Hook.Name]
	if !can {
		return Result{}, errors.New("it is not known how " + o.Hook.Title + " is run for a check")
	}
	root, err := newFolder()
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	folder, effect, nonce := filepath.Join(root, "work"), filepath.Join(root, "effect"), strings.ToLower(rand.Text()[:10])
	if err := os.Mkdir(folder, 0o700); err != nil {
		return Result{}, err //nolint:wrapcheck // it names the folder
	}
	command := map[string]any{d.argument: "echo ran >> '" + effect + "'", "description": "Add a line"}
	model, end, err := fakemodel.Listen(fakemodel.Script{{Call: []fakemodel.Call{{Tool: d.shell, Args: command}}}, {Say: "The check is over."}})
	if err != nil {
		return Result{}, err
	}
	defer end()
	c := check{model: model.URL, prompt: prompt, folder: folder, mcp: o.MCP}
	env, err := d.env(c)
	if err != nil {
		return Result{}, err
	}
	env = append(without(o.Env, append(d.clears, Variable)), append(env, Variable+"="+nonce)...)
	output, err := turn(ctx, append([]string{o.Program}, d.args(c)...), env, folder)
	r := judge(o.Hook, d.shell, nonce, model.Requests())
	if _, serr := os.Stat(effect); serr == nil {
		r.Ran = true
	}
	if err != nil && ctx.Err() == nil {
		r.Trouble = fmt.Sprintf("it ended with %v: %s", err, lastLine(output))
	}
	return r, ctx.Err()
}

// newFolder is one of the user's alone, all the way up: Gemini CLI takes no settings of the system from one that others can change.
func newFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(cache, 0o700)
	}
	if err != nil {
		return "", err //nolint:wrapcheck // it names the folder, or the variable
	}
	return os.MkdirTemp(cache, "earshot-doctor-") //nolint:wrapcheck // it names the folder
}

// turn runs the host until it ends, and whatever it has started with it.
func turn(ctx context.Context, args, env []string, folder string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	host := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // it is the host that the user has
	host.Env, host.Dir = env, folder
	var output bytes.Buffer
	host.Stdout, host.Stderr = &output, &output
	host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	host.Cancel = func() error { return syscall.Kill(-host.Process.Pid, syscall.SIGKILL) }
	host.WaitDelay = time.Second // what it leaves behind may hold its output
	err := host.Run()
	if host.Process != nil {
		_ = syscall.Kill(-host.Process.Pid, syscall.SIGKILL) // what it has left behind; there may be nothing
	}
	return output.Bytes(), err
}

// judge reads from what the model was told what the host has done.
func judge(h hook.Host, shell, nonce string, requests []fakemodel.Request) Result {
	var r Result
	for _, q := range requests {
		r.Asked = true
		for _, name := range q.Offers() {
			switch _, gated := h.OfGateway(name); {
			case gated:
			case slices.Contains(h.Unhooked, name):
				r.AgentTools, r.Unhooked = append(r.AgentTools, name), append(r.Unhooked, name)
			case h.Asks(name):
				r.AgentTools = append(r.AgentTools, name)
			default:
				r.Quiet = append(r.Quiet, name)
			}
		}
		if _, err := q.Find(shell); err == nil {
			r.Shell = true
		}
		for _, result := range q.Results() {
			r.Denied = r.Denied || strings.Contains(result.Text, Denial(nonce))
		}
	}
	for _, list := range []*[]string{&r.AgentTools, &r.Quiet, &r.Unhooked} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r
}

func without(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(names, name)
	})
}

// lastLine is the last line of a host, cut off where it is long.
func lastLine(output []byte) string {
	const most = 300
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return string(bytes.ToValidUTF8(lines[len(lines)-1][:min(most, len(lines[len(lines)-1]))], nil))
}

func writeFile(path string, raw []byte) error {
	return os.WriteFile(path, raw, 0o600) //nolint:wrapcheck // it names the file
}
