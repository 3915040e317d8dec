package acp

import (
	"os/exec"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/program"
)

// Command is how an agent is started.
type Command struct {
	Args []string // the program first
	Dir  string   // in which it works
	Env  []string // all of it
}

// start starts the agent without the person's terminal: what it starts cannot answer there, from its first moment on.
func start(c Command) (*program.Piped, error) {
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it is about
	}
	return program.StartPiped(&exec.Cmd{Path: path, Args: c.Args, Env: c.Env, Dir: c.Dir})
}

// ending says how the program ended, and its last words. It waits for the end a short time: its output ends first.
func ending(p *program.Piped) string {
	how, last, ended := p.Ending(program.Grace)
	if !ended {
		return "it has closed its standard output"
	}
	if last != "" {
		how += "; it wrote last: " + cause.OneLine(strings.ToValidUTF8(last, "�"))
	}
	return how
}
