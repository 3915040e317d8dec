package mcp

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/program"
	"github.com/earshot-dev/earshot/tool"
)

// process is a server that is a program of this machine.
type process struct {
	*program.Piped

	stdin  *counted
	stdout *lines
}

// start starts the program.
func (s *Server) start(secrets map[string]string) (*process, error) {
	path, err := s.copies.Ready(s.bound)
	if errors.Is(err, program.ErrChanged) {
		return nil, fmt.Errorf("%s changed since the file of tools was read, and is not run; look at it, and start again", s.c.Command[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not run: %s", s.c.Command[0], cause.Of(err))
	}
	piped, err := program.StartPiped(&exec.Cmd{Path: path, Args: s.c.Command, Env: s.environment(secrets), Dir: s.c.Folder})
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %s", s.c.Command[0], cause.Of(err))
	}
	p := &process{Piped: piped, stdin: &counted{File: piped.Stdin}}
	p.stdout = newLines(piped.Stdout, int(s.c.Limits.Message), func() {
		s.noticef("what it writes to standard output is not all of the protocol; the rest is left out, and belongs to standard error")
	})
	return p, nil
}

// environment is all that the program finds in its environment.
func (s *Server) environment(secrets map[string]string) []string {
	all := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
	for _, name := range s.c.Inherit {
		if value, set := s.o.LookupEnv(name); set {
			all[name] = value
		}
	}
	for name, text := range s.c.Environment {
		all[name] = fill(text, secrets)
	}
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

func (p *process) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: p.stdout, Writer: p.stdin, MaxLineLength: -1} // lines has the limit
}

func (p *process) end() { p.End() }

// ending is how the program ended by itself.
func (p *process) ending() string {
	how, last, _ := p.Ending(0)
	if last != "" {
		how += ", and its last words were: " + cause.OneLine(tool.Readable(last))
	}
	return how
}

func (p *process) written() int64 { return p.stdin.bytes.Load() }

// counted is a pipe that counts what is written.
type counted struct {
	*os.File

	bytes atomic.Int64
}

// Write implements [io.Writer]. It counts first: what may have been written counts as written.
func (c *counted) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.File.Write(p) //nolint:wrapcheck // it is the file's own
}

func commandLine(command []string) string {
	words := make([]string, 0, len(command))
	for _, word := range command {
		words = append(words, cause.Quoted(word))
	}
	return strings.Join(words, " ")
}
