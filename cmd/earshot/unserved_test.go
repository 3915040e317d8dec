package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestToolWithoutService: beside a server, the list of tools and doctor say which tools have no service
// connected. Without a server nobody lives, and that says nothing.
func TestToolWithoutService(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.turned()
	file := filepath.Join(t.TempDir(), "words.yaml")
	must(t, os.WriteFile(file, []byte(wordsYAML), 0o600))
	contains(t, s.does(0, "tools", "add", file), "Recorded: words.count:")
	const mark = "no service connected"
	if said := s.does(0, "tools", "list") + s.does(0, "doctor") + s.does(0, "tools", "list", "--json"); strings.Contains(said, mark) || strings.Contains(said, "service_connected") {
		t.Errorf("without a server: %s", said)
	}
	bare := start(t, options{verb: "up", data: s.data, args: []string{"--http", "127.0.0.1:0"}})
	bare.hears("Control C ends it")
	contains(t, s.does(0, "doctor"), "note: services: No service is connected for files.",
		"hint: `earshot up --root DIR` serves the tools whose names begin with files.; for the others, start the service")
	bare.signal(os.Interrupt)
	bare.ends(0)
	server := s.up()
	for line := range strings.Lines(s.does(0, "tools", "list")) {
		if foreign := strings.HasPrefix(line, "words."); strings.Contains(line, mark) != foreign {
			t.Errorf("the list says %s", line)
		}
	}
	contains(t, s.does(0, "tools", "show", "words.count"), "the policy says deny; "+mark+".")
	var tools []struct {
		Name      string `json:"tool_name"`
		Connected *bool  `json:"service_connected"`
	}
	s.reads(&tools, "tools", "list", "--json")
	for _, tool := range tools {
		if tool.Connected == nil || *tool.Connected == strings.HasPrefix(tool.Name, "words.") {
			t.Errorf("%s is connected: %v", tool.Name, tool.Connected)
		}
	}
	contains(t, s.does(0, "doctor"), "note: services: No service is connected for words.count, words.drop. hint: start the service")
	s.does(0, "tools", "rm", "words.count")
	s.does(0, "tools", "rm", "words.drop")
	if said := s.does(0, "doctor"); strings.Contains(said, "services:") {
		t.Errorf("doctor says %s", said)
	}
	server.signal(os.Interrupt)
	server.ends(0)
}
