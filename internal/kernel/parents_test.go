package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestParentHeaders: the messages about the calls of a turn name the turn that has begun it, as the ledger knows it, and the
// claim tells it to its worker. What a command says of parents changes none of it. The messages have the tracestate of the
// command, bounded, and so have the row and the wakeup, which like any wakeup names no parents.
func TestParentHeaders(t *testing.T) {
	inWorld(t, func(w *world) { w.unended, w.starts = true, []string{"peer"} }, func(t *testing.T, w *world) {
		words, peer := w.stranger("words"), w.stranger("peer")
		words.serves(utp.Read, `{}`)
		root := w.begin()
		at := w.claims("wrk_1").WorkerRequest("wrk_1")
		q := api.SpawnRequest{Worker: &at, Agent: "peer", Args: jsontext.Value(`{}`), Correlation: "child-1", Request: "count"}
		if err := w.as(kernel.AgentCaller, agentName, api.OpSpawn, q, nil); err != nil {
			t.Fatal(err)
		}
		var c api.ClaimAnswer
		peer.must(api.OpClaim, api.ClaimRequest{Agent: "peer", Worker: "seat"}, &c)
		above := turn.Traceparent(root.Turn)
		if c.ParentTurn != root.Turn || c.ParentAgent != agentName || c.ParentStep != "" || c.ParentTraceparent != above {
			t.Errorf("the claim tells %+v", c)
		}
		wanted := peer.wanted(c.Turn, "tc_theirs", wordCount)
		wanted.TargetSubject = "cg.v1r4.home.public.cmd.tool.words.call"
		peer.keeps(utp.NewToolCall(wanted))
		sent := peer.commanded(wanted, c.Epoch)
		first := "rojo=" + strings.Repeat("0", 300)
		sent.Header[utp.HeaderTracestate] = []string{first + ",congo=" + strings.Repeat("1", 300)}
		sent.Header[utp.HeaderParentTurnID] = []string{"turn_of_theirs"}
		sent.Header[utp.HeaderParentAgentID] = []string{"mallory"}
		if _, err := peer.sends(sent); err != nil {
			t.Fatal(err)
		}
		_, header, card := words.command()
		if header.ParentTurnID != root.Turn || header.ParentAgentID != agentName || header.ParentTraceparent != above || header.Tracestate != first {
			t.Errorf("the service hears %+v", header)
		}
		words.finishes(header, card)
		w.settle()
		row, _, _ := peer.row(c.Turn, "tc_theirs")
		if in := row.Context; in.ParentTurnID != root.Turn || in.ParentAgentID != agentName || in.ParentTraceparent != above || in.Tracestate != first {
			t.Errorf("the row is of %+v", in)
		}
		w.pass(time.Second)
		rung := peer.took(utp.SuffixWakeup)
		if len(rung) == 0 {
			t.Fatal("no wakeup")
		}
		woken, err := utp.DecodeHeader(rung[len(rung)-1].Header)
		if err != nil || woken.ParentTurnID+woken.ParentAgentID+woken.ParentStepID != "" || woken.Tracestate != first || woken.ParentTraceparent != above {
			t.Errorf("the wakeup is of %+v, %v", woken, err)
		}
		peer.delivers(c)
		w.over(c.Turn)
	})
}

// TestParentOfATask: the turn that a call has begun names the step of that call.
func TestParentOfATask(t *testing.T) {
	inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
		w.work(asks("delegate_async", map[string]any{"target_strategy": "new", "target_ref": clerk, "instruction": "file it"}))
		a := w.begin()
		w.succeeded(a.Turn)
		c := w.clerkClaims("c1")
		step := w.turn(a.Turn).Calls[0].Step
		if c.ParentTurn != a.Turn || c.ParentAgent != agentName || c.ParentStep != step || step == "" {
			t.Errorf("the claim tells the parent %s of %s, step %q; want %s of %s, step %q", c.ParentTurn, c.ParentAgent, c.ParentStep, a.Turn, agentName, step)
		}
		w.clerkEnds(c, "c1", utp.StatusSuccess, "")
	})
}

// TestTracestateOfAnAction: an action of a user interface has the tracestate of its command. The service reports with the headers
// that it was sent, although the turn of an action has no epoch.
func TestTracestateOfAnAction(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		words, ui := w.stranger("words"), w.stranger("screen")
		words.serves(utp.Read, `{"ui_allowed":true}`)
		header := map[string][]string{utp.HeaderAgentID: {"screen"}, utp.HeaderTracestate: {"rojo=1,,congo=2"}}
		var a api.ActionAnswer
		ui.must(api.OpUIAction, utp.Message{Header: header, Payload: []byte(`{"action_id":"ui-1","tool_name":"` + wordCount + `","args":{"name":"theirs"}}`)}, &a)
		_, got, card := words.command()
		if got.Tracestate != "rojo=1,congo=2" || got.ParentTurnID != "" {
			t.Errorf("the service hears %+v; the action is %+v", got, a)
		}
		words.finishes(got, card)
		w.over(a.Turn)
	})
}
