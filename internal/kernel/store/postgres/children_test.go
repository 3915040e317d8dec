package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestForkJoinAtOnce: the children of a call end at the same time, at two kernels, and one of them fails, so that the others
// are stopped in the transaction that ends it. No end is lost, none is counted twice, and no turn stays open.
func TestForkJoinAtOnce(t *testing.T) {
	t.Parallel()
	t.Attr("counts", "turns")
	const rounds, children = 5, 8
	w := &town{t: t, effects: map[string]int{}}
	dsn := nowhere(t)
	w.open(dsn)
	w.open(dsn)
	hub := peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}}
	agent := peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}
	ask := func(op string, q, a any) {
		t.Helper()
		if err := rpc.Ask(t.Context(), agent, op, q, a); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	for round := range rounds {
		var root api.EnqueueAnswer
		if err := rpc.Ask(t.Context(), hub, api.OpEnqueue, api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`), Owner: "ada"}, &root); err != nil {
			t.Fatal(err)
		}
		var claimed api.ClaimAnswer
		ask(api.OpClaim, api.ClaimRequest{Agent: "tidy", Worker: "wrk_0"}, &claimed)
		tasks := ""
		for i := range children {
			tasks += fmt.Sprintf(`,{"target_strategy":"new","target_ref":"tidy","instruction":"part %d"}`, i)
		}
		args := fmt.Sprintf(`{"tasks":[%s],"fail_fast":%t}`, tasks[1:], round%2 == 1)
		ask(api.OpCall, api.CallRequest{WorkerRequest: claimed.WorkerRequest("wrk_0"), Step: 1, Calls: []api.ToolCall{
			{Key: "k1", Tool: "fork_join", Args: api.Body{Inline: jsontext.Value(args)}},
		}}, nil)
		ends := make([]api.DeliverRequest, children)
		for i := range ends { // all are claimed before any ends: the one that fails stops the others
			worker := fmt.Sprint("wrk_", i+1)
			var child api.ClaimAnswer
			ask(api.OpClaim, api.ClaimRequest{Agent: "tidy", Worker: worker}, &child)
			if child.Turn == "" {
				t.Fatalf("round %d: %s has found no turn", round, worker)
			}
			ends[i] = api.DeliverRequest{WorkerRequest: child.WorkerRequest(worker), Status: utp.StatusSuccess, Summary: "done"}
		}
		ends[0].Status, ends[0].Code = utp.StatusFailed, utp.CodeInternalError
		var ending sync.WaitGroup
		for _, end := range ends {
			ending.Go(func() {
				if err := rpc.AskUntil(t.Context(), agent, api.OpDeliver, end, nil); err != nil {
					t.Errorf("%s: %v", end.Worker, err)
				}
			})
		}
		ending.Wait()
		var resumed api.ResumeAnswer
		ask(api.OpResume, api.TranscriptRequest{WorkerRequest: claimed.WorkerRequest("wrk_0")}, &resumed)
		if len(resumed.Results) != 1 || resumed.Results[0].Status != utp.StatusPartial && resumed.Results[0].Status != utp.StatusFailed {
			t.Fatalf("round %d: the results are %+v", round, resumed)
		}
		at := claimed.WorkerRequest("wrk_0")
		at.Epoch, at.Nonce = resumed.Epoch, resumed.Nonce
		ask(api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess}, nil)
		var open []api.SessionRow
		if err := rpc.Ask(t.Context(), hub, api.OpSessions, api.SessionsRequest{Open: true}, &open); err != nil {
			t.Fatal(err)
		}
		if len(open) != 0 {
			t.Errorf("round %d: %d turns have survived", round, len(open))
		}
	}
}
