package gateways

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
)

// reread is what the running server has made of a change of its list of MCP servers.
type reread struct {
	running bool // a server that reads this file runs
	answer  api.Services
	err     error // why it has not taken the change up
}

// rereadList makes the server of the data directory, if one runs, read its list of MCP servers again. It does not read
// a file that --file names: whether it has that one is not known here.
func (m *commands) rereadList(ctx context.Context, f mcpFlags, data string) reread {
	if f.file != "" || !cli.ServerAt(data) {
		return reread{}
	}
	got := reread{running: true}
	remote, err := m.Dial(ctx, cli.ServerFlags{DataFlag: data}, "earshot-mcp")
	if err == nil {
		got.answer, err = remote.RereadServices(ctx)
	}
	got.err = cli.ServerFailure(err)
	return got
}

// trouble says why the running server does not offer the tools of an MCP server; "" if it does.
func (r reread) trouble(name string) string {
	for _, s := range r.answer.Started {
		if s.Service == name {
			return s.Trouble
		}
	}
	return ""
}

// offered says from when on the tools of an added server are there: now, later, or from the next start on.
func (r reread) offered(name string) string {
	switch {
	case !r.running || r.err != nil:
		return "next_start"
	case r.trouble(name) != "":
		return "later"
	}
	return "now"
}

// failure is the error of a change that the running server has not taken up; nil if it has, or none runs.
func (r reread) failure() error {
	if r.err == nil {
		return nil
	}
	return cause.Fail(r.err, "the change is recorded, and the server that runs has not taken it up", "it counts from its next start: end `earshot up`, and start it again as before")
}

// printReread says when a change takes effect, and what it has changed beside the named servers.
func (m *commands) printReread(f mcpFlags, r reread, data, file string, names ...string) {
	switch {
	case f.file != "":
		m.Printf("It counts when a server is started with it: `earshot up … --tools %s`.", cause.Quoted(file))
		return
	case !r.running:
		m.Printf("It counts from the next start: `earshot up%s --root DIR`.", m.DataFlag(data))
		return
	case r.err != nil:
		return // it is an error of the command
	}
	for _, name := range names {
		if why := r.trouble(name); why != "" {
			m.Printf("The server that runs does not offer the tools of %s yet: %s. It goes on trying.", name, cause.OneLine(why))
		} else {
			m.Printf("The server that runs offers the tools of %s now.", name)
		}
	}
	m.printOthers(r, names)
}

// printOthers says what else the running server has found changed in its files.
func (m *commands) printOthers(r reread, names []string) {
	var started []string
	for _, s := range r.answer.Started {
		if !slices.Contains(names, s.Service) {
			started = append(started, s.Service)
		}
	}
	ended := slices.DeleteFunc(slices.Clone(r.answer.Ended), func(name string) bool { return slices.Contains(names, name) })
	if len(started) > 0 {
		m.Printf("It has also started: %s.", cause.OneLine(strings.Join(started, ", ")))
	}
	if len(ended) > 0 {
		m.Printf("It has also ended: %s.", cause.OneLine(strings.Join(ended, ", ")))
	}
}
