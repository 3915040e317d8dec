package kernel_test

import (
	"testing"

	"github.com/earshot-dev/earshot/utp"
)

// TestOutsideAfterItsEnd: a result that nobody has got is there for the same call without a key once the session has ended, too, so
// that a lost answer is no reason to do it again in another session. Everything else is refused.
func TestOutsideAfterItsEnd(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		first := p.asked(burn)
		w.accepts()
		p.ends(first.Call)
		p.closes()
		taken := p.asked(burn)
		if taken.Call != first.Call || !taken.Joined || taken.Status != utp.StatusSuccess {
			t.Errorf("the result that nobody has got is %+v", taken)
		}
		_, err := p.asks(burn, named("another"))
		wantFault(t, err, utp.CodeTurnEnded)
		w.effectsAre(1)
	})
}
