package main_test

import (
	"bufio"
	"os"
	"testing"
)

// TestReaderGoesAway: the reader of the events goes away. The run is stopped and says
// why; it is not killed in silence, and nothing was done that nobody could hear of.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	read, write, err := os.Pipe()
	must(t, err)
	p := &process{t: t, cmd: command(t, options{data: s.data, args: []string{"tidy", s.folder, "--json"}}), out: newHeard(), prompt: newHeard(), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = write, p.prompt
	p.input, err = p.cmd.StdinPipe()
	must(t, err)
	must(t, p.cmd.Start())
	p.own()
	must(t, write.Close())
	if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	must(t, read.Close())
	if p.says(asked) {
		p.say("accept")
	}
	p.ends(1)
	oneComplaint(t, p.prompt.String(), "", "")
	s.untouched("with nobody to hear of it")
}
