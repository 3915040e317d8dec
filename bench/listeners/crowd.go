package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// crowd is a server in a process of its own, and all who listen to it.
type crowd struct {
	settings

	command   *exec.Cmd
	in        io.WriteCloser
	out       *json.Decoder
	at        started
	listeners []*listener
	reading   sync.WaitGroup
	heard     atomic.Int64
	enough    atomic.Int64
	arrived   chan struct{}
	timed     atomic.Bool
}

// start starts a server to which nobody listens.
func (s settings) start(what string) (*crowd, error) {
	c := &crowd{settings: s, command: exec.Command(os.Args[0], append(slices.Clone(os.Args[1:]), "-serve", what)...), arrived: make(chan struct{}, 1)}
	c.command.Stderr = os.Stderr
	in, err := c.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	c.in, c.out = in, json.NewDecoder(out)
	if err := c.out.Decode(&c.at); err != nil {
		c.leave()
		return nil, err
	}
	return c, nil
}

// join has everybody listen, with the capabilities that each asks for, and returns once they know where each session is.
func (c *crowd) join(capabilities func(n int) string) error {
	for n := range c.settings.listeners {
		l, err := dial(c.at.Address, c.at.Tokens[n%len(c.at.Tokens)], capabilities(n))
		if err != nil {
			return err
		}
		c.listeners = append(c.listeners, l)
		c.reading.Go(func() { l.read(c.hear, c.timed.Load) })
	}
	before := int64(-1)
	for now := c.heard.Load(); now != before; now = c.heard.Load() {
		before = now
		time.Sleep(2 * time.Second)
	}
	return nil
}

func (c *crowd) hear(n int) {
	if now := c.heard.Add(int64(n)); now < c.enough.Load() {
		return
	}
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

// wait returns once so many events have been heard in all.
func (c *crowd) wait(enough int64) error {
	c.enough.Store(enough)
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for c.heard.Load() < enough {
		select {
		case <-c.arrived:
		case <-late.C:
			return fmt.Errorf("heard %d of %d", c.heard.Load(), enough)
		}
	}
	return nil
}

// say has the server do something.
func (c *crowd) say(format string, args ...any) error {
	_, err := fmt.Fprintf(c.in, format+"\n", args...)
	return err
}

// ask returns what the server has used since the last time, after "settle" without the memory that nobody uses.
func (c *crowd) ask(what string) (f figures, _ error) {
	if err := c.say(what); err != nil {
		return f, err
	}
	return f, c.out.Decode(&f)
}

// leave ends the streams and the server.
func (c *crowd) leave() {
	for _, l := range c.listeners {
		_ = l.conn.Close()
	}
	c.reading.Wait()
	_ = c.in.Close()
	_ = c.command.Wait()
}
