package kernel_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestOutsideQuiet: a session of which nothing is heard ends by itself, and not as a failure.
func TestOutsideQuiet(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program(func(q *api.OpenRequest) { q.Idle = 600 })
		w.pass(9 * time.Minute)
		p.waits(p.asked(poller).Call)
		last := time.Now()
		w.pass(9 * time.Minute)
		if st := w.turn(p.turn); st.Status == turn.Ended {
			t.Fatal("it has ended early")
		}
		end := w.over(p.turn)
		if end.End.Status != utp.StatusSuccess {
			t.Errorf("it ended %+v", end.End)
		}
		w.tells(p.session, "Ended, because nothing more was heard from claude for 10 minutes.")
		if want := "nothing more was heard from the agent since " + last.UTC().Format("2006-01-02 15:04 UTC"); end.End.Message != want {
			t.Errorf("the ledger says %q, want %q", end.End.Message, want)
		}
	})
}

// TestOutsideQuietSince: once nothing was heard for five minutes from the program of a session, lists say since when, for as long as none
// of its calls or questions is open and until it is heard again.
func TestOutsideQuietSince(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program(func(q *api.OpenRequest) { q.Answer = 600 })
		since := func(q api.SessionsRequest) time.Time {
			t.Helper()
			var rows []api.SessionRow
			if err := rpc.Ask(w.ctx, w.person, api.OpSessions, q, &rows); err != nil || len(rows) != 1 {
				t.Fatalf("%+v, %v", rows, err)
			}
			return rows[0].QuietSince
		}
		lists := map[string]api.SessionsRequest{"a list": {Open: true}, "one with what it waits for": {Open: true, Waits: true}, "one session": {Session: p.session}}
		are := func(when string, want time.Time) {
			t.Helper()
			for name, q := range lists {
				if got := since(q); !got.Equal(want) {
					t.Errorf("%s: %s says that it is quiet since %v, want %v", when, name, got, want)
				}
			}
		}
		p.waits(p.asked(poller).Call)
		last := w.turn(p.turn).IdleFrom.Wall
		w.pass(4 * time.Minute)
		are("a moment later", time.Time{})
		w.pass(2 * time.Minute)
		are("after six minutes", last)
		open := p.asked(burn)
		w.pass(6 * time.Minute)
		are("with an open question", time.Time{})
		w.say(w.asked(), "reject")
		p.waits(open.Call)
		are("after the call", time.Time{})
		w.pass(6 * time.Minute)
		are("quiet again", w.turn(p.turn).IdleFrom.Wall)
		if err := p.says(api.OpAgentReport, api.AgentReportRequest{OutsideRequest: p.speaks(), Text: "Done."}); err != nil {
			t.Fatal(err)
		}
		are("heard again", time.Time{})
		p.closes()
	})
}
