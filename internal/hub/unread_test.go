package hub_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestUnreadIsNotAccepted: a subscriber that knows nothing of our extension is offered to accept only what the
// texts of a question say in full. It is told where the rest can be read.
func TestUnreadIsNotAccepted(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		ask := func(number int, risk aaep.Risk, irreversible, signal bool) {
			s.book.tell("sess_a", aaep.AwaitingConfirmation{
				Action: "Remove things.", Consequence: "They are gone.", ReplyToken: "rpl_" + strings.Repeat("0", 32), TimeoutSeconds: 300,
				DefaultDecision: aaep.DecisionReject, RiskLevel: risk, Irreversible: irreversible, SummaryTerse: "May I?", SummaryNormal: "May I, please?",
				AllowedReplies: []aaep.Decision{aaep.DecisionAccept, aaep.DecisionReject},
			}, "question", number, "arguments", map[string]any{"told": signal})
		}
		for name, row := range map[string]struct {
			known   []string
			limited []int
		}{
			"a stranger":                  {nil, []int{2, 3}},
			"one that shows what we list": {[]string{aaep.ExtensionContext}, nil},
		} {
			sub, rejected, err := s.hub.Subscribe(s.t.Context(), person("ann", access.Approver), aaep.SubscriptionRequest{
				AAEPVersion: aaep.Version, SubscriberID: "test", Capabilities: aaep.Capabilities{SupportsConfirmationReply: new(true), SupportedExtensions: row.known},
			})
			if rejected != nil || err != nil {
				t.Fatal(rejected, err)
			}
			e := s.listen(sub, "")
			e.all()
			ask(1, aaep.RiskHigh, true, true)
			ask(2, aaep.RiskHigh, true, false)
			ask(3, aaep.RiskHigh, false, false)
			ask(4, aaep.RiskMedium, false, false)
			heard := 0
			for _, d := range e.all() {
				event, err := aaep.DecodeEvent(d.Raw)
				q, asks := event.Payload.(aaep.AwaitingConfirmation)
				if err != nil || !asks {
					continue
				}
				heard++
				number, _ := aaep.Read(event.Extensions[aaep.PrefixEarshot]).Whole("question")
				where := "To accept it, read all of it on Earshot's page, or with the command earshot pending " + strconv.FormatInt(number, 10) + "."
				limited := slices.Contains(row.limited, int(number))
				if mayAccept := slices.Contains(q.AllowedReplies, aaep.DecisionAccept); mayAccept == limited {
					t.Errorf("%s, question %v: may be answered with %q", name, number, q.AllowedReplies)
				}
				for _, text := range []string{q.SummaryTerse, q.SummaryNormal, q.Consequence} {
					if strings.Contains(text, where) != limited {
						t.Errorf("%s, question %v: told %q", name, number, text)
					}
				}
				if q.SummaryDetailed != "" {
					t.Errorf("a text that was not there is %q", q.SummaryDetailed)
				}
			}
			if heard != 4 {
				t.Errorf("%s heard %d questions", name, heard)
			}
			e.leave()
		}
	})
}

// TestPasskeyIsNotOffered: what takes a passkey is accepted on the page alone, so no subscriber is offered to; one that does
// not know our extension is told where.
func TestPasskeyIsNotOffered(t *testing.T) {
	for name, known := range map[string][]string{"a stranger": nil, "one that knows us": {aaep.ExtensionContext}} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.book.begin("sess_a", "ann")
				sub, rejected, err := s.hub.Subscribe(s.t.Context(), person("ann", access.Approver), aaep.SubscriptionRequest{
					AAEPVersion: aaep.Version, SubscriberID: "test",
					Capabilities: aaep.Capabilities{SupportsConfirmationReply: new(true), SupportedExtensions: known},
				})
				if rejected != nil || err != nil {
					t.Fatal(rejected, err)
				}
				e := s.listen(sub, "")
				e.all()
				s.book.tell("sess_a", aaep.AwaitingConfirmation{
					Action: "Remove things.", Consequence: "They are gone.", ReplyToken: "rpl_" + strings.Repeat("0", 32), TimeoutSeconds: 300,
					DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskLow, SummaryTerse: "May I?",
					AllowedReplies: []aaep.Decision{aaep.DecisionAccept, aaep.DecisionReject},
				}, "question", 1, "passkey", true)
				heard := 0
				for _, d := range e.all() {
					event, err := aaep.DecodeEvent(d.Raw)
					q, asks := event.Payload.(aaep.AwaitingConfirmation)
					if err != nil || !asks {
						continue
					}
					heard++
					if !slices.Equal(q.AllowedReplies, []aaep.Decision{aaep.DecisionReject}) {
						t.Errorf("it may be answered with %q", q.AllowedReplies)
					}
					if told := strings.Contains(q.SummaryTerse, "takes your passkey, on Earshot's page"); told != (known == nil) {
						t.Errorf("told %q", q.SummaryTerse)
					}
				}
				if heard != 1 {
					t.Errorf("heard %d questions", heard)
				}
				e.leave()
			})
		})
	}
}

// TestListsAreOfTheDelivery: what a subscriber has been shown of a question is what it had negotiated when the
// question was handed to it, whatever it negotiates before it answers.
func TestListsAreOfTheDelivery(t *testing.T) {
	ours := []string{aaep.ExtensionContext}
	for name, row := range map[string]struct {
		at, then []string // supported_extensions
		again    bool     // a new stream hands the question over again
		lists    bool
	}{
		"with our extension":            {ours, ours, false, true},
		"without it":                    {[]string{}, []string{}, false, false},
		"negotiated after the question": {[]string{}, ours, false, false},
		"and heard again":               {[]string{}, ours, true, true},
		"given up after the question":   {ours, []string{}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.book.begin("sess_a", "ann")
				sub := s.subscribe(person("ann", access.Approver))
				negotiate := func(extensions []string) {
					t.Helper()
					if _, rejected, err := sub.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{
						SubscriptionID: sub.ID(), Capabilities: aaep.Capabilities{SupportedExtensions: extensions},
					}); rejected != nil || err != nil {
						t.Fatal(rejected, err)
					}
				}
				negotiate(row.at)
				e := s.listen(sub, "")
				q := s.book.ask("sess_a", 7)
				e.all()
				negotiate(row.then)
				if row.again {
					e.leave()
					e = s.listen(sub, "")
					e.all()
				}
				if err := sub.Reply(s.t.Context(), confirmation(sub.ID(), q.Token, "accept", "")); err != nil {
					t.Fatal(err)
				}
				if got := s.replies(); len(got) != 1 || got[0].Lists != row.lists {
					t.Errorf("the kernel heard %+v; want lists %t", got, row.lists)
				}
				e.leave()
			})
		})
	}
}
