package kernel_test

import (
	"context"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// TestSweepHoldsNothingUp: what a dead kernel has left behind is published outside of every
// transaction: a bus that does not answer keeps nobody from the ledger.
func TestSweepHoldsNothingUp(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve(target, standardTools)
		a := w.begin() // before the worker, so that the answer has come when the kernel dies
		w.now.dieWhenReaching("invoked.logged")
		w.work(one(poller))
		w.dies()
		swept := 0
		w.bus.published(func(string, map[string][]string) error {
			swept++
			return w.now.store.Update(context.Background(), func(tx store.Tx) error { // anyone who publishes can write
				_, err := tx.Count("test", 1)
				return err
			})
		})
		w.restart()
		w.work(one(poller))
		w.pass(30 * time.Second)
		w.over(a.Turn)
		if swept == 0 {
			t.Error("nothing was published")
		}
		if state := w.turn(a.Turn); state.End.Status != utp.StatusSuccess {
			t.Errorf("the turn ended %+v", state.End)
		}
	})
}
