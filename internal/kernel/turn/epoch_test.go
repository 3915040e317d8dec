package turn_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestCallOfAnotherStep: a call whose step is not the turn's present one is stale, when
// it is to leave and when it is to start; one that came from outside belongs to no step.
func TestCallOfAnotherStep(t *testing.T) {
	t.Parallel()
	now := turn.Timestamp{Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), SinceBoot: time.Hour, Boot: "b1"}
	for name, tt := range map[string]struct {
		number  int
		adopted bool
		reason  string
	}{
		"the present step":     {number: 2},
		"an earlier step":      {number: 1, reason: "epoch"},
		"a later step":         {number: 3, reason: "epoch"},
		"no step":              {number: 0, reason: "epoch"},
		"adopted in this step": {number: 2, adopted: true},
		"adopted in an earlier step": {
			number: 1, adopted: true,
		},
	} {
		for from, in := range map[turn.CallState]turn.Input{
			turn.Accepted: turn.Tick{Checks: []turn.Check{{Call: "tc_1", Digest: "d1"}}},
			turn.Dispatched: turn.Start{
				Call: "tc_1", Owner: "o1", Target: "files", Lease: time.Minute, Check: turn.Check{Call: "tc_1", Digest: "d1"},
			},
		} {
			t.Run(name+", "+string(from), func(t *testing.T) {
				t.Parallel()
				state := turn.State{Turn: "turn_1", Session: "sess_1", Agent: "a", Status: turn.Suspended, Step: 2, Calls: []turn.Call{{
					ID: "tc_1", Key: "k", Number: tt.number, Adopted: tt.adopted, Tool: "t", Target: "files", State: from,
					Class: utp.Irreversible, Risk: utp.RiskHigh, Decision: turn.Ask, Question: 1, Digest: "d1",
					Consent: &turn.Consent{By: "ada", At: now}, DispatchAt: now, StartBy: now.Add(time.Minute),
				}}}
				next, effects, err := turn.Step(state, now, in)
				if err != nil {
					t.Fatal(err)
				}
				c, _ := next.Find("tc_1")
				if tt.reason == "" {
					if want := map[turn.CallState]turn.CallState{turn.Accepted: turn.Dispatched, turn.Dispatched: turn.Started}[from]; c.State != want {
						t.Errorf("the call is %s; want %s", c.State, want)
					}
					return
				}
				if c.State != turn.Closed || c.Outcome.Code != utp.CodeConsentStale || c.Outcome.Message != tt.reason {
					t.Errorf("the call is %s %+v; want over, consent_stale, %s", c.State, c.Outcome, tt.reason)
				}
				for _, e := range effects {
					switch e.(type) {
					case turn.Command, turn.Consume, turn.Grant:
						t.Errorf("the effect %s came of it", shown(e))
					}
				}
			})
		}
	}
}
