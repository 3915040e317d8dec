package main_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
)

// TestOutsideAgentWatches: how a call stands comes as server-sent events, from the question to the result, and then the stream ends. While
// it is open the program waits for the call, so the yes starts it, once; the result counts as received.
func TestOutsideAgentWatches(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	tools, lines := s.box()
	token := s.agentToken("helper")
	s.up("--tools", tools)
	session, err := s.program(token).Open(t.Context(), api.AgentOpen{Request: "Add a line"})
	must(t, err)
	invoke := api.AgentInvoke{Tool: "box.add", Args: jsontext.Value(`{"line":"one"}`)}
	call, err := session.Invoke(t.Context(), invoke, 0)
	must(t, err)
	stream := s.watches(token, session.ID, call.ID)
	s.awaitQuestion(1)
	s.does(0, "reply", "1", "accept")
	var states []string
	var last api.AgentCall
	for last = range stream {
		if len(states) == 0 || states[len(states)-1] != last.State {
			states = append(states, last.State)
		}
	}
	if len(states) < 2 || states[0] != api.CallWaiting || last.State != api.CallEnded || last.Status != utp.StatusSuccess {
		t.Errorf("the call was %v, and is %+v", states, last)
	}
	if got := linesOf(t, lines); got != "one\n" {
		t.Errorf("the lines are %q", got)
	}
	again, err := session.Invoke(t.Context(), invoke, 0)
	must(t, err)
	if again.ID == call.ID {
		t.Error("a result that was received is served again")
	}
}

// watches reads the events of a call, until the stream ends.
func (s *scene) watches(token, session, call string) <-chan api.AgentCall {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.place().URL+api.AgentRoot+"/sessions/"+session+"/calls/"+call+"/events", http.NoBody)
	must(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r) //nolint:bodyclose // the goroutine below closes it
	must(s.t, err)
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || got != "text/event-stream" {
		s.t.Fatalf("found %s, %s", answer.Status, got)
	}
	calls := make(chan api.AgentCall, 100)
	go func() {
		defer close(calls)
		defer func() { _ = answer.Body.Close() }()
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			var c api.AgentCall
			if is && json.Unmarshal([]byte(data), &c) == nil && c.ID != "" {
				calls <- c
			}
		}
	}()
	return calls
}
