package postgres_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestEnqueueFifty: of 50 requests at once, each sent to both kernels, none is lost and none doubled; and the agent
// works on one turn at a time although the kernels hand turns out side by side.
func TestEnqueueFifty(t *testing.T) {
	t.Parallel()
	t.Attr("counts", "turns")
	const most, workers = 50, 4
	w := &town{t: t, active: 1, effects: map[string]int{}}
	dsn := nowhere(t)
	w.open(dsn)
	w.open(dsn)
	hub := peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}}
	agent := peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}
	var askers sync.WaitGroup
	turns := make(chan string, 2*most)
	for i := range 2 * most {
		askers.Go(func() {
			q := api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`), Owner: "ada", Correlation: fmt.Sprint("order-", i/2)}
			var a api.EnqueueAnswer
			if err := rpc.Ask(t.Context(), hub, api.OpEnqueue, q, &a); err != nil {
				t.Error(err)
			}
			turns <- a.Turn
		})
	}
	askers.Wait()
	close(turns)
	asked := map[string]int{}
	for id := range turns {
		asked[id]++
	}
	if len(asked) != most {
		t.Fatalf("%d turns; want %d", len(asked), most)
	}
	var began []string
	for range most {
		var mu sync.Mutex
		claimed := map[string]api.WorkerRequest{}
		for i := range workers {
			askers.Go(func() {
				worker := fmt.Sprint("wrk_", i)
				var a api.ClaimAnswer
				if err := rpc.Ask(t.Context(), agent, api.OpClaim, api.ClaimRequest{Agent: "tidy", Worker: worker}, &a); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if a.Turn != "" {
					claimed[a.Turn] = a.WorkerRequest(worker)
				}
			})
		}
		askers.Wait()
		if len(claimed) != 1 {
			t.Fatalf("%d turns were claimed at once; want 1", len(claimed))
		}
		for id, at := range claimed {
			began = append(began, id)
			if asked[id] != 2 {
				t.Errorf("%s was asked for %d times", id, asked[id])
			}
			if err := rpc.Ask(t.Context(), agent, api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.IsSorted(began) || len(slices.Compact(began)) != most {
		t.Errorf("they began in the order %v", began)
	}
}
