package kernel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// lateWord demands the refusal of a word that came too late, and returns how it says that
// the question has ended.
func lateWord(t *testing.T, err error) (api.Closed, string) {
	t.Helper()
	fault, is := errors.AsType[*api.Fault](err)
	if !is || fault.Code != utp.CodeDone || fault.Closed == nil {
		t.Fatalf("the refusal is %#v; want one that says how the question ended", err)
	}
	return *fault.Closed, fault.Message
}

// TestLateIsTold: who answers after the deadline is told that the time ended, when, and
// that nothing was done; before the kernel has noticed and after it, also for more time.
func TestLateIsTold(t *testing.T) {
	for _, noticed := range []bool{false, true} {
		t.Run(fmt.Sprintf("noticed %v", noticed), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				q := w.asked()
				if noticed {
					w.pass(5 * time.Minute)
				} else {
					w.clock.suspend(5 * time.Minute)
				}
				for _, by := range []func() error{
					func() error { _, err := w.reply(q, "accept"); return err },
					func() error {
						_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Question: q.Number, Decision: "accept", By: person})
						return err
					},
					func() error { _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person}); return err },
				} {
					got, message := lateWord(t, by())
					if want := (api.Closed{Question: q.Number, Resolution: "expired", At: q.Deadline}); got != want {
						t.Errorf("it ended as %+v; want %+v", got, want)
					}
					if !strings.Contains(message, "too late: the time to answer question 1 ended at 00:05:00 UTC; nothing was done") {
						t.Errorf("the message is %q", message)
					}
				}
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// TestStampedLate: an answer that arrives in time and is stamped after the deadline is too
// late, and its sender is told so.
func TestStampedLate(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, At: q.Deadline})
		if got, message := lateWord(t, err); got.Resolution != "expired" || !strings.Contains(message, "nothing was done") {
			t.Errorf("it ended as %+v: %s", got, message)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestLoserIsTold: who answers second is told who was first, where, and what was decided.
func TestLoserIsTold(t *testing.T) {
	for word, resolution := range map[string]string{"accept": "accepted", "reject": "rejected"} {
		t.Run(word, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				first := w.asked()
				w.pass(time.Second)
				if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: first.Token, By: person}); err != nil {
					t.Fatal(err)
				}
				q := w.asked()
				w.say(q, word)
				at := w.clock.now()
				for _, r := range []api.ReplyRequest{
					{Token: q.Token, Decision: "accept", By: "bob", Surface: "page"},
					{Token: q.Token, Decision: "modify", By: "bob"},
					{Question: q.Number, Decision: "accept", By: "bob"},
					{Token: first.Token, Decision: "reject", By: "bob"},
				} {
					_, err := w.hub.Answer(w.ctx, r)
					got, message := lateWord(t, err)
					want := api.Closed{Question: q.Number, Resolution: resolution, By: person, Surface: "terminal", At: got.At}
					if got != want || !got.At.Equal(at) {
						t.Errorf("%+v: it ended as %+v; want %+v at %v", r, got, want, at)
					}
					if !strings.Contains(message, "was "+resolution+` by "ada" at "terminal" at 00:00:01 UTC`) {
						t.Errorf("the message is %q", message)
					}
				}
				w.over(a.Turn)
			})
		})
	}
}

// TestNoAfterAYes: a no that comes when a yes cannot be taken back any more is told whose yes
// it was, and what can still be done.
func TestNoAfterAYes(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a, _, release := held(w)
		q := api.QuestionRow{Token: w.cell(`SELECT token FROM questions`)}
		_, err := w.reply(q, "reject")
		fault, is := errors.AsType[*api.Fault](err)
		if !is || !strings.Contains(fault.Message, `question 1 was accepted by "ada" at "terminal"`) || !strings.Contains(fault.Message, "only be stopped") {
			t.Errorf("while it runs: %v", err)
		}
		release()
		w.succeeded(a.Turn)
		_, err = w.reply(q, "reject")
		if got, _ := lateWord(t, err); got.Resolution != "accepted" || got.By != person {
			t.Errorf("at the end: %+v", got)
		}
	})
}

// TestLoserWithoutRights: who may not answer a question learns nothing of how it ended.
func TestLoserWithoutRights(t *testing.T) {
	inWorld(t, ruled(&rights{}), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		first := w.asked()
		if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: first.Token, By: person}); err != nil {
			t.Fatal(err)
		}
		q := w.asked()
		w.say(q, "reject")
		for _, token := range []string{q.Token, first.Token} {
			for _, by := range []string{"bob", agentName} {
				_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: token, Decision: "accept", By: by})
				if fault, is := errors.AsType[*api.Fault](err); !is || fault.Closed != nil {
					t.Errorf("%s is told %v", by, err)
				}
			}
		}
		w.over(a.Turn)
	})
}

// TestParked: of a turn that is not under way here a yes is refused and says why, since it
// would start nothing; a no is taken, and a stop.
func TestParked(t *testing.T) {
	park := func(w *world) (api.EnqueueAnswer, api.QuestionRow) {
		w.work(one(burn))
		a := w.begin()
		if q := w.asked(); q.Parked {
			w.t.Errorf("it is parked: %+v", q)
		}
		w.unresumed = true
		w.restart()
		q := w.asked()
		if !q.Parked {
			w.t.Errorf("it is not parked: %+v", q)
		}
		for _, word := range []func() error{
			func() error { _, err := w.reply(q, "accept"); return err },
			func() error { _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person}); return err },
		} {
			wantFault(w.t, word(), utp.CodeParked)
		}
		if w.last(a.Turn).State != turn.Asked {
			w.t.Errorf("the call is %s", w.last(a.Turn).State)
		}
		return a, q
	}
	t.Run("taken up", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			a, q := park(w)
			if err := w.now.kernel.Resume(w.ctx, a.Turn); err != nil {
				t.Fatal(err)
			}
			if now := w.asked(); now.Parked || now.Token != q.Token {
				t.Errorf("it is %+v", now)
			}
			w.say(q, "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("rejected", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			a, q := park(w)
			w.say(q, "reject") // with that it goes on, and nobody has to resume it
			w.over(a.Turn)
			w.effectsAre(0)
		})
	})
	t.Run("stopped", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			a, _ := park(w)
			if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
				t.Fatal(err)
			}
			w.over(a.Turn)
			w.effectsAre(0)
		})
	})
	t.Run("nobody is shown it", func(t *testing.T) {
		inWorld(t, sendRetry, func(t *testing.T, w *world) {
			a, q := park(w)
			_, err := w.shows(q)
			wantFault(t, err, utp.CodeParked)
			w.pass(time.Minute)
			if now := w.asked(); now.Token != q.Token {
				t.Errorf("it is %+v", now)
			}
			if err := w.now.kernel.Resume(w.ctx, a.Turn); err != nil {
				t.Fatal(err)
			}
			w.settle()
			w.isShown(w.asked())
			w.say(w.asked(), "accept")
			w.succeeded(a.Turn)
		})
	})
}

// TestWishOfTheOwner: how long questions stay open is the owner's wish, if there is one; the
// turn's own word comes before it, and policy and tool behind.
func TestWishOfTheOwner(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		prefer := func(seconds *int) (a api.PreferAnswer, err error) {
			err = w.as(kernel.HubCaller, person, api.OpPrefer, api.PreferRequest{Person: person, Preferences: api.Preferences{AnswerSeconds: seconds}}, &a)
			return a, err
		}
		set := func(n int) *int { return &n }
		if a, err := prefer(nil); err != nil || *a.AnswerSeconds != 0 || a.Person != person {
			t.Errorf("without a wish: %+v, %v", a, err)
		}
		for _, bad := range []int{-1, 1, api.MinAnswerSeconds - 1, consent.MaxSeconds + 1} {
			_, err := prefer(&bad)
			wantFault(t, err, utp.CodeBadRequest)
		}
		wantFault(t, w.as(kernel.HubCaller, person, api.OpPrefer, api.PreferRequest{Preferences: api.Preferences{AnswerSeconds: set(5)}}, nil), utp.CodeBadRequest)
		if a, err := prefer(set(consent.MaxSeconds)); err != nil || *a.AnswerSeconds != consent.MaxSeconds {
			t.Errorf("no time limit: %+v, %v", a, err)
		}
		w.restart() // it is kept
		w.work(one(burn), one(shred), one(burn))
		a := w.begin()
		q := w.asked()
		w.isShown(q)
		w.lasts(q, 24*time.Hour)
		if !strings.Contains(string(q.Body), "There is no time limit, but a question stays open for 1 day at most") {
			t.Errorf("it is asked as %s", q.Body)
		}
		_, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person})
		wantFault(t, err, utp.CodeConflict)
		if _, err := prefer(set(90)); err != nil {
			t.Error(err)
		}
		w.lasts(w.asked(), 24*time.Hour) // what was asked stays as it was asked
		w.say(q, "reject")
		q = w.askedAfter(q)
		w.isShown(q)
		w.lasts(q, 90*time.Second)
		if _, err := prefer(set(0)); err != nil {
			t.Error(err)
		}
		w.say(q, "reject")
		q = w.askedAfter(q)
		w.lasts(q, 5*time.Minute)
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestManyQuestions: every open question is listed, however many there are, each once.
func TestManyQuestions(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		const turns = 1300
		open := func(n int) consent.Question {
			return consent.Question{
				Number: n, Kind: consent.Confirmation, SessionID: "sess_1", Token: fmt.Sprintf("rpl_%d", n), AskedAt: w.clock.now(),
				ClockFrom: w.clock.now(), Timeout: 300, Length: 300, Default: consent.Reject, Irreversible: true, Risk: consent.High, State: consent.Open,
			}
		}
		number := 0
		err := w.now.store.Update(w.ctx, func(tx store.Tx) error {
			number = 0
			for n := range turns {
				r := store.Record{Created: w.clock.now().Add(time.Duration(n%7) * time.Second), State: turn.State{
					Turn: fmt.Sprintf("turn_%d", n), Session: fmt.Sprintf("sess_%d", n), Project: w.project, Channel: "public", Agent: "other", Owner: person,
					Status: turn.Suspended,
				}}
				more := n % 3 * (n % 2)
				if n < turns/2 {
					more = 0 // pages that end with their turns, then pages that are full before
				}
				for range 1 + more {
					number++
					r.Questions = append(r.Questions, open(number))
				}
				if n%5 == 0 {
					r.Questions[0].State = consent.Accepted
				}
				if err := tx.Save(store.Batch{Turn: &r}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := number - turns/5
		seen, last := map[int]bool{}, ""
		for _, q := range w.questions() {
			if seen[q.Number] {
				t.Fatalf("question %d is listed twice", q.Number)
			}
			seen[q.Number] = true
			last = q.Session
		}
		if len(seen) != want || last == "" {
			t.Errorf("%d questions are listed; %d are open", len(seen), want)
		}
	})
}

// TestManyQuestionsOfOneTurn: the questions of a turn fit into one answer, their events as
// far as there is room.
func TestManyQuestionsOfOneTurn(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		const many = 256 / testkit.Slowdown
		var step []worker.Call
		for i := range many {
			step = append(step, worker.Call{Key: fmt.Sprint(i), Tool: burn, Args: map[string]any{"name": strings.Repeat("x", 100)}})
		}
		w.work(step)
		a := w.begin()
		w.until("all questions are to be open", func() bool { return len(w.questions()) == many })
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		w.over(a.Turn)
	})
}
