package kernel_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func TestAcceptRuns(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.pass(2900 * time.Millisecond)
		if n := len(w.effects.all()); n != 0 {
			t.Errorf("%d effects within the undo time", n)
		}
		state := w.over(a.Turn)
		if n := len(w.effects.all()); n != 1 {
			t.Errorf("%d effects; want one", n)
		}
		if state.End.Status != utp.StatusSuccess || state.Calls[0].State != turn.Finished {
			t.Errorf("the turn ended %+v", state)
		}
	})
}
