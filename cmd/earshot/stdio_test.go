package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// subscribeLine asks for a subscription over JSON-RPC.
const subscribeLine = `{"jsonrpc":"2.0","id":1,"method":"aaep.subscribe","params":{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1",` +
	`"capabilities":{"supports_confirmation_reply":true}}}`

// TestStdio: a program starts `earshot stdio`, hears the server that runs, and answers a question with a token that may; without one it is
// granted no replies. The end of its input ends it (TR-STDIO-02, TR-STDIO-03, TR-STDIO-10).
func TestStdio(t *testing.T) {
	t.Parallel()
	counts(t)
	s := newScene(t)
	s.up()
	reader := start(t, options{verb: "stdio", data: s.data})
	reader.say(subscribeLine)
	reader.hears(`{"jsonrpc":"2.0","id":1,"result":{"type":"subscription.accepted"`)
	reader.hears(`"supports_confirmation_reply":false`)
	made, _ := s.here(0, "token", "add", "reader", "--role", "approver", "--owner", "*")
	token := filepath.Join(filepath.Dir(s.data), "reader.token")
	must(t, os.WriteFile(token, []byte(made), 0o600))
	answers := start(t, options{verb: "stdio", data: s.data, args: []string{"--token-file", token}})
	answers.say(subscribeLine)
	answers.hears(`"supports_confirmation_reply":true`)
	start(t, options{verb: "run", data: s.data, args: []string{"tidy", s.folder}, nobody: true})
	for _, p := range []*process{reader, answers} {
		p.hears(`"method":"aaep.event","params":{"@context"`)
		p.hears(`"aaep:agent.session.started"`)
	}
	answers.hears(`"aaep:agent.awaiting.confirmation"`)
	for _, p := range []*process{reader, answers} {
		p.closeInput()
		p.ends(0)
	}
}

// TestStdioAlone: without a server, or where it has no socket, it says so and ends.
func TestStdioAlone(t *testing.T) {
	t.Parallel()
	s := emptyScene(t)
	contains(t, s.does(1, "stdio"), "earshot up")
	contains(t, s.does(2, "stdio", "--socket", filepath.Join(s.folder, "none"), "--data", s.data), "both --data and --socket")
	s.up("--socket", "none")
	contains(t, s.does(1, "stdio"), "the server has no Unix socket")
	_, err := os.Stat(filepath.Join(s.data, "aaep.sock"))
	if err == nil {
		t.Error("there is a socket")
	}
	contains(t, s.does(2, "stdio", "--token-file", fmt.Sprint(s.folder, "/none")), "the token file cannot be read")
}
