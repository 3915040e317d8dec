package main_test

import (
	"os"
	"testing"
)

// TestFullDisk: a list that could not be written is not a success, as JSON or not, whole or empty.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.answered("reject", 3)
	for _, args := range [][]string{
		{"turns", "list"}, {"turns", "list", "--json"}, {"dead", "list"}, {"dead", "list", "--json"}, {"audit", "head"}, {"tools", "list"},
	} {
		p := start(t, options{verb: args[0], args: args[1:], data: s.data, into: "/dev/full", nobody: true})
		p.ends(1)
		contains(t, p.prompt.String(), "could not be written")
	}
}

// TestWrongWordsAnywhere: what is not a request is a wrong use (exit code 2), with a server and without.
func TestWrongWordsAnywhere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.answered("reject", 3)
	wrong := func() {
		contains(t, s.does(2, "cards", "show", ""), "card_id", "hint: see the command's --help")
	}
	wrong()
	server := s.up()
	wrong()
	server.signal(os.Interrupt)
	server.ends(0)
}
