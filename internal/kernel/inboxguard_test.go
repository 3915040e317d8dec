package kernel_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestInboxGuard (UTP, contract 20): a turn takes no answer, with fields or without, while one of its calls has no result
// yet: nothing is left in its inbox. When the result is there, the same worker submits under the next epoch.
func TestInboxGuard(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		a := w.begin()
		claim := w.claims("wrk_1")
		at := claim.WorkerRequest("wrk_1")
		ask := func(op string, q any) error { return w.as(kernel.AgentCaller, agentName, op, q, nil) }
		args, err := json.Marshal(one(burn)[0].Args)
		if err != nil {
			t.Fatal(err)
		}
		err = ask(api.OpCall, api.CallRequest{WorkerRequest: at, Step: 1, Calls: []api.ToolCall{{Key: "k1", Tool: burn, Args: api.Body{Inline: args}}}})
		if err != nil {
			t.Fatal(err)
		}
		q := w.asked()
		answers := []api.DeliverRequest{
			{WorkerRequest: at, Status: utp.StatusSuccess, Summary: "Done."},
			{WorkerRequest: at, Status: utp.StatusSuccess, Fields: []utp.Field{{Name: "title", Value: jsontext.Value(`"T"`)}}},
		}
		for _, answer := range answers {
			wantFault(t, ask(api.OpDeliver, answer), utp.CodeConflict)
		}
		if s := w.turn(a.Turn); s.Status != turn.Suspended || s.Waiting() != 1 {
			t.Fatalf("the turn is %+v", s)
		}
		w.say(q, "reject")
		w.until("the result is to be there", func() bool { return w.turn(a.Turn).Status == turn.Running })
		wantFault(t, ask(api.OpDeliver, answers[0]), utp.CodeStale) // who has not seen the result submits nothing
		s := w.turn(a.Turn)
		at.Epoch, at.Nonce = s.Epoch, s.Nonce
		answers[1].WorkerRequest = at
		if err := ask(api.OpDeliver, answers[1]); err != nil {
			t.Fatal(err)
		}
		w.succeeded(a.Turn)
	})
}
