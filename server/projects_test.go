package server_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
)

// house is a server with projects, each with an agent and a tool of the same names.
type house struct {
	*server.Server

	t *testing.T
	o server.Options

	mu   sync.Mutex
	sent map[string]*[]string // by project
	said []string
}

const own = projectfile.Default

func newHouse(ctx context.Context, t *testing.T, names ...string) *house {
	t.Helper()
	h := &house{t: t, sent: map[string]*[]string{}}
	parts := h.parts(own)
	h.o = server.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", NATSListen: "127.0.0.1:0", Agents: parts.Agents, Services: parts.Services,
		Notice: func(line string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.said = append(h.said, line)
		},
		OpenProject: func(name, _, config string) (server.Options, error) {
			if config != "" {
				return server.Options{}, &server.Error{Kind: server.Usage, Message: "the configuration is odd", Hint: "correct it"}
			}
			return h.parts(name), nil
		},
	}
	for _, name := range names {
		h.add(name, "")
	}
	h.open(ctx)
	t.Cleanup(func() { h.Close() })
	return h
}

// parts are an agent and a service of a project, for which it is noted what was sent.
func (h *house) parts(name string) server.Options {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sent[name] == nil {
		h.sent[name] = new([]string)
	}
	return server.Options{Agents: []server.Agent{{Agent: clerk()}}, Services: []server.Service{send(h.sent[name], &h.mu)}}
}

func (h *house) add(name, config string) {
	h.t.Helper()
	if _, _, err := projectfile.Add(h.o.Data, projectfile.Project{Name: name, Config: config, By: "anna"}); err != nil {
		h.t.Fatal(err)
	}
}

// open opens the server, at the addresses that it had before.
func (h *house) open(ctx context.Context) {
	h.t.Helper()
	s, err := server.New(ctx, h.o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Server = s
	h.o.HTTP, h.o.NATSListen = strings.TrimPrefix(s.URL(), "http://"), strings.TrimPrefix(s.BusURL(), "nats://")
}

// at returns the server of a project.
func (h *house) at(name string) *server.Server {
	h.t.Helper()
	s := h.Server
	if name != own {
		s = h.Project(name)
	}
	if s == nil {
		h.t.Fatalf("%s is not served; it is said: %q", name, h.said)
	}
	return s
}

// program connects as a program of a project.
func (h *house) program(ctx context.Context, name string) *client.Client {
	h.t.Helper()
	return h.dial(ctx, name, h.at(name).Token())
}

func (h *house) dial(ctx context.Context, name, token string) *client.Client {
	h.t.Helper()
	c, err := client.Dial(ctx, client.Options{URL: h.at(name).URL(), Token: token})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// asked starts the same turn in a project and waits for its question.
func (h *house) asked(ctx context.Context, name string) api.OpenQuestion {
	h.t.Helper()
	c := h.program(ctx, name)
	turn, err := c.Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada of ` + name + `"}`), Correlation: "letter-1"})
	if err != nil {
		h.t.Fatal(err)
	}
	for event, err := range c.ForSession(turn.Session).Events(ctx) {
		if err != nil {
			h.t.Fatal(err)
		}
		if _, is := event.Payload.(aaep.AwaitingConfirmation); is {
			break
		}
	}
	return h.onlyQuestion(ctx, name)
}

// onlyQuestion returns the question of a project, and no other is there.
func (h *house) onlyQuestion(ctx context.Context, name string) api.OpenQuestion {
	h.t.Helper()
	all, err := h.program(ctx, name).PeekQuestions(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(all) != 1 {
		h.t.Fatalf("%s has the questions %v", name, all)
	}
	return all[0]
}

// TestProjectsApart: in three projects of one server the same agent asks for the same tool under the same correlation id. Each has its own
// question; the answer in one starts the call there and nowhere else; a token counts in its own project only; the stream of one says nothing
// of another. After a restart all are back.
func TestProjectsApart(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := newHouse(ctx, t, "billing", "sales")
	everywhere := []string{own, "billing", "sales"}
	sessions, heard := map[string]string{}, map[string]func() []string{}
	for _, name := range everywhere {
		heard[name] = h.listen(ctx, name)
	}
	for _, name := range everywhere {
		sessions[name] = h.asked(ctx, name).Session
	}
	for _, name := range everywhere {
		h.strangers(ctx, name, sessions)
		if got := heard[name](); !slices.Equal(got, []string{sessions[name]}) {
			t.Errorf("%s heard of the sessions %v, its own is %s", name, got, sessions[name])
		}
	}
	h.Close()
	h.open(ctx)
	for _, name := range everywhere {
		if got := h.onlyQuestion(ctx, name); got.Session != sessions[name] {
			t.Errorf("after the restart %s asks in %s, before in %s", name, got.Session, sessions[name])
		}
	}
	h.accept(ctx, "billing")
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range everywhere {
		if want := map[string][]string{"billing": {"Ada of billing"}}[name]; !slices.Equal(*h.sent[name], want) {
			t.Errorf("%s has sent to %q, expected %q", name, *h.sent[name], want)
		}
	}
}

// listen listens to all that a project says; the function returned ends it once a question has come, and returns the sessions that it was about.
func (h *house) listen(ctx context.Context, name string) func() []string {
	h.t.Helper()
	c := h.program(ctx, name)
	var (
		sessions []string
		asked    = make(chan struct{})
		ended    = make(chan struct{})
	)
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		for event, err := range c.Events(ctx) {
			if err != nil {
				return
			}
			if !slices.Contains(sessions, event.SessionID) {
				sessions = append(sessions, event.SessionID)
			}
			if _, is := event.Payload.(aaep.AwaitingConfirmation); is {
				close(asked)
			}
		}
	}()
	return func() []string {
		select {
		case <-asked:
		case <-ended:
		}
		stop()
		<-ended
		return sessions
	}
}

// strangers has the tokens of a project refused by the others, and what it says looked through for their sessions.
func (h *house) strangers(ctx context.Context, name string, sessions map[string]string) {
	h.t.Helper()
	for other, session := range sessions {
		if other == name {
			continue
		}
		_, err := client.Dial(ctx, client.Options{URL: h.at(other).URL(), Token: h.at(name).Token()})
		if e, is := errors.AsType[*client.Error](err); !is || e.Code != client.CodeUnauthenticated {
			h.t.Errorf("a token of %s at %s: %v", name, other, err)
		}
		if _, err := h.program(ctx, name).Session(ctx, session); err == nil {
			h.t.Errorf("%s knows the session of %s", name, other)
		}
	}
	all, err := h.program(ctx, name).Sessions(ctx, false)
	if err != nil || len(all) != 1 || all[0].ID != sessions[name] {
		h.t.Errorf("the sessions of %s: %v, %v", name, all, err)
	}
}

// accept answers the only question of a project with yes, as its person, and waits for the end.
func (h *house) accept(ctx context.Context, name string) {
	h.t.Helper()
	person := h.dial(ctx, name, h.at(name).PersonToken())
	all, err := person.Questions(ctx)
	if err != nil || len(all) != 1 {
		h.t.Fatal(all, err)
	}
	if _, err := person.Reply(ctx, all[0].Number, api.Reply{Token: all[0].Token, Decision: "accept"}); err != nil {
		h.t.Fatal(err)
	}
	for event, err := range person.ForSession(all[0].Session).Events(ctx) {
		if err != nil {
			h.t.Fatal(err)
		}
		if _, is := event.Payload.(aaep.SessionCompleted); is {
			return
		}
	}
}
