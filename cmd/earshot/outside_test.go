package main_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
)

// box is a folder with a program that adds a line to a file each time that it runs, as a tool that cannot be undone, and one
// that reads the file.
func (s *scene) box() (tools, lines string) {
	s.t.Helper()
	dir := filepath.Dir(s.data)
	lines = filepath.Join(dir, "lines")
	must(s.t, os.WriteFile(lines, nil, 0o600))
	writer := filepath.Join(dir, "add.sh")
	must(s.t, os.WriteFile(writer, []byte("#!/bin/sh\necho \"$1\" >> \"$2\"\n"), 0o700))
	text := strings.NewReplacer("WRITER", writer, "LINES", lines).Replace(`command:
  target: box
  operations:
    - tool: box.add
      description: Add a line.
      class: irreversible
      program: WRITER
      argv: ["{line}", "LINES"]
      parameters: {type: object, properties: {line: {type: string, pattern: "^[a-z0-9 ]+$"}}, required: [line]}
    - tool: box.read
      description: Read the lines.
      class: read
      program: /bin/cat
      argv: ["LINES"]
      parameters: {type: object, properties: {}}
`)
	tools = filepath.Join(dir, "box.yaml")
	must(s.t, os.WriteFile(tools, []byte(text), 0o600))
	return tools, lines
}

// agentToken makes a token for an agent that is a program outside.
func (s *scene) agentToken(name string) string {
	s.t.Helper()
	return regexp.MustCompile(`earshot_[A-Za-z0-9_-]+`).FindString(s.does(0, "token", "add", name, "--role", "agent"))
}

// programs reaches the server as an agent.
func (s *scene) program(token string) *client.Agent {
	s.t.Helper()
	a, err := client.DialAgent(s.t.Context(), client.Options{URL: s.place().URL, Token: token})
	must(s.t, err)
	return a
}

// awaitQuestion waits until a question with this number is open.
func (s *scene) awaitQuestion(number int) {
	s.t.Helper()
	remote := s.dials()
	for range 600 {
		open, err := remote.Questions(s.t.Context())
		must(s.t, err)
		for _, q := range open {
			if q.Number == number {
				return
			}
		}
		<-time.After(50 * time.Millisecond) // the server has its own clock
	}
	s.t.Fatalf("question %d was never asked", number)
}

func linesOf(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	return string(raw)
}

// TestOutsideAgent: a program in any language is an agent: it lists the tools, gets results, is asked about and told, and the
// session has its own name and end.
func TestOutsideAgent(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	tools, lines := s.box()
	token := s.agentToken("helper")
	s.up("--tools", tools)
	agent := s.program(token)
	offered, err := agent.Tools(t.Context())
	must(t, err)
	models := map[string]string{}
	for _, o := range offered {
		models[o.Name] = o.ModelName
	}
	if models["box.add"] != "box_add" || models["box.read"] != "box_read" {
		t.Errorf("the tools are %v", models)
	}
	session, err := agent.Open(t.Context(), api.AgentOpen{Request: "Add a line", Label: "lines"})
	must(t, err)
	if session.Name != "helper, lines" {
		t.Errorf("the session is called %q", session.Name)
	}
	done := make(chan api.AgentCall, 1)
	go func() {
		c, err := session.Call(t.Context(), api.AgentInvoke{Tool: "box.add", Args: jsontext.Value(`{"line":"one"}`), Comment: "It is missing."})
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	s.awaitQuestion(1)
	contains(t, s.does(0, "pending", "1"), "helper, lines", "Add a line.", "one")
	s.does(0, "reply", "1", "accept")
	if c := <-done; c.Status != utp.StatusSuccess {
		t.Errorf("the call is %+v", c)
	}
	read, err := session.Call(t.Context(), api.AgentInvoke{Tool: "box.read"})
	must(t, err)
	if !strings.Contains(string(read.Result), `"output":"one\n"`) {
		t.Errorf("the result is %s", read.Result)
	}
	must(t, session.Report(t.Context(), api.AgentReport{Text: "There was none."}))
	must(t, session.End(t.Context(), api.AgentEnd{Summary: "One line was added."}))
	contains(t, s.does(0, "recap", "20"), "One line was added.")
	if got := linesOf(t, lines); got != "one\n" {
		t.Errorf("the lines are %q", got)
	}
	_, err = session.Call(t.Context(), api.AgentInvoke{Tool: "box.read"})
	if err == nil {
		t.Error("a session that has ended took a call")
	}
	contains(t, s.does(0, "audit", "verify"), "whole")
}

// TestOutsideAgentServerKilled: the server is killed while a question is open, and the same call goes on with the next one:
// nothing is done twice.
func TestOutsideAgentServerKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	tools, lines := s.box()
	token := s.agentToken("helper")
	first := s.upApart("--tools", tools)
	place := s.place().URL
	agent := s.program(token)
	session, err := agent.Open(t.Context(), api.AgentOpen{Request: "Add a line"})
	must(t, err)
	done := make(chan api.AgentCall, 1)
	go func() {
		c, err := session.Call(t.Context(), api.AgentInvoke{Tool: "box.add", Args: jsontext.Value(`{"line":"one"}`)})
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	s.awaitQuestion(1)
	first.kill()
	first.wait()
	s.up("--tools", tools, "--http", strings.TrimPrefix(place, "http://"))
	s.awaitQuestion(1)
	s.does(0, "reply", "1", "accept")
	if c := <-done; c.Status != utp.StatusSuccess {
		t.Errorf("the call is %+v", c)
	}
	if got := linesOf(t, lines); got != "one\n" {
		t.Errorf("the lines are %q", got)
	}
}

// TestOutsideAgentCut: nothing is started for a program whose connection was cut, and the person hears why; once it asks for the
// same again while the yes is fresh, it is done, once.
func TestOutsideAgentCut(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	tools, lines := s.box()
	policy := filepath.Join(filepath.Dir(s.data), "policy.yaml")
	must(t, os.WriteFile(policy, []byte("rules: [{tool: box.add, decide: ask, start_within: 10s}]\n"), 0o600))
	token := s.agentToken("helper")
	s.up("--tools", tools, "--policy", policy)
	session, err := s.program(token).Open(t.Context(), api.AgentOpen{Request: "Add a line"})
	must(t, err)
	cut := func(line string) {
		t.Helper()
		ctx, hangUp := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = session.Invoke(ctx, api.AgentInvoke{Tool: "box.add", Args: jsontext.Value(`{"line":"` + line + `"}`)}, client.MaxWait)
		}()
		remote := s.dials()
		for {
			open, err := remote.Questions(t.Context())
			must(t, err)
			if len(open) > 0 {
				break
			}
			<-time.After(20 * time.Millisecond)
		}
		hangUp()
		<-gone
	}
	cut("one")
	contains(t, s.does(0, "reply", "1", "accept"), "question 1 is accepted")
	again, err := session.Invoke(t.Context(), api.AgentInvoke{Tool: "box.add", Args: jsontext.Value(`{"line":"one"}`)}, client.MaxWait)
	must(t, err)
	if again.Status != utp.StatusSuccess || !again.Joined {
		t.Errorf("the repeat is %+v", again)
	}
	cut("two")
	s.does(0, "reply", "2", "accept")
	for range 400 { // 8 seconds to take it back, and 10 to start
		if strings.Contains(s.does(0, "recap", "20"), "did not wait for it any more") {
			break
		}
		<-time.After(100 * time.Millisecond)
	}
	contains(t, s.does(0, "recap", "20"), "Your yes to question 2 was not used: helper did not wait for it any more.")
	if got := linesOf(t, lines); got != "one\n" {
		t.Errorf("the lines are %q", got)
	}
}

// TestOutsideAgentRights: the token of an agent asks for calls in its own sessions, and does nothing that a person does.
func TestOutsideAgentRights(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := emptyScene(t)
	tools, _ := s.box()
	token, other := s.agentToken("helper"), s.agentToken("other")
	s.up("--tools", tools)
	session, err := s.program(token).Open(t.Context(), api.AgentOpen{Request: "Add a line"})
	must(t, err)
	asked, err := session.Invoke(t.Context(), api.AgentInvoke{Tool: "box.add", Args: jsontext.Value(`{"line":"one"}`)}, 0)
	must(t, err)
	ask := func(token, method, path, body string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.place().URL+path, strings.NewReader(body))
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	here := "/api/v1/agent/sessions/" + session.ID
	for _, row := range []struct {
		token, method, path, body string
		want                      int
	}{
		{token, "POST", "/api/v1/questions/1/reply", `{"decision":"accept"}`, 403},
		{token, "POST", "/api/v1/questions/1/undo", `{}`, 403},
		{token, "GET", "/api/v1/questions", "", 403},
		{token, "GET", "/api/v1/sessions", "", 403},
		{token, "GET", "/api/v1/sessions/" + session.ID + "/events", "", 403},
		{token, "POST", "/api/v1/turns", `{"agent":"tidy"}`, 403},
		{token, "POST", "/api/v1/operator/review", `{}`, 403},
		{token, "POST", "/aaep/v1/subscriptions", `{"type":"subscription.request"}`, 403},
		{other, "GET", here, "", 404},
		{other, "GET", here + "/calls/" + asked.ID, "", 404},
		{other, "GET", here + "/calls/" + asked.ID + "/events", "", 404},
		{other, "POST", here + "/calls", `{"tool":"box.read"}`, 404},
		{other, "POST", here + "/end", `{}`, 404},
		{token, "GET", here + "/calls/tc_0", "", 404},
		{token, "GET", here + "/calls/" + asked.ID + "?wait=61", "", 400},
		{token, "POST", here + "/calls", `{"args":{}}`, 400},
		{token, "POST", here + "/calls", `{"tool":"box.read","nonsense":1}`, 400},
		{token, "POST", here + "/permissions", `{"tool":"Bash","input":"ls"}`, 400},
		{token, "POST", here + "/questions", `{"question":""}`, 400},
		{token, "POST", here + "/reports", `{}`, 400},
		{"earshot_nobody", "POST", "/api/v1/agent/sessions", `{}`, 401},
		{s.place().Token, "POST", "/api/v1/agent/sessions", `{}`, 403},
		{token, "GET", here, "", 200},
	} {
		if got := ask(row.token, row.method, row.path, row.body); got != row.want {
			t.Errorf("%s %s %s: %d; want %d", row.method, row.path, row.body, got, row.want)
		}
	}
	s.does(0, "token", "revoke", "helper")
	if got := ask(token, "GET", here, ""); got != 401 {
		t.Errorf("a revoked token gets %d", got)
	}
	if _, err := exec.LookPath("curl"); err == nil {
		out, _ := exec.CommandContext(t.Context(), "curl", "-s", s.place().URL+"/api/v1/agent/tools", "-H", "Authorization: Bearer "+other).Output()
		contains(t, string(out), `"model_name":"box_add"`)
	}
}
