package kernel_test

import (
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// rights say who may approve for whom.
type rights struct {
	mu    sync.Mutex
	given map[[2]string]bool // person and owner
	gone  string             // a credential that does not count any more
	alone string             // a credential behind which nobody is known to be
}

func (r *rights) set(who, owner string, may bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.given == nil {
		r.given = map[[2]string]bool{}
	}
	r.given[[2]string{who, owner}] = may
}

func (r *rights) MayApprove(who, credential, owner string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.given[[2]string{who, owner}] && (credential == "" || credential != r.gone)
}

func (r *rights) MayAccept(credential string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return credential == "" || credential != r.alone
}

// revoke ends a credential, and no right of its person.
func (r *rights) revoke(credential string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = credential
}

const owner = "olga"

// owned enqueues a turn for another person than the one who asks for it.
func (w *world) owned() api.EnqueueAnswer {
	w.t.Helper()
	a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Owner: owner, Args: jsontext.Value(`{}`)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.follow(a.Session)
	if got := w.turn(a.Turn).Owner; got != owner {
		w.t.Errorf("the turn's owner is %q; want %q", got, owner)
	}
	return a
}

// ruled is a world in which the person may approve for the owner, and the agent as well.
func ruled(r *rights) func(*world) {
	r.set(person, owner, true)
	r.set(agentName, owner, true)
	return func(w *world) { w.approvers = r }
}

// TestApproverAnswers: only who may approve for the turn's owner answers, and the agent
// never, whatever the rights say.
func TestApproverAnswers(t *testing.T) {
	inWorld(t, ruled(&rights{}), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		q := w.asked()
		for _, by := range []string{"bob", owner, agentName} {
			for _, word := range []string{"accept", "reject"} {
				t.Log(by, word)
				_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: q.Token, Decision: word, By: by, Surface: "page"})
				wantFault(t, err, utp.CodeAuthFailed)
			}
		}
		if again := w.asked(); again.Token != q.Token || again.Number != q.Number || w.last(a.Turn).State != turn.Asked {
			t.Errorf("the question is %+v; it was %+v", again, q)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestAcceptNeedsAPerson: with a credential behind which nobody is known to be, only a no counts, whatever a hub
// forwards.
func TestAcceptNeedsAPerson(t *testing.T) {
	r := &rights{alone: "grant:1"}
	inWorld(t, ruled(r), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		q := w.asked()
		_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Credential: "grant:1", Surface: "terminal"})
		wantFault(t, err, utp.CodeAuthFailed)
		if again := w.asked(); again.Token != q.Token || w.last(a.Turn).State != turn.Asked {
			t.Errorf("the question is %+v; it was %+v", again, q)
		}
		if _, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: q.Token, Decision: "reject", By: person, Credential: "grant:1", Surface: "terminal"}); err != nil {
			t.Error(err)
		}
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestApproverExtendsAndTakesBack: more time, and the undo in either form, are an
// approver's words too.
func TestApproverExtendsAndTakesBack(t *testing.T) {
	inWorld(t, ruled(&rights{}), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		q := w.asked()
		for _, by := range []string{"bob", agentName, ""} {
			_, err := w.hub.Extend(w.ctx, api.ReplyRequest{Question: q.Number, By: by, Surface: "page"})
			if by == "" { // the hub's own name, which is the person's here
				if err != nil {
					t.Errorf("the hub itself: %v", err)
				}
				continue
			}
			wantFault(t, err, utp.CodeAuthFailed)
		}
		w.say(w.asked(), "accept")
		for _, by := range []string{"bob", agentName} {
			_, err := w.hub.Undo(w.ctx, api.ReplyRequest{Question: q.Number, By: by, Surface: "page"})
			wantFault(t, err, utp.CodeAuthFailed)
			_, err = w.hub.Answer(w.ctx, api.ReplyRequest{Question: q.Number, Decision: "reject", By: by, Surface: "page"})
			wantFault(t, err, utp.CodeAuthFailed)
		}
		if _, err := w.hub.Undo(w.ctx, api.ReplyRequest{Question: q.Number, By: person, Surface: "page"}); err != nil {
			t.Error(err)
		}
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestApproverOfAnother: without rights of its own the kernel takes anybody's word for
// whom a hub speaks, but never the agent's.
func TestApproverOfAnother(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		q := w.asked()
		_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: q.Token, Decision: "accept", By: agentName})
		wantFault(t, err, utp.CodeAuthFailed)
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestApproverLosesTheRight: a right that is taken away after the yes takes the yes with
// it, before the command leaves and before the call starts.
func TestApproverLosesTheRight(t *testing.T) {
	for _, state := range []turn.CallState{turn.Accepted, turn.Dispatched} {
		t.Run(string(state), func(t *testing.T) {
			r := &rights{}
			inWorld(t, ruled(r), func(t *testing.T, w *world) {
				w.services[0].conn.cut.Store(true)
				w.work(one(burn))
				a := w.owned()
				q := w.accepts()
				call := w.reaches(a.Turn, state).ID
				r.set(person, owner, false)
				r.set("bob", owner, true)
				w.services[0].conn.cut.Store(false)
				next := w.staleThenAsked(a.Turn, call, q, "approver")
				w.pass(10 * time.Second)
				w.effectsAre(0)
				_, err := w.reply(next, "accept")
				wantFault(t, err, utp.CodeAuthFailed)
				if _, err := w.answer(api.ReplyRequest{Token: next.Token, Decision: "accept", By: "bob"}); err != nil {
					t.Fatal(err)
				}
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestApproverLosesTheCredential: what the person had shown when they said yes is revoked
// before the call leaves. The person keeps the right by another credential, and is asked
// again all the same.
func TestApproverLosesTheCredential(t *testing.T) {
	r := &rights{}
	inWorld(t, ruled(r), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		q := w.asked()
		yes := api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Credential: "tok_phone", Surface: "phone"}
		if _, err := w.answer(yes); err != nil {
			t.Fatal(err)
		}
		call := w.reaches(a.Turn, turn.Accepted).ID
		r.revoke("tok_phone")
		next := w.staleThenAsked(a.Turn, call, q, "approver")
		w.pass(10 * time.Second)
		w.effectsAre(0)
		yes.Token = next.Token
		_, err := w.hub.Answer(w.ctx, yes)
		wantFault(t, err, utp.CodeAuthFailed)
		w.say(next, "reject")
		w.over(a.Turn)
	})
}
