package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toolsFile writes a file with one command and one operation.
func (s *scene) toolsFile(change func(string) string) string {
	s.t.Helper()
	text := `command:
  target: desk
  operations:
    - tool: desk.say
      description: Say a word.
      class: read
      program: /bin/echo
      argv: ["--", "{word}"]
      parameters: {type: object, properties: {word: {type: string}}, required: [word]}
http:
  target: tickets
  hosts: [api.example.org]
  operations:
    - {tool: tickets.close, description: Close a ticket., method: POST, url: "https://api.example.org/tickets/{id}/close", parameters: {id: {in: path}}}
`
	file := filepath.Join(filepath.Dir(s.data), "tools.yaml")
	must(s.t, os.WriteFile(file, []byte(change(text)), 0o600))
	return file
}

func asItIs(text string) string { return text }

// checked runs `serve --check`.
func (s *scene) checked(code int, args ...string) string {
	s.t.Helper()
	p := start(s.t, options{verb: "serve", args: append(args, "--check"), nobody: true})
	p.ends(code)
	return p.out.String() + p.prompt.String()
}

// TestServeCheck: a file is judged without serving anything, and what is wrong is said
// with its line and what to do.
func TestServeCheck(t *testing.T) {
	t.Parallel()
	s := emptyScene(t)
	good := s.checked(0, s.toolsFile(asItIs))
	contains(t, good, "desk.say (command, service desk): read, risk low. Say a word.")
	contains(t, good, "tickets.close (http, service tickets): irreversible, risk high. Close a ticket.")
	contains(t, good, "is good: 2 tools.")
	var listed []map[string]string
	must(t, json.Unmarshal([]byte(s.checked(0, s.toolsFile(asItIs), "--json")), &listed))
	if len(listed) != 2 || listed[0]["tool"] != "desk.say" || listed[1]["class"] != "irreversible" || len(listed[1]["digest"]) != 64 {
		t.Errorf("listed %v", listed)
	}
	for _, row := range []struct{ from, to, want string }{
		{"class: read", "classs: read", "tools.yaml: line 6: command.operations[0].classs: unknown name hint: did you mean class?"},
		{"/bin/echo", "/bin/no-echo", "line 7: command.operations[0].program: "},
		{"http:", "htpp:", "htpp: unknown section hint: did you mean http?"},
		{"target: tickets", "target: desk", "another service of the name desk"},
		{"target: tickets", "target: files", "another service of the name files"},
		{"tickets.close", "desk.say", "another tool of the name desk.say"},
		{"desk.say", "files.delete", "another tool of the name files.delete"},
		{"https://api", "http://api", "not among the allowed hosts"},
		{"command:", "- command:", "the list is not indented alike"},
	} {
		contains(t, s.checked(2, s.toolsFile(func(text string) string { return strings.Replace(text, row.from, row.to, 1) })), row.want)
	}
	open := s.toolsFile(asItIs)
	must(t, os.Chmod(open, 0o666))
	contains(t, s.checked(2, open), "can be changed by anybody")
	contains(t, s.checked(2, filepath.Join(s.folder, "absent.yaml")), "absent.yaml is not there")
	contains(t, s.checked(2), "no FILE is named")
}

// TestUpTools: the server says which tools it serves; a service of another process comes in
// with the credentials that the server's data directory or a flag names, and with no others.
func TestUpTools(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := s.toolsFile(asItIs)
	other := filepath.Join(filepath.Dir(file), "other.yaml")
	raw, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(other, []byte(strings.NewReplacer("desk", "shop", "tickets", "parcels").Replace(string(raw))), 0o600))
	credential := func(name string) string { return filepath.Join(s.data, "credentials", "tool."+name+".json") }
	for _, name := range []string{"shop", "parcels", "stranger"} {
		s.does(0, "credential", "add", name, "--role", "tool")
	}
	contains(t, s.does(1, "serve", other), "no `earshot up` works with the data")
	contains(t, s.does(2, "serve", other, "--credential", credential("stranger")), "the credentials of tool/stranger, which no service of the file is waiting for")
	named := start(t, options{verb: "serve", data: s.data, args: []string{other}, env: []string{"EARSHOT_CREDENTIALS=" + credential("stranger")}, nobody: true})
	named.ends(2)
	contains(t, named.prompt.String(), "the credentials of tool/stranger")
	contains(t, s.does(2, "serve", other, "--credential", credential("shop"), "--credential", credential("shop")), "one file for each service")
	contains(t, s.does(1, "serve", other, "--credential", credential("nobody")), "is not there")
	server := s.up("--tools", file, "--nats-listen", "127.0.0.1:0")
	contains(t, server.out.String(), "Service desk (command): desk.say (read) Service tickets (http): tickets.close (irreversible)")
	contains(t, s.does(1, "serve", file), "there are no credentials of tool/desk", "hint: make them with `earshot credential add desk --role tool`")
	moved := filepath.Join(filepath.Dir(file), "moved.json")
	must(t, os.Rename(credential("shop"), moved))
	attached := start(t, options{verb: "serve", data: s.data, args: []string{other, "--credential", moved}, nobody: true})
	attached.hears("Control C ends it")
	contains(t, attached.out.String(), "Credentials: "+moved, "Credentials: "+credential("parcels"), "Nobody has reviewed these tools")
	attached.signal(os.Interrupt)
	attached.ends(0)
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestDoctorTools: doctor reads the files of tools as the server would, those of a configuration
// too, and says which services there are, or what is wrong.
func TestDoctorTools(t *testing.T) {
	t.Parallel()
	s := emptyScene(t)
	file := s.toolsFile(asItIs)
	contains(t, s.does(0, "doctor", "--tools", file),
		"ok: tools: "+file+": Service desk (command): desk.say (read).", "ok: tools: "+file+": Service tickets (http): tickets.close (irreversible).")
	contains(t, s.does(0, "doctor", "--config", s.configuration("tools: tools.yaml\n")), "ok: tools: "+file+": Service desk")
	contains(t, s.does(1, "doctor", "--tools", file, "--tools", file), "problem: tools: "+file+": there is another service of the name desk. hint: give each a name")
	s.toolsFile(func(text string) string { return strings.Replace(text, "class: read", "class: rid", 1) })
	contains(t, s.does(1, "doctor", "--tools", file), "problem: tools: "+file+": line 6")
}

// TestUpProgramChanged: a server that finds another program under a path that was reviewed says so, and what to do; the review shows
// what changed.
func TestUpProgramChanged(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	program := filepath.Join(filepath.Dir(s.data), "look")
	write := func(word string) {
		t.Helper()
		must(t, os.WriteFile(program, []byte("#!/bin/sh\necho "+word+"\n"), 0o700))
	}
	write("first")
	file := s.toolsFile(func(text string) string { return strings.Replace(text, "/bin/echo", program, 1) })
	server := s.up("--tools", file)
	if strings.Contains(server.out.String(), "Changed since review") {
		t.Error("a program that nobody has touched counts as changed")
	}
	server.signal(os.Interrupt)
	server.ends(0)
	write("second")
	server = s.up("--tools", file)
	contains(t, server.out.String(), "Changed since review: "+program+", the program of desk.say. Each call is asked for, as irreversible, until you review it: `earshot tools review --data "+s.data+" desk.say`.")
	contains(t, s.does(0, "tools", "list"), "desk.say: irreversible, high risk, changed since its review")
	contains(t, s.does(0, "tools", "review", "desk.say"), "Changed since the last review: the options had", "/earshot/program/sha256")
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestUpToolsRefused: a server does not start on a file that is not good, nor where its
// policy allows what is irreversible.
func TestUpToolsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := s.toolsFile(asItIs)
	s.does(0, "credential", "add", "desk", "--role", "tool")
	root := []string{"--root", s.folder, "--http", "127.0.0.1:0"}
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"--tools", file, "--policy", s.policy("rules: [{tool: tickets.close, decide: allow}]")}, "irreversible; only ask or deny can stand there"},
		{[]string{"--tools", file, "--tools", file}, "there is another service of the name desk"},
		{[]string{"--tools", file, "--nats-listen", "127.0.0.1:0"}, "there are credentials of tool/desk for another process"},
		{[]string{"--tools", filepath.Join(s.folder, "absent.yaml")}, "cannot be read"},
	} {
		contains(t, s.does(2, "up", append(root, row.args...)...), row.want)
	}
}
