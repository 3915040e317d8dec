package main

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
	"github.com/earshot-dev/earshot/tool/openapi"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// configured is a tool service that a file configures.
type configured struct {
	kind, target string
	tools        []tool.Tool
	// close puts away what its calls have needed.
	close func()
}

// The sections of a file.
const (
	kindCommand = "command"
	kindHTTP    = "http"
)

func (c configured) principal() bus.Principal {
	return bus.Principal{Kind: bus.Tool, Name: c.target}
}

func (c configured) definitions() []utp.Definition {
	all := make([]utp.Definition, 0, len(c.tools))
	for _, t := range c.tools {
		all = append(all, t.Definition)
	}
	return all
}

// line tells of a service in one line.
func (c configured) line() string {
	names := make([]string, 0, len(c.tools))
	for _, t := range c.tools {
		names = append(names, t.Definition.Tool+" ("+string(t.Definition.Class)+")")
	}
	return "Service " + c.target + " (" + c.kind + "): " + strings.Join(names, ", ")
}

const servicesHint = "see docs/services.md for a complete example"

// readToolFile reads the services of one file. Private is the folder for private copies of programs; "" is the system's for
// temporary files.
func (m *Main) readToolFile(path, private string) ([]configured, error) {
	wrong := func(err error) error {
		message, hint := cause.OneLine(path)+": "+cause.Of(err), servicesHint
		if place, is := errors.AsType[*settings.Error](err); is && place.Hint != "" {
			hint = place.Hint
		}
		return cause.Misuse(message, hint)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause.Misuse("the file of tools cannot be read: "+cause.Of(err), servicesHint)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return nil, cause.Misuse(cause.OneLine(path)+" can be changed by anybody, who could then run what they like", "take that right away: chmod o-w "+quoted(path))
	}
	raw, err := settings.ReadFile(path, settings.MaxFile)
	if err != nil {
		return nil, wrong(err)
	}
	root, err := settings.Parse(raw)
	if err != nil {
		return nil, wrong(err)
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, wrong(err)
	}
	var services []configured
	for _, name := range root.Names() {
		c, err := m.readSection(root, name, folder, private)
		if err != nil {
			return nil, wrong(err)
		}
		services = append(services, c)
	}
	if err := apartFrom(nil, services); err != nil {
		return nil, wrong(err)
	}
	return services, nil
}

func (m *Main) readSection(root settings.Section, name, folder, private string) (configured, error) {
	if name != kindCommand && name != kindHTTP {
		hint := "the sections are command and http"
		if near := settings.Nearest(name, []string{kindCommand, kindHTTP}); near != "" {
			hint = "did you mean " + near + "?"
		}
		return configured{}, root.Fault([]any{name}, "there is no such section", "", hint)
	}
	section, err := root.Of(name)
	if err != nil {
		return configured{}, err
	}
	var c configured
	if name == kindCommand {
		s, err := command.Load(section, command.Options{LookupEnv: m.LookupEnv, Private: private})
		if err != nil {
			return configured{}, err
		}
		c = configured{kind: name, target: s.Target(), tools: s.Tools(), close: s.Close}
	} else {
		s, err := openapi.Load(section, openapi.Options{Folder: folder, LookupEnv: m.LookupEnv})
		if err != nil {
			return configured{}, err
		}
		c = configured{kind: name, target: s.Target(), tools: s.Tools(), close: func() {}}
	}
	return c, checkWords(section, c.definitions())
}

// checkWords demands that the tools of a section can be asked for in the words that they bring.
func checkWords(section settings.Section, definitions []utp.Definition) error {
	for i, d := range definitions {
		err := narrate.Check(d)
		if wrong, is := errors.AsType[*utp.DefinitionError](err); is {
			path := []any{"operations", i}
			for step := range strings.SplitSeq(strings.TrimPrefix(wrong.Field, "options."), ".") {
				path = append(path, step)
			}
			return section.Fault(path, "it is "+wrong.Found, wrong.Expected, "see docs/tools.md, What a question says")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apartFrom refuses services and tools that are there already: a name means one thing.
func apartFrom(before, more []configured) error {
	shipped, err := tidy.Definitions()
	if err != nil {
		return fmt.Errorf("the tools of the program itself: %w", err)
	}
	taken := map[string]bool{tidy.Target: true}
	for _, d := range shipped {
		taken["tool "+d.Tool] = true
	}
	for _, c := range before {
		taken[c.target] = true
		for _, d := range c.definitions() {
			taken["tool "+d.Tool] = true
		}
	}
	for _, c := range more {
		if taken[c.target] {
			return fmt.Errorf("there is another service of the name %s", c.target)
		}
		taken[c.target] = true
		for _, d := range c.definitions() {
			if taken["tool "+d.Tool] {
				return fmt.Errorf("there is another tool of the name %s", d.Tool)
			}
			taken["tool "+d.Tool] = true
		}
	}
	return nil
}

// onlyHere refuses credentials for a service that runs inside the server: with them another
// process could offer tools under its name.
func onlyHere(services []configured, known []bus.Credentials) error {
	for _, c := range services {
		who := c.principal()
		at := slices.IndexFunc(known, func(one bus.Credentials) bool {
			return one.Principal == who || one.Principal == bus.Principal{Kind: bus.Foreign, Name: who.Name}
		})
		if at >= 0 {
			other := known[at].Principal
			return cause.Misuse("the service "+c.target+" runs inside the server by --tools, and there are credentials of "+other.String()+" for another process",
				"revoke them with `earshot credential revoke "+c.target+" --role "+string(other.Kind)+"`, or serve the file there with `earshot serve`")
		}
	}
	return nil
}

// configuredServices are those of all files of `up`.
func (m *Main) configuredServices(f upFlags, data string) ([]configured, error) {
	var all []configured
	var err error
	for _, path := range f.tools {
		if all, err = m.addServices(all, path, data); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// addServices adds those of one more file.
func (m *Main) addServices(all []configured, path, private string) ([]configured, error) {
	more, err := m.readToolFile(path, private)
	if err != nil {
		return nil, err
	}
	if err := apartFrom(all, more); err != nil {
		return nil, cause.Misuse(cause.OneLine(path)+": "+cause.Of(err), "give each a name of its own")
	}
	return append(all, more...), nil
}

// serveConfigured starts the services of the files, each with a credential of its own.
func (h *house) serveConfigured(ctx context.Context, o houseOptions) error {
	for _, c := range o.services {
		end, err := h.bus.Connect(ctx, c.principal())
		if err != nil {
			return cause.Fail(err, "the service "+c.target+" could not join the bus", "")
		}
		serving, err := tool.New(tool.Options{Conn: service.Conn{Client: end}, Tools: c.tools, Logger: o.log})
		if err != nil {
			return err
		}
		h.closers = append(h.closers, c.close)
		h.own(serving.Run)
	}
	return nil
}
