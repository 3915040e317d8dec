package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// offers keeps a result card and returns what the kernel says.
func (s *stranger) offers(r utp.ResultCard) error {
	s.world.t.Helper()
	card, err := utp.NewToolResult(r)
	if err != nil {
		s.world.t.Fatal(err)
	}
	raw, err := utp.EncodeCard(card)
	if err != nil {
		s.world.t.Fatal(err)
	}
	return s.ask(api.OpCard, api.CardRequest{Card: raw}, nil)
}

// resultIs wants the transcript to have one result, which holds the text.
func (w *world) resultIs(text string) {
	w.t.Helper()
	if got := w.cell(`SELECT group_concat(c.content) FROM results r JOIN cards c ON c.card_id = r.card`); !strings.Contains(got, text) {
		w.t.Errorf("the transcript has %s; want %s", got, text)
	}
	if n := w.cell(`SELECT count(*) FROM results`); n != "1" {
		w.t.Errorf("%s results; want 1", n)
	}
}

// TestForeignCardAdoptedAtRedelivery: a service keeps its result card and dies before its report. When
// it, or a replica, gets the call again and keeps another card, it is told that the call is done, and
// the first card is the result.
func TestForeignCardAdoptedAtRedelivery(t *testing.T) {
	for name, change := range map[string]func(*utp.ResultCard){
		"another card":           func(r *utp.ResultCard) { r.ID = "theirs_2" },
		"the same id, rewritten": func(r *utp.ResultCard) { r.CreatedAt = r.CreatedAt.Add(time.Second) },
		"another result":         func(r *utp.ResultCard) { r.ID, r.Result = "theirs_2", jsontext.Value(`{"words":8}`) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
				s := w.stranger("words")
				s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
				w.work(one(wordCount))
				a := w.begin()
				w.accepts()
				_, header, card := s.command()
				first := s.result(card, "theirs_1")
				if err := s.offers(first); err != nil {
					t.Fatal(err)
				}
				if err := s.offers(first); err != nil {
					t.Errorf("the same card again: %v", err)
				}
				w.reaches(a.Turn, turn.Started)
				again := first
				change(&again)
				wantFault(t, s.offers(again), utp.CodeDone)
				w.succeeded(a.Turn)
				w.resultIs(`{"words":7}`)
				s.saysOutcome(api.ReportSuperseded, header, s.result(card, "theirs_2"))
				if n := len(s.took("")); n != 0 {
					t.Errorf("%d more commands were sent", n)
				}
			})
		})
	}
}

// TestForeignCardAdoptedBeforeTimeout: the card that a service has kept and never reported is the
// result of its call when the call's time, or the owner's, is over. Nothing is done again, and nobody
// is asked what became of it.
func TestForeignCardAdoptedBeforeTimeout(t *testing.T) {
	for class, within := range map[utp.Class]time.Duration{utp.Read: 21 * time.Second, utp.Idempotent: 21 * time.Second, utp.Irreversible: 61 * time.Second} {
		t.Run(string(class), func(t *testing.T) {
			configure := allowing(wordCount)
			if class == utp.Irreversible {
				configure = naming(wordCount)
			}
			inWorld(t, configure, func(t *testing.T, w *world) {
				s := w.stranger("words")
				s.serves(class, `{"suspend_timeout_seconds":60}`)
				w.work(one(wordCount))
				a := w.begin()
				if class == utp.Irreversible {
					w.accepts()
				}
				_, header, card := s.command()
				r := s.result(card, "theirs_1")
				if err := s.offers(r); err != nil {
					t.Fatal(err)
				}
				w.pass(within)
				if n := len(w.questions()); n != 0 {
					t.Errorf("%d questions", n)
				}
				w.succeeded(a.Turn)
				w.resultIs(`{"words":7}`)
				if n := len(s.took(".call")); n != 0 {
					t.Errorf("the command was sent %d times more", n)
				}
				s.saysOutcome(api.ReportSuperseded, header, s.result(card, "theirs_2"))
			})
		})
	}
}

// TestForeignCardOfUnknownCall: a card that comes while a person is asked what became of the call counts
// at the latest when nobody has answered.
func TestForeignCardOfUnknownCall(t *testing.T) {
	inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
		w.work(one(wordCount))
		a := w.begin()
		q := w.accepts()
		_, _, card := s.command()
		w.pass(70 * time.Second)
		w.askedAfter(q)
		if err := s.offers(s.result(card, "theirs_1")); err != nil {
			t.Fatal(err)
		}
		w.pass(6 * time.Minute)
		w.succeeded(a.Turn)
		w.resultIs(`{"words":7}`)
	})
}

// TestForeignCardBeforeAWord: a card that a service has kept counts before a person's word that would end the call
// without it: asking again does nothing a second time, and a stopped turn says what was done.
func TestForeignCardBeforeAWord(t *testing.T) {
	for word, end := range map[string]func(w *world, a api.EnqueueAnswer, q api.QuestionRow){
		"ask again": func(w *world, a api.EnqueueAnswer, q api.QuestionRow) {
			got, err := w.answer(api.ReplyRequest{Token: q.Token, Response: "ask again", By: person, Surface: "terminal"})
			if err != nil || got.Resolution != "withdrawn" {
				w.t.Errorf("asked again: %+v, %v", got, err)
			}
			w.succeeded(a.Turn)
		},
		"stop": func(w *world, a api.EnqueueAnswer, _ api.QuestionRow) {
			if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
				w.t.Fatal(err)
			}
			w.over(a.Turn)
		},
	} {
		t.Run(word, func(t *testing.T) {
			inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
				s := w.stranger("words")
				s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
				w.work(one(wordCount))
				a := w.begin()
				q := w.accepts()
				_, _, card := s.command()
				w.pass(70 * time.Second)
				q = w.askedAfter(q)
				if err := s.offers(s.result(card, "theirs_1")); err != nil {
					t.Fatal(err)
				}
				end(w, a, q)
				w.resultIs(`{"words":7}`)
				if n := len(w.questions()); n != 0 {
					t.Errorf("%d questions are open", n)
				}
			})
		})
	}
}

// TestForeignCardThatDoesNotHelp: a kept card that cannot be read, or whose service says itself that it does not know,
// keeps no person from answering what became of the call, nor from stopping the turn.
func TestForeignCardThatDoesNotHelp(t *testing.T) {
	for _, card := range []string{"unknown", "damaged"} {
		for _, word := range []string{"leave", "ask again", "stop"} {
			t.Run(card+", "+word, func(t *testing.T) {
				onDisk(t, naming(wordCount), func(t *testing.T, w *world) {
					s := w.stranger("words")
					s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
					w.work(one(wordCount))
					a := w.begin()
					q := w.accepts()
					_, _, called := s.command()
					w.pass(70 * time.Second)
					q = w.askedAfter(q)
					r := s.result(called, "theirs_1")
					if card == "unknown" {
						r.Status, r.Result, r.Error = utp.StatusFailed, nil, &utp.ToolError{Code: utp.CodeOutcomeUnknown, Message: "not known", Source: utp.SourceTool}
					}
					if err := s.offers(r); err != nil {
						t.Fatal(err)
					}
					if card == "damaged" {
						w.tamper(`UPDATE cards SET content = '{' WHERE type = 'tool.offered_result'`)
					}
					if word == "stop" {
						if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
							t.Fatal(err)
						}
						w.over(a.Turn)
						return
					}
					if got, err := w.reply(q, word); err != nil || got.Resolution != "answered" {
						t.Errorf("%s: %+v, %v", word, got, err)
					}
					if word == "ask again" { // the old owner may be at work, so that it takes a second word
						q = w.askedAfter(q)
						if got, err := w.reply(q, "leave"); err != nil || got.Resolution != "answered" {
							t.Errorf("leave: %+v, %v", got, err)
						}
					}
					w.over(a.Turn)
				})
			})
		}
	}
}

// TestForeignCardWhileStopped: a card that its service has kept when a turn is stopped ends its call at once, and
// one that says that nothing is known puts no question that nobody could answer any more.
func TestForeignCardWhileStopped(t *testing.T) {
	for _, tt := range []struct {
		code  utp.Code
		after utp.AfterExecution
		end   utp.Status
	}{{"", utp.Suspend, utp.StatusCanceled}, {"", utp.Terminate, utp.StatusSuccess}, {utp.CodeOutcomeUnknown, utp.Suspend, utp.StatusCanceled}} {
		t.Run(string(tt.after)+" "+string(tt.code), func(t *testing.T) {
			inWorld(t, naming(wordCount), func(t *testing.T, w *world) {
				s := w.stranger("words")
				s.serves(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
				w.work(one(wordCount))
				a := w.begin()
				w.accepts()
				_, _, called := s.command()
				r := s.result(called, "theirs_1")
				r.AfterExecution = tt.after
				if tt.code != "" {
					r.Status, r.Result, r.Error = utp.StatusFailed, nil, &utp.ToolError{Code: tt.code, Message: "not known", Source: utp.SourceTool}
				}
				if err := s.offers(r); err != nil {
					t.Fatal(err)
				}
				if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
					t.Fatal(err)
				}
				if st := w.turn(a.Turn); st.Status != turn.Ended || st.End.Status != tt.end || st.Calls[0].Outcome.Code != tt.code {
					t.Errorf("the turn is %s %+v, its call %+v", st.Status, st.End, st.Calls[0].Outcome)
				}
				if n := w.cell(`SELECT count(*) FROM events WHERE type LIKE '%awaiting.%'`); n != "1" {
					t.Errorf("%s questions were put; want 1", n)
				}
				if still := w.cell(`SELECT count(*) FROM events WHERE body LIKE '%still running%'`); tt.code == "" && still != "0" {
					t.Error("what has finished is said to be still running")
				}
			})
		})
	}
}

// TestForeignCardBeforeTheAgentsEnd: what a card says that a service has kept counts also where the agent ends its turn
// without waiting for the call.
func TestForeignCardBeforeTheAgentsEnd(t *testing.T) {
	for _, after := range []utp.AfterExecution{utp.Suspend, utp.Terminate} {
		t.Run(string(after), func(t *testing.T) {
			inWorld(t, allowing(wordCount), func(t *testing.T, w *world) {
				s, peer := w.stranger("words"), w.stranger("peer")
				s.serves(utp.Idempotent, `{"suspend_timeout_seconds":60}`)
				c := peer.holds()
				card := peer.wanted(c.Turn, "call_1", wordCount)
				card.TargetSubject = "cg.v1r4.home.public.cmd.tool.words.call"
				peer.keeps(utp.NewToolCall(card))
				if _, err := peer.sends(peer.commanded(card, c.Epoch)); err != nil {
					t.Fatal(err)
				}
				_, _, called := s.command()
				r := s.result(called, "theirs_1")
				r.AfterExecution = after
				if err := s.offers(r); err != nil {
					t.Fatal(err)
				}
				peer.delivers(c)
				st := w.over(c.Turn)
				if call := st.Calls[0]; st.End.Status != utp.StatusSuccess || call.State != turn.Finished || call.Outcome.Status != utp.StatusSuccess {
					t.Errorf("the turn ended %+v, its call is %s %+v", st.End, call.State, call.Outcome)
				}
			})
		})
	}
}

// TestForeignCardOfRemovedTool: a call that waits to be sent again has no owner whose card could end it; that one was
// kept keeps nobody from stopping the turn.
func TestForeignCardOfRemovedTool(t *testing.T) {
	inWorld(t, allowing(wordCount), func(t *testing.T, w *world) {
		s := w.stranger("words")
		s.serves(utp.Read, `{"suspend_timeout_seconds":60}`)
		w.work(one(wordCount))
		a := w.begin()
		_, _, called := s.command()
		if _, err := operate[jsontext.Value](w, api.OpRemove, api.RemoveRequest{Tool: wordCount}); err != nil {
			t.Fatal(err)
		}
		w.reaches(a.Turn, turn.Dispatched)
		if err := s.offers(s.result(called, "theirs_1")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		w.over(a.Turn)
	})
}
