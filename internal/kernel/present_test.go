package kernel_test

import (
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// sendRetry is an installation in which people come and go.
func sendRetry(w *world) { w.patient = true }

// shows says that the person is shown a question, as it was asked under its token.
func (w *world) shows(q api.QuestionRow) (api.ReplyAnswer, error) {
	var a api.ReplyAnswer
	err := rpc.Ask(w.ctx, w.person, api.OpPresent, api.ReplyRequest{Token: q.Token, By: person, Surface: "page"}, &a)
	return a, err
}

func (w *world) isShown(q api.QuestionRow) {
	w.t.Helper()
	if _, err := w.shows(q); err != nil {
		w.t.Fatal(err)
	}
}

// lasts checks how long a question is open from now.
func (w *world) lasts(q api.QuestionRow, want time.Duration) {
	w.t.Helper()
	if left := q.Deadline.Sub(w.clock.now()).Round(time.Second); left != want {
		w.t.Errorf("question %d is open for %v; want %v", q.Number, left, want)
	}
}

// TestShownAtOnce: shown within the grace, a question runs from its asking, and nobody hears
// of it twice.
func TestShownAtOnce(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		if !q.Unseen {
			t.Error("nobody has said that it was shown")
		}
		w.lasts(q, 5*time.Minute)
		w.pass(4 * time.Second)
		events := len(w.bodies(a.Session))
		w.isShown(q)
		w.pass(time.Minute)
		again := w.asked()
		if again.Token != q.Token || !again.Deadline.Equal(q.Deadline) || again.Unseen || len(w.bodies(a.Session)) != events {
			t.Errorf("it was %+v and is %+v, with %d events more", q, again, len(w.bodies(a.Session))-events)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestNoToShown: a no counts that was said to a question by its number and the token from before it was shown to somebody. A yes
// does not: it is not known what was read.
func TestNoToShown(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.pass(5 * time.Second)
		before := w.asked()
		w.clock.suspend(2 * time.Hour)
		w.isShown(before)
		if now := w.asked(); now.Token == before.Token {
			t.Fatal("it has its token from before: the test shows nothing")
		}
		r := api.ReplyRequest{Question: before.Number, Token: before.Token, By: person, Surface: "terminal", Decision: "accept"}
		if _, err := w.answer(r); err == nil {
			t.Error("an accept of what was asked before counts")
		}
		r.Decision = "reject"
		if said, err := w.answer(r); err != nil || said.Resolution != "rejected" {
			t.Errorf("reject: %+v, %v", said, err)
		}
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestShownLater: a question that nobody is shown waits; its time starts when somebody is,
// under the same number and digest and with a token of its own, and that is not an extension.
func TestShownLater(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		digest := w.last(a.Turn).Digest
		w.pass(5 * time.Second)
		waiting := w.asked()
		w.lasts(waiting, 24*time.Hour)
		w.clock.suspend(2 * time.Hour)
		w.isShown(waiting)
		shown := w.asked()
		w.lasts(shown, 5*time.Minute)
		if shown.Number != q.Number || shown.Extensions != 0 || shown.Unseen || !waiting.Unseen || w.last(a.Turn).Digest != digest {
			t.Errorf("asked as %+v, waiting as %+v, shown as %+v", q, waiting, shown)
		}
		for _, old := range []api.QuestionRow{q, waiting} {
			_, err := w.reply(old, "accept")
			wantFault(t, err, utp.CodeDone)
		}
		w.pass(4 * time.Minute)
		w.say(shown, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
		if n := w.cell(`SELECT count(*) FROM tokens`); n != "3" {
			t.Errorf("%s tokens are known; want three", n)
		}
	})
}

// TestNeverShown: a question that nobody is ever shown ends after a day, and nothing is done.
func TestNeverShown(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.asked()
		w.pass(5 * time.Second)
		w.clock.suspend(24*time.Hour - 5*time.Second)
		w.asked()
		w.pass(5 * time.Second)
		state := w.over(a.Turn)
		if c := state.Calls[0]; c.Outcome.Code != utp.CodeConsentExpired {
			t.Errorf("the call ended as %s %+v", c.State, c.Outcome)
		}
		w.effectsAre(0)
	})
}

// TestShownAgainAndAgain: the word comes twice, late, from several hubs, about tokens that
// are dead and questions that are closed. Only the first about the live token counts.
func TestShownAgainAndAgain(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		w.pass(5 * time.Second)
		w.clock.suspend(time.Hour)
		waiting := w.asked()
		var hubs sync.WaitGroup
		for range 5 {
			hubs.Go(func() { w.isShown(waiting) })
		}
		hubs.Wait()
		shown := w.asked()
		w.pass(time.Minute)
		for _, again := range []api.QuestionRow{q, waiting, shown, shown} {
			w.isShown(again)
		}
		if now := w.asked(); now.Token != shown.Token || !now.Deadline.Equal(shown.Deadline) {
			t.Errorf("it is %+v; it was %+v", now, shown)
		}
		w.say(shown, "accept")
		call := w.last(a.Turn)
		for _, again := range []api.QuestionRow{q, waiting, shown} {
			w.isShown(again)
		}
		if now := w.last(a.Turn); now.State != turn.Accepted || now.StartBy != call.StartBy || now.DispatchAt != call.DispatchAt {
			t.Errorf("the accepted call is %+v; it was %+v", now, call)
		}
		w.succeeded(a.Turn)
		w.isShown(shown)
		w.effectsAre(1)
		if n := w.cell(`SELECT count(*) FROM tokens`); n != "3" {
			t.Errorf("%s tokens are known; want three", n)
		}
	})
}

// TestShownToNobodyWhoCounts: being shown to the agent, or to who may not answer, starts no
// clock; nor does a word that names nothing.
func TestShownToNobodyWhoCounts(t *testing.T) {
	inWorld(t, func(w *world) { sendRetry(w); ruled(&rights{})(w) }, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		w.pass(time.Minute)
		q := w.asked()
		present := func(r api.ReplyRequest) error { return rpc.Ask(w.ctx, w.person, api.OpPresent, r, nil) }
		for _, by := range []string{"bob", owner, agentName} {
			wantFault(t, present(api.ReplyRequest{Token: q.Token, By: by}), utp.CodeAuthFailed)
		}
		wantFault(t, present(api.ReplyRequest{Token: "rpl_none", By: person}), utp.CodeNotFound)
		wantFault(t, present(api.ReplyRequest{Question: q.Number, By: person}), utp.CodeBadRequest)
		if now := w.asked(); now.Token != q.Token || !now.Unseen {
			t.Errorf("it is %+v; it was %+v", now, q)
		}
		w.isShown(q)
		w.say(w.asked(), "reject")
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestShownAcrossCrashes: a question that was shown keeps its deadline over a crash; one that
// nobody was shown loses no time by it.
func TestShownAcrossCrashes(t *testing.T) {
	down := func(w *world, d time.Duration) {
		w.now.die()
		<-w.now.done
		w.clock.suspend(d)
		w.restart()
		w.settle()
	}
	t.Run("shown", func(t *testing.T) {
		inWorld(t, sendRetry, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			w.isShown(q)
			down(w, 4*time.Minute)
			w.lasts(w.asked(), time.Minute)
			w.pass(time.Minute)
			w.over(a.Turn)
			w.effectsAre(0)
		})
	})
	for name, away := range map[string]time.Duration{"within the grace": time.Second, "for less than its time": time.Minute, "for longer than its time": time.Hour} {
		t.Run("not shown, "+name, func(t *testing.T) {
			inWorld(t, sendRetry, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.asked()
				down(w, away)
				w.pass(5 * time.Second)
				q := w.asked()
				if !q.Unseen || q.Deadline.Before(w.clock.now().Add(23*time.Hour)) {
					t.Errorf("it is %+v", q)
				}
				down(w, time.Hour)
				w.isShown(q)
				w.lasts(w.asked(), 5*time.Minute)
				w.say(w.asked(), "accept")
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
	t.Run("a crash as it is shown", func(t *testing.T) {
		inWorld(t, sendRetry, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			w.pass(time.Minute)
			q := w.asked()
			w.now.mu.Lock()
			w.now.committed = w.now.die // the answer to the hub is lost
			w.now.mu.Unlock()
			asked := w.clock.now()
			if _, err := w.shows(q); err == nil {
				t.Error("the word was answered")
			}
			w.restart()
			w.isShown(q)
			now := w.asked()
			if !now.Deadline.Equal(asked.Add(5 * time.Minute)) {
				t.Errorf("the deadline is %v; want 5 minutes after %v, when it was recorded", now.Deadline, asked)
			}
			w.say(now, "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
}

// TestTakenUpWherePeopleStay: who takes a turn up at a terminal of its own is shown what
// waits.
func TestTakenUpWherePeopleStay(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.pass(5 * time.Second)
		w.clock.suspend(time.Hour)
		waiting := w.asked()
		w.patient = false
		w.restart()
		q := w.asked()
		w.lasts(q, 5*time.Minute)
		if q.Token == waiting.Token || q.Number != waiting.Number {
			t.Errorf("it waited as %+v and is asked as %+v", waiting, q)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestShownUnknownFate: a question about an unknown fate waits to be shown as well.
func TestShownUnknownFate(t *testing.T) {
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		a, _, release := held(w)
		w.services[0].kill()
		release()
		w.reaches(a.Turn, turn.Unknown)
		w.pass(5 * time.Second)
		w.clock.suspend(time.Hour)
		q := w.asked()
		if q.Kind != "clarification" || !q.Unseen {
			t.Fatalf("it is %+v", q)
		}
		w.isShown(q)
		w.lasts(w.asked(), 5*time.Minute)
		w.say(w.asked(), "leave")
		w.over(a.Turn)
	})
}

// TestImpatient: where nobody comes and goes the time starts with the asking.
func TestImpatient(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		if q := w.asked(); q.Unseen {
			t.Errorf("it is %+v", q)
		}
		w.pass(5 * time.Minute)
		if state := w.over(a.Turn); state.Calls[0].Outcome.Code != utp.CodeConsentExpired {
			t.Errorf("the call ended as %+v", state.Calls[0].Outcome)
		}
	})
}

// TestShownByAStream: with a hub between, a question is shown by being heard. Who hears it at
// once hears it once; who comes later hears it once as well, with its own time and the live
// token, and not as it waited.
func TestShownByAStream(t *testing.T) {
	approver := access.Principal{Name: person, Roles: []access.Role{access.Approver}, Surface: "page"}
	asks := func(all []hub.Delivery, session string) (tokens []string) {
		for _, d := range all {
			if e, err := aaep.DecodeEvent(d.Raw); err == nil && d.Session == session {
				if p, is := e.Payload.(aaep.AwaitingConfirmation); is {
					tokens = append(tokens, p.ReplyToken)
				}
			}
		}
		return tokens
	}
	inWorld(t, sendRetry, func(t *testing.T, w *world) {
		f := w.feed(approver, "")
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		w.pass(10 * time.Second)
		if now := w.asked(); now.Unseen || now.Token != q.Token {
			t.Errorf("heard at once it is %+v", now)
		}
		if heard := asks(f.end(), a.Session); len(heard) != 1 || heard[0] != q.Token {
			t.Errorf("heard %v; want %s once", heard, q.Token)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)

		b := w.begin()
		w.pass(10 * time.Second)
		waiting := w.askedAfter(q)
		if !waiting.Unseen {
			t.Errorf("with nobody there it is %+v", waiting)
		}
		f = w.feed(approver, "")
		w.pass(time.Second)
		shown := w.askedAfter(q)
		w.lasts(shown, 5*time.Minute-time.Second)
		if heard := asks(f.end(), b.Session); len(heard) != 1 || heard[0] != shown.Token || shown.Token == waiting.Token {
			t.Errorf("heard %v; want %s once", heard, shown.Token)
		}
		w.say(shown, "accept")
		w.succeeded(b.Turn)
		w.effectsAre(2)
	})
}
