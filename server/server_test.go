package server_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// patience bounds what the tests wait for, and nothing that works.
const patience = 2 * time.Minute

// send is a service whose one tool cannot be undone; it counts what was sent.
func send(sent *[]string, mu *sync.Mutex) server.Service {
	type mail struct {
		To string `json:"to"`
	}
	t := tool.Must(tool.Func(utp.Definition{Tool: "mail.send", Description: "Send a letter.", Class: utp.Irreversible, Risk: utp.RiskHigh},
		func(_ context.Context, c *tool.Call, m mail) (string, error) {
			if err := c.Ready(); err != nil {
				return "", err
			}
			mu.Lock()
			defer mu.Unlock()
			*sent = append(*sent, m.To)
			return "sent", nil
		}))
	return server.Service{Name: "mail", Tools: []tool.Tool{t}}
}

// clerk is an agent that sends one letter.
func clerk() worker.Agent { return clerkSaying("") }

// clerkSaying says something more at the end.
func clerkSaying(output string) worker.Agent {
	return worker.Agent{Name: "clerk", Plan: worker.PlanFunc(func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
		if len(t.Results) == 0 {
			return worker.Decision{Calls: []worker.Call{{Key: "send", Tool: "mail.send", Args: t.Args}}}, nil
		}
		return worker.Decision{Answer: &worker.Answer{Summary: "It ended: " + string(t.Results[0].Status) + ".", Output: output}}, nil
	})}
}

// TestOptions: invalid options are refused with a message, and nothing is started.
func TestOptions(t *testing.T) {
	t.Parallel()
	var none []string
	letters := send(&none, new(sync.Mutex))
	for _, row := range []struct {
		says string
		o    server.Options
	}{
		{"there is no data directory", server.Options{Data: ""}},
		{"not on the loopback", server.Options{HTTP: "0.0.0.0:0"}},
		{"not an address with a port", server.Options{HTTP: "here"}},
		{"not the address of a page", server.Options{PageURL: "earshot"}},
		{"there must be an address, a certificate", server.Options{HTTPS: "0.0.0.0:7443"}},
		{"is not an origin", server.Options{AllowOrigins: []string{"*"}}},
		{"where a PostgreSQL database is", server.Options{Ledger: "ledger.db"}},
		{"not a valid time to keep something", server.Options{RetentionContent: "a week"}},
		{"an agent has no name, or no plan", server.Options{Agents: []server.Agent{{Agent: worker.Agent{Name: "clerk"}}}}},
		{"another agent of the name operator", server.Options{Agents: []server.Agent{{Agent: worker.Agent{Name: "operator", Plan: clerk().Plan}}}}},
		{"another agent of the name clerk", server.Options{Agents: []server.Agent{{Agent: clerk()}, {Agent: clerk()}}}},
		{"the agent clerk: parameters: ", server.Options{Agents: []server.Agent{{Agent: clerk(), Parameters: jsontext.Value(`{"type":"array"}`)}}}},
		{"a service has no name, or no tools", server.Options{Services: []server.Service{{Name: "mail"}}}},
		{"another service of the name mail", server.Options{Services: []server.Service{letters, letters}}},
	} {
		if row.says != "there is no data directory" {
			row.o.Data = t.TempDir()
		}
		s, err := server.New(t.Context(), row.o)
		failure, is := errors.AsType[*server.Error](err)
		if !is || failure.Kind != server.Usage || !strings.Contains(failure.Message, row.says) || failure.Hint == "" {
			t.Errorf("%q: %#v", row.says, err)
		}
		if s != nil {
			s.Close()
		}
	}
}

// TestHeld: one process, and in it one server, has a data directory; the second is refused, and the first goes on.
func TestHeld(t *testing.T) {
	t.Parallel()
	o := server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0"}
	s, err := server.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := server.New(t.Context(), o); err == nil {
		again.Close()
		t.Error("two servers have one data directory")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	if _, err := client.Dial(t.Context(), client.Options{URL: s.URL(), Token: s.Token()}); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	s.Close()
	s.Close() // is nothing more
	after, err := server.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	after.Close()
}

// TestConsent: a tool of the embedding program runs only after a person's yes, which no program's token can give.
func TestConsent(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var (
		mu   sync.Mutex
		sent []string
	)
	s, err := server.New(ctx, server.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", Agents: []server.Agent{{Agent: clerk()}}, Services: []server.Service{send(&sent, &mu)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	programs, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: s.Token()})
	if err != nil {
		t.Fatal(err)
	}
	person, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: s.PersonToken()})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := programs.Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada"}`), Request: "Write to Ada."})
	if err != nil {
		t.Fatal(err)
	}
	ended := ""
	for event, err := range person.ForSession(turn.Session).Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch p := event.Payload.(type) {
		case aaep.AwaitingConfirmation:
			number, _ := aaep.Read(event.Extensions[aaep.PrefixEarshot]).Whole("question")
			yes := api.Reply{Token: p.ReplyToken, Decision: "accept"}
			if _, err := programs.Reply(ctx, int(number), yes); err == nil {
				t.Error("a program's token has answered")
			}
			if _, err := person.Reply(ctx, int(number), yes); err != nil {
				t.Error(err)
			}
		case aaep.SessionCompleted:
			ended = p.SummaryNormal
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) != 1 || sent[0] != "Ada" || !strings.Contains(ended, "success") {
		t.Errorf("sent to %q; %s", sent, ended)
	}
}

// TestLeft: the next server resumes what an earlier one has left, unless the agent forbids it; starting a turn with
// arguments that the agent does not accept gives an error.
func TestLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var (
		mu      sync.Mutex
		sent    []string
		notices []string
	)
	allowed := true
	agent := server.Agent{
		Agent: clerk(),
		Check: func(turn *api.TurnStart) error {
			if string(turn.Args) == `{}` {
				return &server.Error{Kind: server.Usage, Message: "nobody is named", Hint: `send {"to":"somebody"}`}
			}
			turn.Request = "Write a letter."
			return nil
		},
		Resume: func(jsontext.Value) error {
			if allowed {
				return nil
			}
			return errors.New("may not write letters now")
		},
	}
	o := server.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", Agents: []server.Agent{agent}, Services: []server.Service{send(&sent, &mu)},
		Notice: func(line string) { notices = append(notices, line) },
	}
	s, err := server.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: s.Token()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{}`)}); err == nil || !strings.Contains(err.Error(), "nobody is named") {
		t.Errorf("arguments that the agent does not take: %v", err)
	}
	if _, err := c.Start(ctx, api.TurnStart{Agent: "clark", Args: jsontext.Value(`{}`)}); err == nil || !strings.Contains(err.Error(), "did you mean clerk?") {
		t.Errorf("an agent that is not there: %v", err)
	}
	turn, err := c.Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range c.ForSession(turn.Session).Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, is := event.Payload.(aaep.AwaitingConfirmation); is {
			break
		}
	}
	s.Close()
	for _, row := range []struct {
		allowed bool
		want    string
	}{
		{false, "Parked: " + turn.Session + " may not write letters now."},
		{true, "Resumed: " + turn.Session + "."},
	} {
		allowed, notices = row.allowed, nil
		s, err := server.New(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if len(notices) != 1 || notices[0] != row.want {
			t.Errorf("it is said %q, want %q", notices, row.want)
		}
	}
}
