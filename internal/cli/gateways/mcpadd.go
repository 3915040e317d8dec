package gateways

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// mcpAddFlags are the flags of `mcp add`.
type mcpAddFlags struct {
	mcpFlags

	folder                       string
	env, secrets, headers, names []string
}

func (m *commands) mcpAddCommand() *cobra.Command {
	var f mcpAddFlags
	c := &cobra.Command{
		Use:   "add NAME -- COMMAND… | add NAME URL",
		Short: "Put an MCP server behind the gate, and show what it offers",
		Long: `Put an MCP server into a file of tools: a command of this machine, or an address that takes streamable HTTP. It
is started once, and its tools are listed; none is called. A server that cannot be listed is not added, unless it asks
for a login, with which ` + "`earshot mcp login NAME`" + ` goes on.

Its tools are called NAME.TOOL. Nobody has reviewed them by that, whatever the server says of itself: each call
counts as irreversible and is asked for, until you review them with ` + "`earshot tools review 'NAME.*'`" + `.

An ` + "`earshot up`" + ` that runs starts the server at once, and the command says whether its tools are there. It gives
the server its own variables, and reads secrets in its own environment. With --file it counts from the next start.

A command starts in the current folder, with the variables that --inherit and --env name and no others. Secrets are
named by where they lie: --secret TOKEN=env:GITHUB_TOKEN or TOKEN=file:/path. A command gets each as a variable of
its name; --env and --header may hold it in braces, {TOKEN}.`,
		Example: `  earshot mcp add outbox -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 ~/outbox
  earshot mcp add hub --secret GITHUB_TOKEN=env:GITHUB_TOKEN -- github-mcp-server stdio
  earshot mcp add desk https://mcp.example.com/mcp
  earshot mcp add tickets https://mcp.example.org/mcp --secret token=file:/srv/keys/tickets --header 'Authorization: Bearer {token}'`,
		Args: func(c *cobra.Command, args []string) error {
			_, _, err := serverNamed(c.ArgsLenAtDash(), args)
			return err
		},
		RunE: func(c *cobra.Command, args []string) error {
			command, url, err := serverNamed(c.ArgsLenAtDash(), args)
			if err != nil {
				return err
			}
			entry, err := m.entryOf(f, command, url)
			if err != nil {
				return err
			}
			return m.addServer(c.Context(), f.mcpFlags, args[0], entry)
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.folder, "folder", "", "folder that the command starts in (default the current one)")
	c.Flags().StringArrayVar(&f.env, "env", nil, "variable for the command, NAME=VALUE; may be given several times")
	c.Flags().StringSliceVar(&f.names, "inherit", []string{"HOME", "PATH"}, "variables that the command gets from the server's own environment")
	c.Flags().StringArrayVar(&f.secrets, "secret", nil, "where a secret lies, NAME=env:VARIABLE or NAME=file:/path; may be given several times")
	c.Flags().StringArrayVar(&f.headers, "header", nil, "header for an address, 'Name: value'; may be given several times")
	cli.MarkPaths(c, []string{"folder"}, nil)
	return c
}

// serverNamed parses NAME and a command after --, or NAME and an address.
func serverNamed(dash int, args []string) (command []string, url string, err error) {
	const hint = "for example `earshot mcp add outbox -- npx -y @modelcontextprotocol/server-filesystem ~/outbox`, or `earshot mcp add tickets https://mcp.example.org/mcp`"
	switch {
	case len(args) == 0 || dash == 0:
		return nil, "", cause.Misuse("no NAME is given", hint)
	case settings.CheckTarget(args[0]) != "":
		return nil, "", cause.Misuse("the name is "+cause.Quoted(args[0])+"; expected "+settings.CheckTarget(args[0]), hint)
	case dash == 1 && len(args) > 1:
		return args[1:], "", nil
	case dash < 0 && len(args) == 2 && strings.Contains(args[1], "://"):
		return nil, args[1], nil
	default:
		return nil, "", cause.Misuse("expected a command behind --, or one address", hint)
	}
}

// entryOf returns the entry to write.
func (m *commands) entryOf(f mcpAddFlags, command []string, url string) (e toolfile.MCPServer, err error) {
	e.URL = url
	if e.Secrets, err = secretsIn(f.secrets); err != nil {
		return e, err
	}
	if e.Headers, err = pairs(f.headers, ":", "--header", "'Authorization: Bearer {token}'"); err != nil {
		return e, err
	}
	if e.Environment, err = pairs(f.env, "=", "--env", "LANG=de_DE.UTF-8"); err != nil || url != "" {
		return e, err
	}
	e.Inherit = f.names
	if e.Command, err = m.programOf(command); err != nil {
		return e, err
	}
	if e.Folder, err = filepath.Abs(f.folder); err != nil {
		return e, cause.Fail(err, "the current folder is not known", "name one with --folder")
	}
	for name := range e.Secrets {
		if e.Environment == nil {
			e.Environment = map[string]string{}
		}
		if _, said := e.Environment[name]; !said {
			e.Environment[name] = "{" + name + "}"
		}
	}
	return e, nil
}

// programOf replaces the program of a command by its full path, as the shell would find it now.
func (m *commands) programOf(command []string) ([]string, error) {
	path, err := exec.LookPath(command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, cause.Misuse("there is no program "+cause.Quoted(command[0]), "install it, or name it in full")
	}
	return append([]string{path}, command[1:]...), nil
}

func pairs(given []string, between, flag, example string) (map[string]string, error) {
	var out map[string]string
	for _, text := range given {
		name, value, found := strings.Cut(text, between)
		if name = strings.TrimSpace(name); !found || name == "" {
			return nil, cause.Misuse(flag+" is "+cause.Quoted(settings.Clip(text, 40)), "for example "+flag+" "+example)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}

func secretsIn(given []string) (map[string]toolfile.SecretRef, error) {
	texts, err := pairs(given, "=", "--secret", "TOKEN=env:GITHUB_TOKEN")
	if err != nil {
		return nil, err
	}
	var out map[string]toolfile.SecretRef
	for name, text := range texts {
		var ref toolfile.SecretRef
		kind, where, _ := strings.Cut(text, ":")
		switch {
		case kind == "env" && where != "":
			ref.Env = where
		case kind == "file" && filepath.IsAbs(where):
			ref.File = where
		default: // the value may be the secret itself
			return nil, cause.Misuse("--secret "+cause.OneLine(name)+" does not say where it lies",
				"for example --secret TOKEN=env:GITHUB_TOKEN, or TOKEN=file:/srv/keys/token; its value is never written down")
		}
		if out == nil {
			out = map[string]toolfile.SecretRef{}
		}
		out[name] = ref
	}
	return out, nil
}

// offeredTools are the tools that a server listed when it was added.
type offeredTools struct {
	mcp.Offered

	address string
}

// addedServer is the result of `mcp add --json`.
type addedServer struct {
	Name    string         `json:"name"`
	File    string         `json:"file"`
	Tools   []proposedTool `json:"tools"`
	LeftOut []string       `json:"left_out,omitzero"`
	Login   string         `json:"login,omitzero"` // "needed" if its tools can be listed after a login only
	// Offered says when agents have its tools: "now", "later" with the trouble of the running server, or "next_start".
	Offered string `json:"offered"`
	Trouble string `json:"trouble,omitzero"`
}

type proposedTool struct {
	Tool        string    `json:"tool"`
	Description string    `json:"description"`
	Class       utp.Class `json:"proposed_class"`
	Risk        utp.Risk  `json:"proposed_risk"`
	Why         string    `json:"why"`
}

func (m *commands) addServer(ctx context.Context, f mcpFlags, name string, entry toolfile.MCPServer) error {
	file, data, err := m.toolsFileOf(f, true)
	if err != nil {
		return err
	}
	draft, err := toolfile.AddServer(file, name, entry)
	if err != nil {
		return err
	}
	defer draft.Drop()
	got, err := m.looked(ctx, draft, name)
	if need, is := errors.AsType[*mcp.LoginError](err); is {
		return m.addWithoutLogin(ctx, f, draft, addedServer{Name: name, File: file, Tools: []proposedTool{}, Login: loginNeeded}, data, entry.URL, need)
	}
	if err != nil {
		return err
	}
	if err := draft.Save(); err != nil {
		return err
	}
	added := addedServer{Name: name, File: file, Tools: []proposedTool{}}
	for _, d := range got.Definitions {
		claims, _ := mcp.ClaimsOf(d)
		p := mcp.Propose(claims)
		added.Tools = append(added.Tools, proposedTool{d.Tool, d.Description, p.Class, p.Risk, p.Why})
	}
	for _, err := range got.LeftOut {
		added.LeftOut = append(added.LeftOut, cause.OneLine(err.Error()))
	}
	taken := m.rereadList(ctx, f, data)
	if f.asJSON {
		return m.writeAdded(added, taken)
	}
	m.printAdded(added, got, entry)
	m.printReread(f, taken, data, file, name)
	if err := taken.failure(); err != nil {
		return err
	}
	m.Printf("Then review its tools, one by one or all: `earshot tools review%s '%s.*'`. Until then each call is asked for, as irreversible.", m.DataFlag(data), name)
	return m.OutputError()
}

// writeAdded writes the result as JSON.
func (m *commands) writeAdded(added addedServer, taken reread) error {
	added.Offered, added.Trouble = taken.offered(added.Name), taken.trouble(added.Name)
	if err := m.WriteJSON(added); err != nil {
		return err
	}
	return taken.failure()
}

func (m *commands) printAdded(added addedServer, got offeredTools, entry toolfile.MCPServer) {
	m.Printf("Added to %s: %s, which calls itself %s.", cause.OneLine(added.File), got.address, cause.OneLine(got.Server))
	if len(entry.Command) > 0 {
		m.Printf("Its program %s is bound by its content. What that loads or starts is not.", cause.OneLine(entry.Command[0]))
		if fetches(entry.Command) {
			m.Printf("It names no version, so that the newest one is fetched: add one, such as @1.2.3.")
		}
	}
	m.Printf("It offers %d tools:", len(added.Tools))
	for _, t := range added.Tools {
		m.Printf("  %s: %s. %s", t.Tool, t.Why, cause.OneLine(settings.Clip(cause.OneLine(t.Description), 200)))
	}
	for _, why := range added.LeftOut {
		m.Printf("  %s.", why)
	}
}

// fetches reports whether a command downloads the latest version of its program.
func fetches(command []string) bool {
	if !slices.Contains([]string{"npx", "bunx", "pnpx", "uvx"}, filepath.Base(command[0])) {
		return false
	}
	for _, arg := range command[1:] {
		if !strings.HasPrefix(arg, "-") {
			return !strings.Contains(strings.TrimPrefix(arg, "@"), "@") && !strings.Contains(arg, "==") && !exists(arg)
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
