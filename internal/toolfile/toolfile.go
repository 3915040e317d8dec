// Package toolfile reads the tool services that a YAML file configures: programs of this machine, operations of HTTP servers
// (docs/services.md), and servers of the Model Context Protocol (docs/mcp.md), which it also adds and removes.
package toolfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/command"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/openapi"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Service is a tool service that a file configures.
type Service struct {
	Kind  string // the section of the file: command, http or mcp
	Name  string // its name and target on the bus
	Tools []tool.Tool
	// Source, if set, provides the tools of a server.
	Source tool.Source
	// Address is the location of that server, and Look lists its tools without calling any.
	Address string
	Inspect func(context.Context) (mcp.Offered, error)
	// Entry is how that server is configured, and Ready waits until it has offered its tools while the Source runs.
	Entry string
	Ready func(context.Context) error
	// Close releases the resources of its calls, once it has ended.
	Close func()
}

// The sections of a file.
const (
	kindCommand = "command"
	kindHTTP    = "http"
	kindMCP     = "mcp"
)

// kinds are those of a file.
func kinds() []string { return []string{kindCommand, kindHTTP, kindMCP} }

// Principal returns its principal on the bus.
func (s Service) Principal() bus.Principal { return bus.Principal{Kind: bus.Tool, Name: s.Name} }

// Definitions returns the definitions of its tools.
func (s Service) Definitions() []utp.Definition {
	all := make([]utp.Definition, 0, len(s.Tools))
	for _, t := range s.Tools {
		all = append(all, t.Definition)
	}
	return all
}

// String describes a service in one line.
func (s Service) String() string {
	if s.Source != nil {
		return "Service " + s.Name + " (" + s.Kind + "): " + cause.OneLine(s.Address) + ", whose tools are unreviewed until you review them"
	}
	names := make([]string, 0, len(s.Tools))
	for _, t := range s.Tools {
		names = append(names, t.Definition.Tool+" ("+string(t.Definition.Class)+")")
	}
	return "Service " + s.Name + " (" + s.Kind + "): " + strings.Join(names, ", ")
}

// Hint says where there is a complete example.
const Hint = "`earshot tools example` prints a complete one"

// Options configure the reading of a file.
type Options struct {
	LookupEnv func(string) (string, bool) // for secrets
	// Private is the folder for private copies of programs; "" is the system's for temporary files.
	Private string
	// Version is the version of this program that MCP servers see.
	Version string
	// Notice is called with lines for the operator about MCP servers; nil drops them.
	Notice func(line string)
	// Login returns the login of an MCP server at an address; nil if there are none.
	Login func(name, url string) mcp.Login
}

// Read reads the services of one file. Names of services and tools must be unique, also against the program's own.
func Read(path string, o Options) ([]Service, error) { return read(path, path, o) }

// read reads a file whose final name is name.
func read(path, name string, o Options) ([]Service, error) {
	wrong := func(err error) error {
		message, hint := cause.OneLine(name)+": "+cause.Of(err), Hint
		if place, is := errors.AsType[*settings.Error](err); is && place.Hint != "" {
			hint = place.Hint
		}
		return cause.Misuse(message, hint)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause.Misuse("the file of tools cannot be read: "+cause.Of(err), Hint)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return nil, cause.Misuse(cause.OneLine(name)+" can be changed by anybody, who could then run what they like", "take that right away: chmod o-w "+cause.Quoted(name))
	}
	raw, err := settings.ReadFile(path, settings.MaxFile)
	if err != nil {
		return nil, wrong(err)
	}
	root, err := settings.Parse(raw)
	if err != nil {
		return nil, wrong(err)
	}
	folder, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return nil, wrong(err)
	}
	var services []Service
	for _, kind := range root.Names() {
		some, err := readSection(root, kind, folder, o)
		if err != nil {
			return nil, wrong(err)
		}
		services = append(services, some...)
	}
	if err := apartFrom(nil, services); err != nil {
		return nil, wrong(err)
	}
	return services, nil
}

func readSection(root settings.Section, name, folder string, o Options) ([]Service, error) {
	if !slices.Contains(kinds(), name) {
		return nil, root.Fault([]any{name}, "unknown section", "", settings.Meant("sections", name, kinds()))
	}
	section, err := root.Of(name)
	if err != nil {
		return nil, err
	}
	if name == kindMCP {
		return readServers(section, o)
	}
	var c Service
	if name == kindCommand {
		s, err := command.Load(section, command.Options{LookupEnv: o.LookupEnv, Private: o.Private})
		if err != nil {
			return nil, err
		}
		c = Service{Kind: name, Name: s.Target(), Tools: s.Tools(), Close: s.Close}
	} else {
		s, err := openapi.Load(section, openapi.Options{Folder: folder, LookupEnv: o.LookupEnv})
		if err != nil {
			return nil, err
		}
		c = Service{Kind: name, Name: s.Target(), Tools: s.Tools(), Close: func() {}}
	}
	return []Service{c}, checkPhrases(section, c.Definitions())
}

// readServers reads the section of MCP servers, each of which is a service.
func readServers(section settings.Section, o Options) ([]Service, error) {
	servers, err := mcp.Load(section, mcp.Options{LookupEnv: o.LookupEnv, Private: o.Private, Version: o.Version, Notice: o.Notice, Login: o.Login})
	if err != nil {
		return nil, err
	}
	all := make([]Service, 0, len(servers))
	for _, s := range servers {
		all = append(all, Service{Kind: kindMCP, Name: s.Target(), Source: s.Run, Address: s.Address(), Inspect: s.Inspect, Entry: s.Entry(), Ready: s.Ready, Close: s.Close})
	}
	return all, nil
}

// checkPhrases checks that questions about the tools of a section can use the tools' own words.
func checkPhrases(section settings.Section, definitions []utp.Definition) error {
	for i, d := range definitions {
		err := narrate.Check(d)
		if wrong, is := errors.AsType[*utp.DefinitionError](err); is {
			path := []any{"operations", i}
			for step := range strings.SplitSeq(strings.TrimPrefix(wrong.Field, "options."), ".") {
				path = append(path, step)
			}
			return section.Fault(path, "it is "+wrong.Found, wrong.Expected, "see `earshot help questions`")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apartFrom refuses services and tools that exist already: a name has one meaning.
func apartFrom(before, more []Service) error {
	shipped, err := tidy.Definitions()
	if err != nil {
		return fmt.Errorf("the tools of the program itself: %w", err)
	}
	used := map[string]bool{tidy.Target: true}
	for _, d := range shipped {
		used["tool "+d.Tool] = true
	}
	for _, c := range before {
		used[c.Name] = true
		for _, d := range c.Definitions() {
			used["tool "+d.Tool] = true
		}
	}
	for _, c := range more {
		if used[c.Name] {
			return &settings.Error{Found: "there is another service of the name " + c.Name, Hint: "give each a name of its own; " + tidy.Target + " is the program's"}
		}
		used[c.Name] = true
		for _, d := range c.Definitions() {
			if used["tool "+d.Tool] {
				return fmt.Errorf("there is another tool of the name %s", d.Tool)
			}
			used["tool "+d.Tool] = true
		}
	}
	return nil
}

// Add reads the services of one more file, whose names and tools must differ from the earlier ones.
func Add(before []Service, path string, o Options) ([]Service, error) {
	more, err := Read(path, o)
	if err != nil {
		return nil, err
	}
	if err := apartFrom(before, more); err != nil {
		return nil, cause.Misuse(cause.OneLine(path)+": "+cause.Of(err), "give each a name of its own")
	}
	return append(before, more...), nil
}
