package kernel_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// commandsLeft counts the commands that the kernels have published from now on.
func (w *world) commandsLeft() *atomic.Int32 {
	var n atomic.Int32
	w.bus.published(func(subject string, _ map[string][]string) error {
		if kind, _, _ := route(subject); kind == isCommand {
			n.Add(1)
		}
		return nil
	})
	return &n
}

// waiting counts the messages that have not left and are not put aside.
func (w *world) waiting() string {
	w.t.Helper()
	return w.cell(`SELECT count(*) FROM outbox WHERE published_at IS NULL AND dead_at IS NULL`)
}

// TestLeftBehind: a turn that an earlier process left behind, and that nobody has taken
// up, stands still: nothing of it leaves, nothing of it starts, and nobody may add to it.
// Taken up, it goes on from there.
func TestLeftBehind(t *testing.T) {
	inWorld(t, lasting(nil), func(t *testing.T, w *world) {
		running := w.gate() // the turn does not end before the foreign command has arrived
		w.effects.at("begun", running.pass)
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.bus.down.Store(true)
		call := w.reaches(a.Turn, turn.Dispatched).ID
		w.unresumed = true
		w.restart()
		w.bus.down.Store(false)
		left := w.commandsLeft()
		w.pass(10 * time.Second)
		if n := w.waiting(); left.Load() != 0 || n != "1" {
			t.Errorf("%d commands left, %s wait; want the one to wait", left.Load(), n)
		}
		start := api.StartRequest{Call: call, Owner: "own_1"}
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpStart, start, nil), utp.CodeStale)
		stranger := foreign{card: foreignCard(w, a.Turn, burn)}
		stranger.arrives(w)
		if n := w.cell(`SELECT count(*) FROM calls`); n != "1" || len(w.questions()) != 0 {
			t.Errorf("a foreign command was adopted: %s calls, questions %v", n, w.questions())
		}
		w.effectsAre(0)

		if err := w.now.kernel.Resume(w.ctx, a.Turn); err != nil {
			t.Fatal(err)
		}
		w.settle()
		stranger.arrives(w)
		if n := w.cell(`SELECT count(*) FROM calls`); n != "2" {
			t.Errorf("%s calls; now the foreign command is to be one of them", n)
		}
		running.open()
		w.succeeded(a.Turn)
		w.effectsAre(1)
		w.pass(3 * time.Second) // that a message has left is told to the ledger a moment later
		if left.Load() == 0 || w.waiting() != "0" {
			t.Errorf("%d commands left, %s wait", left.Load(), w.waiting())
		}
	})
}

// TestLeftBehindIsNotClaimed: nor does a worker get it before it is taken up.
func TestLeftBehindIsNotClaimed(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		w.settle()
		w.unresumed = true
		w.restart()
		if got := w.claims("wrk_hand"); got.Turn != "" {
			t.Errorf("claimed %+v; want nothing", got)
		}
		if err := w.now.kernel.Resume(w.ctx, a.Turn); err != nil {
			t.Fatal(err)
		}
		h := w.hand()
		h.deliver()
		w.succeeded(a.Turn)
	})
}

// TestLastMessagesLeave: what a turn had to say when it ended here still leaves, also
// when the bus was out of reach at its end.
func TestLastMessagesLeave(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a, _, release := held(w)
		w.bus.down.Store(true)
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		release() // the service has said all before it could be told to stop
		w.cancelled(a.Turn)
		if n := w.waiting(); n != "1" {
			t.Fatalf("%s messages wait; want the one that tells to stop", n)
		}
		w.pass(time.Minute)
		left := w.commandsLeft()
		w.bus.down.Store(false)
		w.pass(2 * time.Second)
		if n := w.waiting(); left.Load() != 1 || n != "0" {
			t.Errorf("%d messages left, %s wait; want one and none", left.Load(), n)
		}
	})
}
