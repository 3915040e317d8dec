package kernel_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// TestTicksSideBySide: many turns whose time comes at the same moment do not wait for each
// other's commits. One after the other, the last of these would be eleven seconds late.
func TestTicksSideBySide(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		const turns = 16
		var begun []api.EnqueueAnswer
		for range turns {
			w.work(one(burn))
			begun = append(begun, w.begin())
		}
		w.until("all questions are to be open", func() bool { return len(w.questions()) == turns })
		for _, q := range w.questions() {
			w.say(q, "accept")
		}
		w.now.slow.Store(int64(700 * time.Millisecond))
		accepted := w.clock.now()
		w.until("all calls are to be dispatched", func() bool {
			for _, a := range begun {
				if s := w.last(a.Turn).State; s == turn.Asked || s == turn.Accepted {
					return false
				}
			}
			return true
		})
		if took := w.clock.now().Sub(accepted); took > turn.DefaultUndo+4*700*time.Millisecond {
			t.Errorf("the last call was dispatched after %v; the undo time is %v and a commit takes 700 ms", took, turn.DefaultUndo)
		}
		w.now.slow.Store(0)
		for _, a := range begun {
			w.succeeded(a.Turn)
		}
		w.effectsAre(turns)
	})
}
