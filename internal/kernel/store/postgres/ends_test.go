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

// team is the agent and the person of a town.
type team struct {
	*town

	agent, hub peer
}

// teamOn is two kernels on a ledger of their own, with an agent that may have so many turns under way.
func teamOn(t *testing.T, active int) team {
	t.Helper()
	w := &town{t: t, active: active, effects: map[string]int{}}
	dsn := nowhere(t)
	w.open(dsn)
	w.open(dsn)
	return team{w, peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}, peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}}}
}

// must asks once, as a caller that does not ask again would.
func (w team) must(p peer, op string, q, a any) {
	w.t.Helper()
	if err := rpc.Ask(w.t.Context(), p, op, q, a); err != nil {
		w.t.Fatalf("%s: %v", op, err)
	}
}

// calls begins a turn with one call.
func (w team) calls(tool, args string) (root api.EnqueueAnswer, at api.WorkerRequest) {
	w.t.Helper()
	w.must(w.hub, api.OpEnqueue, api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`), Owner: "ada"}, &root)
	at = w.claims("wrk_root")
	w.must(w.agent, api.OpCall, api.CallRequest{WorkerRequest: at, Step: 1, Calls: []api.ToolCall{
		{Key: "k1", Tool: tool, Args: api.Body{Inline: jsontext.Value(args)}},
	}}, nil)
	return root, at
}

func (w team) claims(worker string) api.WorkerRequest {
	w.t.Helper()
	var a api.ClaimAnswer
	w.must(w.agent, api.OpClaim, api.ClaimRequest{Agent: "tidy", Worker: worker}, &a)
	if a.Turn == "" {
		w.t.Fatalf("%s has found no turn", worker)
	}
	return a.WorkerRequest(worker)
}

// resumes reads the result of the one call.
func (w team) resumes(at api.WorkerRequest) api.CallResult {
	w.t.Helper()
	var a api.ResumeAnswer
	w.must(w.agent, api.OpResume, api.TranscriptRequest{WorkerRequest: at}, &a)
	if len(a.Results) != 1 {
		w.t.Fatalf("the results are %+v", a)
	}
	return a.Results[0]
}

// TestFiftyEndAtOnce: the children of a call all end in the same moment, at two kernels, and each end writes to the turn above. Nobody
// has to ask again, no end is lost, and the call ends with the last of them.
func TestFiftyEndAtOnce(t *testing.T) {
	t.Parallel()
	t.Attr("counts", "turns")
	const children = 50
	w := teamOn(t, 0)
	tasks := ""
	for i := range children {
		tasks += fmt.Sprintf(`,{"target_strategy":"new","target_ref":"tidy","instruction":"part %d"}`, i)
	}
	_, at := w.calls("fork_join", `{"tasks":[`+tasks[1:]+`]}`)
	ends := make([]api.WorkerRequest, children)
	for i := range ends {
		ends[i] = w.claims(fmt.Sprint("wrk_", i))
	}
	start := make(chan struct{})
	var ending sync.WaitGroup
	for _, end := range ends {
		ending.Go(func() {
			<-start
			if err := rpc.Ask(t.Context(), w.agent, api.OpDeliver, api.DeliverRequest{WorkerRequest: end, Status: utp.StatusSuccess, Summary: "done"}, nil); err != nil {
				t.Errorf("%s: %v", end.Worker, err)
			}
		})
	}
	close(start)
	ending.Wait()
	if t.Failed() {
		return
	}
	if r := w.resumes(at); r.Status != utp.StatusSuccess {
		t.Errorf("the result is %+v", r)
	}
}

// TestHandedToItself: a turn that holds the last place of its agent cannot hand a task to it: nothing is started.
func TestHandedToItself(t *testing.T) {
	t.Parallel()
	w := teamOn(t, 1)
	_, at := w.calls("delegate_async", `{"target_strategy":"new","target_ref":"tidy","instruction":"file it"}`)
	if r := w.resumes(at); r.Status != utp.StatusFailed || r.Code != utp.CodeTooManyTurns {
		t.Errorf("the result is %+v; want %s", r, utp.CodeTooManyTurns)
	}
	var open []api.SessionRow
	w.must(w.hub, api.OpSessions, api.SessionsRequest{Open: true}, &open)
	if len(open) != 1 {
		t.Errorf("%d turns are open; want the one", len(open))
	}
}
