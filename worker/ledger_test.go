package worker_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestLedgerInTrouble: what passes by itself is waited for, however long; a turn that cannot be
// read is left after the time of a lease, so that others are served.
func TestLedgerInTrouble(t *testing.T) {
	for name, tt := range map[string]struct {
		trouble error
		plans   int
	}{
		"no answer":         {errCable, 1},
		"no room":           {&api.Fault{Code: utp.CodeUpstreamUnavailable, Retry: true}, 1},
		"others hold it":    {&api.Fault{Code: utp.CodeStorageError, Retry: true}, 1},
		"it cannot be read": {&api.Fault{Code: utp.CodeStorageError}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var began time.Time
			k := func(k *kernel) {
				k.answer[api.OpResume] = func(n int, _ jsontext.Value) error {
					if n == 0 {
						began = time.Now()
					}
					if time.Since(began) < 40*time.Second {
						return tt.trouble
					}
					return nil
				}
			}
			plans := 0
			var again time.Duration
			plan := func(jsontext.Value) (worker.Planner, error) {
				if plans++; plans > 1 {
					again = time.Since(began)
				}
				return &steps{n: 1}, nil
			}
			working(t, k, plan, func(t *testing.T, k *kernel) {
				pass(3 * time.Minute)
				k.delivered()
				if plans != tt.plans || plans > 1 && again < 30*time.Second {
					t.Errorf("planned %d times, again after %v; want %d, after a lease of 30 s", plans, again, tt.plans)
				}
			})
		})
	}
}

// TestLedgerWentBack: a step that the ledger knows nothing of any more is not waited for, nor
// taken to have ended without results. The turn is claimed again and planned from its transcript.
func TestLedgerWentBack(t *testing.T) {
	for name, needs := range map[string]time.Duration{"while calls are open": time.Minute, "when none is": 0} {
		t.Run(name, func(t *testing.T) {
			k := func(k *kernel) {
				k.needs = needs
				k.answer[api.OpResume] = func(n int, _ jsontext.Value) error {
					if n == 0 {
						k.step, k.done = 0, nil
					}
					return nil
				}
			}
			var planners []*steps
			plan := func(jsontext.Value) (worker.Planner, error) {
				planners = append(planners, &steps{n: 1})
				return planners[len(planners)-1], nil
			}
			working(t, k, plan, func(t *testing.T, k *kernel) {
				pass(3 * time.Minute)
				k.delivered()
				if len(planners) != 2 || len(planners[0].seen) != 0 || len(planners[1].seen) == 0 {
					t.Errorf("%d planners: %+v; want one that saw nothing, then one that saw all", len(planners), planners)
				}
				if n := k.count(api.OpCall); n != 2 {
					t.Errorf("asked for %d steps; want the one, twice", n)
				}
			})
		})
	}
}
