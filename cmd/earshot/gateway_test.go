//go:build !faults

package main_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/scripted"
)

// narrated waits until a session of the agent has ended here, and returns all that was said of it.
func (s *scene) narrated(agent string) (summary, events string) {
	s.t.Helper()
	remote := s.dials()
	all, err := remote.Sessions(s.t.Context(), false)
	must(s.t, err)
	for _, one := range all {
		if one.Agent != agent {
			continue
		}
		var text strings.Builder
		for e, err := range remote.PastEvents(s.t.Context(), one.ID) {
			must(s.t, err)
			text.Write(e.Raw)
			text.WriteString("\n")
		}
		return one.Summary, text.String()
	}
	s.t.Fatalf("no session of %s", agent)
	return "", ""
}

// TestGateway: on each transport, a third-party producer is told here, and what a person answers here reaches it.
func TestGateway(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for scheme, row := range map[string]struct {
		word     string
		decision aaep.Decision
	}{"http": {"accept", aaep.DecisionAccept}, "ws": {"reject", aaep.DecisionReject}, "unix": {"reject", aaep.DecisionReject}} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			counts(t)
			s := emptyScene(t)
			s.up()
			producer := scripted.New(t, foreign)
			p := start(t, options{verb: "gateway", args: []string{"--from", producer.Serve(scheme), "--agent", "other", "--data", s.data, "--json"}})
			s.awaitQuestion(1)
			person := s.dials()
			_, err := person.Arguments(t.Context(), 1)
			must(t, err)
			open, err := person.Questions(t.Context())
			must(t, err)
			_, err = person.Reply(t.Context(), 1, api.Reply{Token: open[0].Token, Decision: row.word})
			must(t, err)
			p.ends(0)
			got := producer.Got()
			reply, err := aaep.DecodeConfirmationReply([]byte(got[1]))
			if err != nil || reply.Decision != row.decision || reply.ReplyToken != "rpl_1" || reply.SubscriptionID != "sub_1" {
				t.Errorf("the producer was told %s, %v", got[1], err)
			}
			for _, want := range []string{
				`{"event":{"event_id":"evt_1","session_id":"sess_1","status":"accepted","as_session_id":"sess_`, `"question":1,`,
				`{"answer":{"question":1,"session_id":"sess_1","outcome":"` + row.word + `ed","delivered":true}}`,
			} {
				if lines := p.out.String(); !strings.Contains(lines, want) || strings.Contains(lines, "rpl_1") {
					t.Errorf("a program is not told %s, or has the token, in\n%s", want, lines)
				}
			}
			summary, events := s.narrated("other")
			if summary != "Done: nothing was deleted." {
				t.Errorf("it ended with %q", summary)
			}
			for _, want := range []string{"Tidying up.", "Delete 2 files.", "other does this itself; Earshot can neither stop nor undo it.", `"enforcement":"advisory"`, `"risk_level":"high","irreversible":true`} {
				if !strings.Contains(unisolated(events), want) {
					t.Errorf("nobody heard %q in\n%s", want, events)
				}
			}
		})
	}
}

// TestGatewayAgain: what a producer sends again to a gateway that was started again is told once, and an open question is still answered.
func TestGatewayAgain(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	s.up()
	block := append(append([]string{}, foreign[:3]...), scripted.Await, scripted.Await)
	producer := scripted.New(t, block, foreign)
	address := producer.Serve("ws")
	args := []string{"--from", address, "--agent", "other", "--data", s.data}
	first := start(t, options{verb: "gateway", args: args, process: true})
	s.awaitQuestion(1)
	first.kill()
	first.wait()
	second := start(t, options{verb: "gateway", args: args})
	person := s.dials()
	open, err := person.Questions(t.Context())
	must(t, err)
	_, err = person.Reply(t.Context(), 1, api.Reply{Token: open[0].Token, Decision: "reject"})
	must(t, err)
	second.ends(0)
	_, events := s.narrated("other")
	if n := strings.Count(events, `"summary_normal":"other: `); strings.Count(unisolated(events), "Tidying up.") == 0 || strings.Count(events, "aaep:agent.awaiting.confirmation") != 1 {
		t.Errorf("%d: heard\n%s", n, events)
	}
	got := producer.Got()
	if reply, err := aaep.DecodeConfirmationReply([]byte(got[len(got)-1])); err != nil || reply.Decision != aaep.DecisionReject {
		t.Errorf("the producer was told %v", got)
	}
}

// TestGatewayServerAgain: while Earshot is started again the producer waits, and an answer that is given after it reaches the producer.
func TestGatewayServerAgain(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	up := s.upApart()
	producer := scripted.New(t, foreign)
	p := start(t, options{verb: "gateway", args: []string{"--from", producer.Serve("ws"), "--agent", "other", "--data", s.data}})
	s.awaitQuestion(1)
	up.kill()
	up.wait()
	s.up()
	s.awaitQuestion(1)
	person := s.dials()
	open, err := person.Questions(t.Context())
	must(t, err)
	_, err = person.Reply(t.Context(), 1, api.Reply{Token: open[0].Token, Decision: "reject"})
	must(t, err)
	p.ends(0)
	got := producer.Got()
	if reply, err := aaep.DecodeConfirmationReply([]byte(got[len(got)-1])); err != nil || reply.Decision != aaep.DecisionReject {
		t.Errorf("the producer was told %v", got)
	}
	if summary, _ := s.narrated("other"); summary != "Done: nothing was deleted." {
		t.Errorf("it ended with %q", summary)
	}
}

// unisolated is a text without the marks around values.
func unisolated(text string) string {
	return strings.NewReplacer("\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "").Replace(text)
}

// TestGatewayStream: the producer of a stream without subscriptions hears the answer where --answers-to says that it takes answers; without
// that, the gateway says at once that answers do not reach it.
func TestGatewayStream(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	s.up()
	producer := scripted.New(t, foreign)
	address := producer.Serve("http") + "/aaep/v1/events"
	p := start(t, options{verb: "gateway", args: []string{"--from", address, "--answers-to", "/aaep/v1/replies", "--agent", "other", "--data", s.data}})
	s.awaitQuestion(1)
	person := s.dials()
	_, err := person.Arguments(t.Context(), 1)
	must(t, err)
	open, err := person.Questions(t.Context())
	must(t, err)
	_, err = person.Reply(t.Context(), 1, api.Reply{Token: open[0].Token, Decision: "accept"})
	must(t, err)
	p.ends(0)
	if got := producer.Await(1); !strings.Contains(got[0], `"decision":"accept"`) || !strings.Contains(got[0], `"reply_token":"rpl_1"`) {
		t.Errorf("the producer was told %q", got)
	}
	if text := p.prompt.String(); strings.Contains(text, "do not reach") {
		t.Errorf("said\n%s", text)
	}
	if summary, _ := s.narrated("other"); summary != "Done: nothing was deleted." {
		t.Errorf("it ended with %q", summary)
	}
	without := start(t, options{verb: "gateway", args: []string{"--from", scripted.New(t, foreign[:2]).Serve("http") + "/aaep/v1/events", "--agent", "third", "--data", s.data}})
	without.ends(0)
	if text := squeeze(without.prompt.String()); !strings.Contains(text, "Answers do not reach this producer") || !strings.Contains(text, "--answers-to") {
		t.Errorf("said\n%s", text)
	}
}

// TestGatewayRefuses: what can never work is said at once, with what to do.
func TestGatewayRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range [][]string{
		{"2", "no producer is named"},
		{"2", "--from", "ftp://localhost", `the address begins with "ftp"`},
		{"2", "--from", "http://localhost:1", "--answers-to", "/messages", "is not a stream without subscriptions"},
		{"2", "--from", "unix:x", "--url", "http://127.0.0.1:1", "--url needs --token-file"},
	} {
		p := plain(t, append([]string{"gateway"}, row[1:len(row)-1]...)...)
		p.ends(2)
		if text := squeeze(p.prompt.String()); !strings.Contains(text, row[len(row)-1]) || !strings.Contains(text, "hint: ") {
			t.Errorf("%q: said\n%s", row, text)
		}
	}
}
