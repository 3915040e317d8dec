package turn_test

import (
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// inquiring is a turn whose one call has started, and asks.
func inquiring(t *testing.T) (w *world, within, inquiry string) {
	t.Helper()
	w = newWorld(utp.Read, turn.Allow, false, false)
	within = w.state.Calls[0].ID
	c := w.call(utp.Read, turn.Allow, false)
	c.Kind, c.Within = turn.QuestionCall, within
	if err := w.one(turn.Adopt{Call: c}); err == nil {
		t.Error("a call that has not started asks")
	}
	w.must(turn.Start{Call: within, Owner: "o1", Target: "files", Lease: 30 * time.Second, Check: turn.Check{Call: within, Digest: "d0"}})
	w.must(turn.Adopt{Call: c})
	return w, within, c.ID
}

// TestInquiryEndsWithItsCall: what a service asks is taken back once its call is not its any more, whichever way that comes. While it is
// open the step waits for the call alone.
func TestInquiryEndsWithItsCall(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(w *world, within string){
		"finished": func(w *world, within string) {
			w.must(turn.Finish{Call: within, Owner: "o1", Fence: 1, Outcome: turn.Outcome{Status: utp.StatusSuccess, Digest: "r1"}})
		},
		"silent":  func(w *world, _ string) { w.now = w.now.Add(31 * time.Second); w.must(turn.Tick{}) },
		"gone":    func(w *world, _ string) { w.must(turn.Orphan{}) },
		"stopped": func(w *world, _ string) { w.must(turn.StopTurn{Stop: turn.Stop{By: "ada"}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, within, inquiry := inquiring(t)
			if c, _ := w.state.Find(inquiry); c.State != turn.Asked || w.state.Waiting() != 1 {
				t.Fatalf("it is %s, and the step waits for %d calls", c.State, w.state.Waiting())
			}
			ends(w, within)
			if c, _ := w.state.Find(inquiry); c.State != turn.Closed {
				t.Errorf("it is %s", c.State)
			}
		})
	}
}

// TestInquiryIsNoConsent: the answer is recorded, and neither a yes nor a start comes of it.
func TestInquiryIsNoConsent(t *testing.T) {
	t.Parallel()
	w, _, inquiry := inquiring(t)
	c, _ := w.state.Find(inquiry)
	if err := w.one(turn.Answered{Question: c.Question, Accept: true, By: "ada"}); err == nil {
		t.Error("it was consented to")
	}
	before := len(w.state.Calls)
	w.must(turn.Responded{Question: c.Question, By: "ada", Outcome: turn.Outcome{Status: utp.StatusSuccess}})
	c, _ = w.state.Find(inquiry)
	if c.State != turn.Finished || c.Consent != nil || len(w.state.Calls) != before {
		t.Errorf("it is %+v", c)
	}
	if slices.ContainsFunc(w.state.Calls, func(c turn.Call) bool { return c.Applied }) {
		t.Error("the step has a result")
	}
}
