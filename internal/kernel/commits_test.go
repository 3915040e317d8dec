package kernel_test

import (
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/worker"
)

// TestCommitsOfACall: a call that nobody is asked about costs three transactions that write:
// it is asked for and dispatched, it is started, it is finished and its result applied. That
// its message has left is told along with the start; when the turn is over, once for all.
func TestCommitsOfACall(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		const calls = 7
		a := w.begin()
		w.settle()
		before := w.now.writes.Load()
		w.work(slices.Repeat([][]worker.Call{one(poller)}, calls)...)
		w.over(a.Turn)
		const claimAndDeliver = 2
		if n := w.now.writes.Load() - before - claimAndDeliver; n != 3*calls {
			t.Errorf("%d calls cost %d commits; want %d", calls, n, 3*calls)
		}
		w.pass(time.Minute)
		if n := w.now.writes.Load() - before - claimAndDeliver; n != 3*calls {
			t.Errorf("%d commits in the minute after the end", n-3*calls)
		}
		if n := w.waiting(); n != "0" {
			t.Errorf("of %s messages the ledger does not know that they have left", n)
		}
	})
}

// TestCommitsOfAParallelStep: the calls of one step share the commit that asks for them.
func TestCommitsOfAParallelStep(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		const calls = 5
		a := w.begin()
		w.settle()
		before := w.now.writes.Load()
		step := slices.Repeat(one(poller), calls)
		for i := range step {
			step[i].Key += string(rune('a' + i))
		}
		w.work(step)
		w.over(a.Turn)
		w.pass(time.Minute)
		const claimAndDeliver = 2
		if n := w.now.writes.Load() - before - claimAndDeliver; n != 1+2*calls {
			t.Errorf("%d calls of one step cost %d commits; want %d", calls, n, 1+2*calls)
		}
	})
}

// TestRowsOfACall: how many rows a call that nobody is asked about writes: its turn three times, and itself twice (a read
// is not written when it starts); its two cards, its four events, its message and that it has left, its grant, and its report,
// which is its result. Those of the turn's claim and end are a small part of so many calls.
func TestRowsOfACall(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		const calls = 50
		a := w.begin()
		w.settle()
		before := w.now.rows.Load()
		w.work(slices.Repeat([][]worker.Call{one(poller)}, calls)...)
		w.over(a.Turn)
		w.pass(time.Minute)
		n := float64(w.now.rows.Load()-before) / calls
		if n > 15.5 {
			t.Errorf("a call writes %.1f rows; want 15", n)
		}
	})
}
