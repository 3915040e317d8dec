package hub_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestRepliesAreGrantedToAnswerers: only who may answer questions is granted to answer them, at first and in
// new terms. The others hear questions where they ask to watch them, and are told so.
func TestRepliesAreGrantedToAnswerers(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.ask("sess_a", 7)
		for name, c := range map[string]struct {
			who      access.Principal
			watches  bool
			answers  bool
			confirms int // questions that are heard
		}{
			"an approver":               {who: person("ann", access.Approver), answers: true, confirms: 1},
			"a listener":                {who: person("ann", access.Listener)},
			"a listener that watches":   {who: person("ann", access.Listener), watches: true, confirms: 1},
			"an auditor":                {who: person("eve", access.Auditor)},
			"an auditor that watches":   {who: person("eve", access.Auditor), watches: true, confirms: 1},
			"an operator":               {who: person("otto", access.Operator)},
			"an operator that approves": {who: person("otto", access.Operator, access.Approver), answers: true, confirms: 1},
		} {
			asked := aaep.Capabilities{SupportsConfirmationReply: new(true), SupportsClarificationReply: new(true)}
			if c.watches {
				asked.Extensions = map[string]jsontext.Value{"earshot": jsontext.Value(`{"observe_questions":true}`)}
			}
			sub, rejected, err := s.hub.Subscribe(s.t.Context(), c.who, aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "test", Capabilities: asked})
			if rejected != nil || err != nil {
				t.Fatal(rejected, err)
			}
			granted := func(how string, a aaep.SubscriptionAccepted) {
				t.Helper()
				honored := a.HonoredCapabilities
				if *honored.SupportsConfirmationReply != c.answers || *honored.SupportsClarificationReply != c.answers || strings.Contains(a.NegotiationNotes, "may not answer") == c.answers {
					t.Errorf("%s, %s: granted %s, notes %q", name, how, honored.Extensions, a.NegotiationNotes)
				}
			}
			granted("at first", sub.Accepted())
			again, _, err := sub.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{SubscriptionID: sub.ID(), Capabilities: asked})
			if err != nil {
				t.Fatal(err)
			}
			granted("in new terms", again)
			if !asksTrue(asked) {
				t.Errorf("%s: what was asked has changed", name)
			}

			e := s.listen(sub, "")
			confirms := 0
			for _, d := range e.all() {
				if event, err := aaep.DecodeEvent(d.Raw); err == nil && event.Type() == aaep.TypeAwaitingConfirmation {
					confirms++
				}
			}
			if confirms != c.confirms {
				t.Errorf("%s hears %d questions, want %d", name, confirms, c.confirms)
			}
			e.leave()
		}
		silent, _, err := s.hub.Subscribe(s.t.Context(), person("ann", access.Listener), aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "test"})
		if err != nil || silent.Accepted().NegotiationNotes != "" || silent.Accepted().HonoredCapabilities.SupportsConfirmationReply != nil {
			t.Errorf("who does not ask to answer gets %+v, %v", silent.Accepted(), err)
		}
	})
}

func asksTrue(c aaep.Capabilities) bool {
	return *c.SupportsConfirmationReply && *c.SupportsClarificationReply
}

// TestMaskedTogether: who may not answer finds the question and the word on its end under one token, which is
// not the question's own.
func TestMaskedTogether(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		q := s.book.ask("sess_a", 7)
		e := s.listen(s.subscribe(person("ann", access.Listener)), "")
		defer e.leave()
		e.all()
		s.book.tell("sess_a", aaep.StateChanged{FromState: "awaiting_input", ToState: "deciding", SummaryNormal: "Yes."}, "resolution", "accepted", "reply_token", q.Token)
		var tokens []string
		for _, d := range e.all() {
			document := aaep.Read(d.Raw)
			for _, path := range [][]string{{"reply_token"}, {"extensions", "earshot", "reply_token"}} {
				if token, ok := document.Text(path...); ok {
					tokens = append(tokens, token)
				}
			}
		}
		if len(tokens) != 2 || tokens[0] != tokens[1] || tokens[0] == q.Token {
			t.Errorf("heard the tokens %q of %s", tokens, q.Token)
		}
	})
}
