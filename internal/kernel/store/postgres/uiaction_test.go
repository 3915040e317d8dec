package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestUIAction: an action that reaches two kernels on one database at the same time, again and again, is one turn with one
// call, which is asked about and made once; one whose tool may not be called so begins nothing.
func TestUIAction(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	w := &town{t: t, effects: map[string]int{}}
	w.open(dsn)
	w.open(dsn)
	ledger := open(t, dsn)
	ctx, stop := context.WithCancel(t.Context())
	var owned sync.WaitGroup
	defer owned.Wait()
	defer stop()
	w.serve(ctx, &owned)
	w.reviewed(ledger)
	calls := make(chan string, 8)
	sdk, err := tool.New(tool.Options{Conn: peer{w, kernel.Caller{Kind: kernel.ToolCaller, Name: "panel"}}, Tools: []tool.Tool{{
		Definition: utp.Definition{
			Tool: "light", Description: "Switches it.", Parameters: jsontext.Value(`{"type":"object"}`), AfterExecution: utp.Suspend,
			Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.panel.run", Class: utp.Irreversible, Risk: utp.RiskLow, Options: jsontext.Value(`{"ui_allowed":true}`),
		},
		Run: func(_ context.Context, c *tool.Call) (tool.Result, error) {
			if err := c.Ready(); err != nil {
				return tool.Result{}, err
			}
			calls <- c.ID
			return tool.Result{Value: "on"}, nil
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	owned.Go(func() { _ = sdk.Run(ctx) })
	hub := peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}}
	act := func(name string) (a api.ActionAnswer) {
		q := api.ActRequest{Agent: "page", Owner: "ada", Action: "a1", Tool: name, Args: jsontext.Value(`{}`)}
		if err := rpc.Ask(t.Context(), hub, api.OpAct, q, &a); err != nil {
			t.Error(err)
		}
		return a
	}
	w.poll(func() bool { return act("light").Status == api.ActionAccepted })
	var all sync.WaitGroup
	answers := make(chan api.ActionAnswer, 8)
	for range cap(answers) {
		all.Go(func() { answers <- act("light") })
	}
	all.Wait()
	first := act("light")
	for range cap(answers) {
		if a := <-answers; a.Turn != first.Turn || a.Call != first.Call || a.Status != api.ActionAccepted {
			t.Errorf("an action is %+v, and another %+v", a, first)
		}
	}
	var page api.QuestionsAnswer
	if w.ask(api.OpQuestions, api.QuestionsRequest{}, &page); len(page.Questions) != 1 {
		t.Fatalf("%d questions are open", len(page.Questions))
	}
	w.yes(page.Questions[0])
	w.poll(func() bool { return act("light").Status == api.ActionDone })
	if id := <-calls; id != first.Call || len(calls) != 0 {
		t.Errorf("the call %s was made, and %d others; want %s", id, len(calls), first.Call)
	}
	if a := act("look"); a.Status != api.ActionRejected || a.Code != utp.CodeConflict {
		t.Errorf("another request under the id is %+v", a)
	}
	q := api.ActRequest{Agent: "page", Owner: "ada", Action: "a2", Tool: "look", Args: jsontext.Value(`{}`)}
	var refused api.ActionAnswer
	if w.ask(api.OpAct, q, &refused); refused.Code != utp.CodeUINotAllowed || refused.Turn != "" {
		t.Errorf("a tool without leave is %+v", refused)
	}
}
