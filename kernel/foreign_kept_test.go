package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/kernel/turn"
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
