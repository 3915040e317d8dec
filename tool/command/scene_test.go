package command_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/command"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// script writes a program of a few lines of shell.
func script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(ownFolder(t), "program")
	if err := writeScript(path, lines); err != nil {
		t.Fatal(err)
	}
	return path
}

// ownFolder is a folder that only its owner can change, whatever the umask is.
func ownFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// parts are the lines of an operation that differ from the usual one.
type parts struct {
	program, argv, parameters, class, more, section string
}

const anything = `{type: object, properties: {a: {type: string}, b: {type: string}}}`

// file is a section with one operation.
func (p parts) file() string {
	class := p.class
	if class == "" {
		class = "read"
	}
	parameters := p.parameters
	if parameters == "" {
		parameters = "{type: object}"
	}
	argv := p.argv
	if argv == "" {
		argv = "[]"
	}
	return "command:\n  target: desk\n" + indent(p.section, 2) + "  operations:\n    - tool: desk.do\n      description: Do it.\n      class: " + class +
		"\n      program: " + p.program + "\n      argv: " + argv + "\n      parameters: " + parameters + "\n" + indent(p.more, 6)
}

func indent(text string, by int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.Repeat(" ", by) + strings.TrimRight(line, "\n") + "\n")
	}
	return out.String()
}

func load(text string, env map[string]string) (*command.Service, error) { return loadAt(text, env, "") }

// loadAt keeps the private copies in a folder.
func loadAt(text string, env map[string]string, private string) (*command.Service, error) {
	root, err := settings.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	section, err := root.Of("command")
	if err != nil {
		return nil, err
	}
	return command.Load(section, command.Options{Private: private, LookupEnv: func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}})
}

func service(t *testing.T, p parts, env map[string]string) tool.Tool {
	t.Helper()
	return serviceAt(t, p, env, filepath.Join(ownFolder(t), "private"))
}

func serviceAt(t *testing.T, p parts, env map[string]string, private string) tool.Tool {
	t.Helper()
	s, err := loadAt(p.file(), env, private)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, p.file())
	}
	t.Cleanup(s.Close)
	return s.Tools()[0]
}

// said is a result as it is told.
type said struct {
	command.Result

	status utp.Status
	err    *utp.ToolError
	text   string
}

func call(ctx context.Context, t *testing.T, made tool.Tool, args string) said {
	t.Helper()
	r, err := made.Run(ctx, &tool.Call{ID: "tc_1", Tool: "desk.do", Args: jsontext.Value(args)})
	out := said{status: r.Status}
	if err != nil && !errors.As(err, &out.err) {
		t.Fatalf("the error is not a tool's: %v", err)
	}
	if value, is := r.Value.(command.Result); is {
		out.Result = value
		out.text, _ = value.Output.(string)
	}
	if _, merr := json.Marshal(r.Value); merr != nil {
		t.Errorf("the result is not JSON: %v", merr)
	}
	return out
}

// within is a context that ends long after anything that works.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
