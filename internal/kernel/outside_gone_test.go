package kernel_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestOutsideProgramGone: a program that has said that it is there, and does not say so again, has gone, and its session ends. One
// that says so may be quiet for as long as it may without; a call that is open stays, because another process may come for it.
func TestOutsideProgramGone(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		here := func() {
			t.Helper()
			if err := p.says(api.OpAgentReport, api.AgentReportRequest{OutsideRequest: p.speaks(), Lease: 90}); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 { // 10 minutes, in which it does nothing
			here()
			w.pass(30 * time.Second)
		}
		if st := w.turn(p.turn); st.Status != turn.Running || time.Since(st.IdleFrom.Wall) < 9*time.Minute {
			t.Errorf("a program that is there, and quiet, is %s, quiet since %v", st.Status, st.IdleFrom)
		}
		here()
		open := p.asked(burn)
		w.pass(4 * time.Minute)
		if st := w.turn(p.turn); st.Status != turn.Suspended {
			t.Errorf("with an open question it is %s", st.Status)
		}
		w.say(w.asked(), "reject")
		p.ends(open.Call)
		w.pass(10 * time.Second)
		if st := w.turn(p.turn); st.Status == turn.Ended {
			t.Error("it has ended before its time was over again")
		}
		w.pass(2 * time.Minute)
		end := w.over(p.turn)
		if end.End.Status != utp.StatusSuccess {
			t.Errorf("it ended %+v", end.End)
		}
		w.tells(p.session, "Ended, because the program of claude has gone.")
	})
}
