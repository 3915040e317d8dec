package kerneltest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	box = "box_out"
	// untilDone is longer than a yes can be taken back, and shorter than any lease.
	untilDone = 10 * time.Second
)

// Fill leaves a ledger as a kernel does that dies in the middle of things: with a turn that has ended and filled a box, one whose
// question is open, a standing permission of which one use is left, and a turn that waits for three others, of which the
// first has ended, the second is claimed and the last is queued.
func Fill(t *testing.T, ledger store.Ledger) {
	t.Helper()
	s := newScene(t, ledger)
	request := api.EnqueueRequest{Agent: lead, Args: jsontext.Value(`{}`), Owner: person, Request: "look", Boxes: api.Boxes{OutputBox: box}}
	s.must(kernel.HubCaller, person, api.OpEnqueue, request, nil)
	w := s.claims(lead, "wrk_box")
	w.calls(one(look, `{}`))
	s.mustFinish(s.mustStart(w.call(0).ID))
	w.result()
	w.mustEnd(utp.StatusSuccess)

	w = s.paints("wrk_permits")
	q := s.questions()[0]
	reply := api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Surface: "terminal", Standing: &api.Standing{Uses: 1, Scope: api.ScopeAgent}}
	s.must(kernel.HubCaller, person, api.OpAnswer, reply, nil)
	s.pass(untilDone) // the time to take it back
	s.mustFinish(s.mustStart(w.call(0).ID))
	w.result()
	w.mustEnd(utp.StatusSuccess)

	s.begin()
	s.claims(lead, "wrk_asks").calls(one(burn, `{}`))
	s.begin()
	s.claims(lead, "wrk_joins").calls(joins(3, ""))
	first, _ := s.child("wrk_1")
	first.mustEnd(utp.StatusSuccess)
	s.child("wrk_2")
}

// paints begins a turn whose call can be undone and has to be asked about.
func (s *scene) paints(name string) *seat {
	s.t.Helper()
	s.begin()
	w := s.claims(lead, name)
	w.calls(one(paint, `{"wall":1}`))
	return w
}

// GoOn goes on with what Fill has left behind, in whatever version of the ledger: nothing of it is lost, nothing is done
// twice, and everything ends.
func GoOn(t *testing.T, ledger store.Ledger) {
	t.Helper()
	s := &scene{t: t, ledger: ledger, now: 2 * untilDone}
	s.start()
	var boxes api.BoxesAnswer
	s.must(kernel.HubCaller, person, api.OpBoxes, api.BoxesRequest{Owner: person, Box: box}, &boxes)
	if len(boxes.Entries) == 0 || boxes.Entries[0].Agent != lead {
		t.Errorf("the box has %+v", boxes.Entries)
	}
	byWorker := map[string]*seat{}
	for _, row := range s.open() {
		st := s.turn(row.Turn)
		w := &seat{scene: s, agent: st.Agent, name: st.Worker, claim: api.ClaimAnswer{Turn: st.Turn, Epoch: st.Epoch, Nonce: st.Nonce, Step: st.Step}}
		byWorker[st.Worker] = w
	}
	if len(byWorker) != 4 || len(s.questions()) != 1 {
		t.Fatalf("%d turns and %d questions are open; want 4 and 1", len(byWorker), len(s.questions()))
	}

	w := s.paints("wrk_uses")
	if c := w.call(0); c.Decision != turn.Allow || len(s.questions()) != 1 {
		t.Errorf("the permission does not hold: %s %s", c.State, c.Decision)
	}
	s.mustFinish(s.mustStart(w.call(0).ID))
	w.result()
	w.mustEnd(utp.StatusSuccess)

	s.must(kernel.HubCaller, person, api.OpAnswer, api.ReplyRequest{Token: s.questions()[0].Token, Decision: "reject", By: person, Surface: "terminal"}, nil)
	asks, joins := byWorker["wrk_asks"], byWorker["wrk_joins"]
	if r := asks.result(); r.Code != utp.CodeConsentDeclined {
		t.Errorf("what was rejected has the result %+v", r)
	}
	asks.mustEnd(utp.StatusSuccess)
	byWorker["wrk_2"].mustEnd(utp.StatusSuccess)
	last, _ := s.child("wrk_3")
	last.mustEnd(utp.StatusSuccess)
	joins.joined(utp.StatusSuccess, "success", "success", "success")
	joins.closes()
}
