package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// TestRequestKeyOfTwoKernels: of requests with one key that come to two kernels on one ledger at
// once, one begins a turn, and all are answered with it.
func TestRequestKeyOfTwoKernels(t *testing.T) {
	t.Parallel()
	const rounds, senders = 10, 8
	dsn := nowhere(t)
	w := &town{t: t, effects: map[string]int{}}
	w.open(dsn)
	w.open(dsn)
	hub := peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}}
	for round := range rounds {
		q := api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`), Owner: "ada", Key: fmt.Sprint("key-", round)}
		var all sync.WaitGroup
		answers := make([]api.EnqueueAnswer, senders)
		for i := range answers {
			all.Go(func() {
				if err := rpc.Ask(t.Context(), hub, api.OpEnqueue, q, &answers[i]); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		first := 0
		for _, a := range answers {
			if a.Turn == "" || a.Turn != answers[0].Turn {
				t.Errorf("%+v and %+v", a, answers[0])
			}
			if !a.Repeated {
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d requests have begun a turn; want one", first)
		}
	}
	var turns []store.TurnRow
	err := open(t, dsn).View(t.Context(), func(tx store.Tx) (err error) {
		turns, err = tx.Turns(store.TurnFilter{})
		return err
	})
	if err != nil || len(turns) != rounds {
		t.Errorf("%d turns, %v; want %d", len(turns), err, rounds)
	}
}
