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

// Variable makes Earshot's hook deny every tool, with the variable's value in its reason, which identifies a check.
const Variable = "EARSHOT_HOOK_CHECK"

// Denial returns the reason of a hook during a check.
func Denial(nonce string) string {
	return "Not done: this is a check by `earshot doctor agents` (" + nonce + ")."
}

// Limit is the timeout for a host's turn.
const Limit = 90 * time.Second

// Options select the host to check.
type Options struct {
	Hook    hook.Host // with its tools; it need not have hooks
	Program string    // the path of the host's program
	Env     []string  // its environment, NAME=VALUE
	// MCP means that Earshot is among its MCP servers.
	MCP bool
}

// Result is the result of the host's turn.
type Result struct {
	// Asked reports whether the host used the scripted model at all. If not, nothing else is known; Trouble says why.
	Asked   bool
	Trouble string
	// Denied means that the hook ran, and its denial reached the model. Ran means that the command was run all the
	// same.
	Denied, Ran bool
	// Shell reports whether the host offers a shell to its model.
	Shell bool
	// AgentTools are the host's offered tools that may change something, Quiet those without a question, and Unhooked
	// those without a hook.
	AgentTools, Quiet, Unhooked []string
}

// Can reports whether the package can run a host for a check.
func Can(host string) bool {
	_, can := drivers[host]
	return can
}

// Run makes the host take one turn. An error means that this was not possible.
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

// newFolder creates a folder that only the user can change, including its parents: otherwise Gemini CLI ignores system
// settings in it.
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

// turn runs the host until it ends, and kills whatever it has left running.
func turn(ctx context.Context, args, env []string, folder string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	host := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // it is the host that the user has
	host.Env, host.Dir = env, folder
	var output bytes.Buffer
	host.Stdout, host.Stderr = &output, &output
	host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	host.Cancel = func() error { return syscall.Kill(-host.Process.Pid, syscall.SIGKILL) }
	host.WaitDelay = time.Second // processes that it leaves behind may hold its output open
	err := host.Run()
	if host.Process != nil {
		_ = syscall.Kill(-host.Process.Pid, syscall.SIGKILL) // processes that it has left behind; there may be none
	}
	return output.Bytes(), err
}

// judge determines from the requests to the model what the host has done.
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

// lastLine returns the last line of a host's output, truncated.
func lastLine(output []byte) string {
	const most = 300
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return string(bytes.ToValidUTF8(lines[len(lines)-1][:min(most, len(lines[len(lines)-1]))], nil))
}

func writeFile(path string, raw []byte) error {
	return os.WriteFile(path, raw, 0o600) //nolint:wrapcheck // it names the file
}
