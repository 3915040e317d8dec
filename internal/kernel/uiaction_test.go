package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

const pressed = "light" // a tool that user interfaces may have called

// button is that tool.
func button(class utp.Class, more string) utp.Definition {
	return definition(pressed, class, `{"ui_allowed":true`+more+`}`)
}

func action(id string) api.ActRequest {
	return api.ActRequest{Agent: programName, Owner: person, Action: id, Tool: pressed, Args: jsontext.Value(`{"name":"x"}`)}
}

// acts asks for an action and follows its session, if it has one.
func (w *world) actsOn(q api.ActRequest) api.ActionAnswer {
	w.t.Helper()
	var a api.ActionAnswer
	if err := rpc.Ask(w.ctx, w.person, api.OpAct, q, &a); err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *world) isAction(a api.ActionAnswer, status string, code utp.Code) {
	w.t.Helper()
	if a.Status != status || a.Code != code || (code == "") != (a.Error == "") && code == "" {
		w.t.Errorf("the action is %+v; want %s %s", a, status, code)
	}
}

// ended waits for the end of an action, and asks for it again.
func (w *world) actionEnds(q api.ActRequest) api.ActionAnswer {
	w.t.Helper()
	a := w.actsOn(q)
	w.over(a.Turn)
	return w.actsOn(q)
}

// TestUIAction (UTP, "Actions of a UI"): an action is a turn with one call and without a worker. It ends with its call, the
// same message again is the same action, and nothing else is called in its session.
func TestUIAction(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		calls, way := 0, w.gate()
		w.post(button(utp.Read, ""), func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			calls++
			return tool.Result{Value: map[string]any{"did": pressed}}, way.pass(ctx, nil, c)
		})
		q := action("a1")
		q.Message = "m1"
		a := w.actsOn(q)
		w.follow(a.Session)
		w.isAction(a, api.ActionAccepted, "")
		st := w.turn(a.Turn)
		if len(st.Calls) != 1 || st.Calls[0].ID != a.Call || !st.Action || st.Agent != programName || st.Owner != person || st.Worker != "" {
			t.Errorf("its turn is %+v", st)
		}
		w.reaches(a.Turn, turn.Started)
		p := &program{w: w, session: a.Session, turn: a.Turn}
		_, err := p.asks(poller)
		wantFault(t, err, utp.CodeConflict)
		again := q
		again.Action = "a2" // the message counts
		again.Tool = poller
		w.isAction(w.actsOn(again), api.ActionRejected, utp.CodeConflict)
		if b := w.actsOn(q); b.Turn != a.Turn || b.Call != a.Call || b.Status != api.ActionAccepted {
			t.Errorf("the same message again is %+v, and was %+v", b, a)
		}
		way.open()
		w.over(a.Turn)
		done := w.actsOn(q)
		w.isAction(done, api.ActionDone, "")
		if done.Turn != a.Turn || done.Card == "" || done.Card != w.last(a.Turn).Outcome.Card || calls != 1 {
			t.Errorf("it is %+v after %d calls", done, calls)
		}
		if got := p.await(api.AwaitRequest{Call: a.Call, Peek: true}); !got.Ended() || string(got.Result.Inline) != `{"did":"light"}` {
			t.Errorf("its call is %+v", got)
		}
		if end := w.turn(a.Turn).End; end.Status != utp.StatusSuccess {
			t.Errorf("it ended %+v", end)
		}
		other := w.actionEnds(action("a1")) // an action without a message is another one
		if other.Turn == a.Turn || calls != 2 {
			t.Errorf("%+v after %d calls", other, calls)
		}
	})
}

// TestUIActionOwnStatus: a tool may say itself which status its action has; any other result is taken as it is.
func TestUIActionOwnStatus(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var result any
		w.post(button(utp.Read, ""), func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{Value: result}, nil })
		for n, row := range []struct {
			result any
			want   string
		}{
			{map[string]any{"status": "busy"}, api.ActionBusy},
			{map[string]any{"status": "rejected"}, api.ActionRejected},
			{map[string]any{"status": "fine"}, api.ActionDone},
			{map[string]any{"status": 7}, api.ActionDone},
			{"busy", api.ActionDone},
		} {
			result = row.result
			if a := w.actionEnds(action(strings.Repeat("a", n+1))); a.Status != row.want || a.Card == "" {
				t.Errorf("%v: %+v, want %s", row.result, a, row.want)
			}
		}
	})
}

// TestUIActionRefused: what may not be done by an action begins nothing, and its code says why.
func TestUIActionRefused(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.post(button(utp.Read, ""), nil)
		for name, row := range map[string]struct {
			change func(*api.ActRequest)
			code   utp.Code
		}{
			"no action":    {func(q *api.ActRequest) { q.Action = "" }, utp.CodeMissingRequiredFields},
			"no tool":      {func(q *api.ActRequest) { q.Tool = "" }, utp.CodeMissingRequiredFields},
			"no arguments": {func(q *api.ActRequest) { q.Args = nil }, utp.CodeMissingRequiredFields},
			"a list":       {func(q *api.ActRequest) { q.Args = jsontext.Value(`[]`) }, utp.CodeInvalidArgs},
			"too much": {func(q *api.ActRequest) {
				q.Args = jsontext.Value(`{"name":"` + strings.Repeat("x", api.ActionLimit) + `"}`)
			}, utp.CodeTooLarge},
			"a long id":         {func(q *api.ActRequest) { q.Action = strings.Repeat("x", 129) }, utp.CodeBadRequest},
			"no agent":          {func(q *api.ActRequest) { q.Agent = "" }, utp.CodeBadRequest},
			"an unknown tool":   {func(q *api.ActRequest) { q.Tool = "none" }, utp.CodeToolDefinitionMissing},
			"a reserved one":    {func(q *api.ActRequest) { q.Tool = "fork_join" }, utp.CodeToolDefinitionMissing},
			"one without leave": {func(q *api.ActRequest) { q.Tool = poller }, utp.CodeUINotAllowed},
			"an inactive agent": {func(q *api.ActRequest) { q.Agent = "idle" }, utp.CodeAgentInactive},
		} {
			w.defines(inactive("idle"))
			q := action("a1")
			row.change(&q)
			if a := w.actsOn(q); a.Status != api.ActionRejected || a.Code != row.code || a.Error == "" || a.Turn != "" || a.Action != q.Action {
				t.Errorf("%s: %+v, want %s", name, a, row.code)
			}
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "0" {
			t.Errorf("%s turns have begun", n)
		}
		one := api.AgentDefinition{Name: programName, MaxOpen: 1}
		w.defines(one)
		p := w.program()
		w.isAction(w.actsOn(action("a1")), api.ActionBusy, utp.CodeAgentBusy)
		one.MaxOpen = 2
		w.defines(one)
		w.isAction(w.actionEnds(action("a1")), api.ActionDone, "")
		one.Tools = []string{poller}
		w.defines(one)
		w.isAction(w.actsOn(action("a2")), api.ActionRejected, utp.CodeAuthFailed) // it begins, and its one call is refused
		p.closes()
	})
}

// TestUIActionThroughTheGate: the gate decides on the call of an action as on any other. A person is asked about what
// cannot be undone, and need not be the one who waits at the interface; nothing but their yes starts it.
func TestUIActionThroughTheGate(t *testing.T) {
	for name, row := range map[string]struct {
		class    utp.Class
		args     string
		decide   turn.Decision
		answer   string
		status   string
		code     utp.Code
		effects  int
		complete bool // the turn counts as done
	}{
		"accepted":       {utp.Irreversible, `{"name":"x"}`, turn.Allow, "accept", api.ActionDone, "", 1, true},
		"declined":       {utp.Irreversible, `{"name":"x"}`, turn.Allow, "reject", api.ActionRejected, utp.CodeConsentDeclined, 0, true},
		"nobody answers": {utp.Irreversible, `{"name":"x"}`, turn.Allow, "", api.ActionRejected, utp.CodeConsentExpired, 0, false},
		"asked":          {utp.Reversible, `{"name":"x"}`, turn.Ask, "reject", api.ActionRejected, utp.CodeConsentDeclined, 0, true},
		"denied":         {utp.Reversible, `{"name":"x"}`, turn.Deny, "", api.ActionRejected, utp.CodeDeniedByPolicy, 0, false},
		"wrong":          {utp.Reversible, `{"other":"x"}`, turn.Allow, "", api.ActionRejected, utp.CodeBadRequest, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: pressed, Decide: row.decide}} }, func(t *testing.T, w *world) {
				w.post(button(row.class, ""), nil)
				q := action("a1")
				q.Args = jsontext.Value(row.args)
				a := w.actsOn(q)
				w.follow(a.Session)
				if row.answer != "" {
					w.say(w.asked(), row.answer)
				}
				end := w.over(a.Turn).End
				w.isAction(w.actsOn(q), row.status, row.code)
				w.effectsAre(row.effects)
				if end.Completes() != row.complete {
					t.Errorf("the turn ended %+v", end)
				}
			})
		})
	}
}

// TestUIActionUnanswered: a tool that never answers holds nothing up. The turn ends by the time of the tool, or where it
// may have had an effect with the question what became of it, which ends by itself; and meanwhile the agent of the action
// has its place for another turn.
func TestUIActionUnanswered(t *testing.T) {
	for _, class := range []utp.Class{utp.Read, utp.Reversible, utp.Irreversible} {
		t.Run(string(class), func(t *testing.T) {
			inWorld(t, func(w *world) { w.active = 1 }, func(t *testing.T, w *world) {
				way := w.gate()
				w.post(button(class, `,"suspend_timeout_seconds":20`), func(context.Context, *tool.Call) (tool.Result, error) {
					<-way.way // it does not care that it is told to stop
					return tool.Result{}, nil
				})
				w.work(one(poller))
				q := action("a1")
				q.Agent = agentName
				a := w.actsOn(q)
				w.follow(a.Session)
				if class != utp.Read {
					w.accepts()
				}
				w.reaches(a.Turn, turn.Started)
				w.succeeded(w.begin().Turn)
				began := w.clock.now()
				if class == utp.Read {
					w.over(a.Turn)
					w.isAction(w.actsOn(q), api.ActionRejected, utp.CodeToolTimeout)
				} else {
					w.reaches(a.Turn, turn.Unknown)
					w.over(a.Turn) // nobody says what became of it
					w.isAction(w.actsOn(q), api.ActionRejected, utp.CodeOutcomeUnknown)
				}
				if took := w.clock.now().Sub(began); took > 10*time.Minute {
					t.Errorf("it ended after %v", took)
				}
			})
		})
	}
}

// TestUIActionUnserved: an action whose service has gone ends as well, before anything has begun.
func TestUIActionUnserved(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.post(button(utp.Irreversible, ""), nil).kill()
		q := action("a1")
		a := w.actsOn(q)
		w.follow(a.Session)
		w.accepts()
		w.reaches(a.Turn, turn.Dispatched)
		w.over(a.Turn)
		if a = w.actsOn(q); a.Status != api.ActionRejected || w.last(a.Turn).Fence != 0 {
			t.Errorf("it is %+v", a)
		}
		w.effectsAre(0)
	})
}

// TestUIActionCrash: a kernel that is killed while the call of an action runs, or while it is asked about, goes on with it.
func TestUIActionCrash(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.post(button(utp.Irreversible, ""), nil)
		q := action("a1")
		a := w.actsOn(q)
		w.follow(a.Session)
		before := w.asked()
		w.restart()
		if b := w.actsOn(q); b.Turn != a.Turn || b.Status != api.ActionAccepted {
			t.Errorf("after the restart it is %+v, and was %+v", b, a)
		}
		w.effectsAre(0)
		if now := w.asked(); now.Number != before.Number {
			t.Errorf("question %d is open, and was %d", now.Number, before.Number)
		}
		w.accepts()
		w.over(a.Turn)
		w.isAction(w.actsOn(q), api.ActionDone, "")
		w.effectsAre(1)
	})
}

// TestUIActionForeign: a user interface that is a third-party peer sends the action in its own form, under its own name. It
// hears its wakeup at the end and reads the card of the result; no other peer does.
func TestUIActionForeign(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var got jsontext.Value
		d := button(utp.Read, "")
		d.Parameters = jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"},"metadata":{"type":"object","additionalProperties":true}}}`)
		w.post(d, func(_ context.Context, c *tool.Call) (tool.Result, error) {
			got = c.Args
			return tool.Result{Value: "on"}, nil
		})
		ui := w.stranger("panel")
		send := func(payload string, change ...func(*utp.Context)) (a api.ActionAnswer, err error) {
			at := utp.Context{ProjectID: "home", ChannelID: "public", AgentID: "panel", TurnID: "turn_of_its_own", Traceparent: "00-" + strings.Repeat("a", 32) + "-bbbbbbbbbbbbbbbb-01"}
			for _, c := range change {
				c(&at)
			}
			header, err := utp.EncodeHeader(at, utp.Stamp{At: w.clock.now(), Sender: "cg-nats-client"})
			if err != nil {
				t.Fatal(err)
			}
			err = ui.ask(api.OpUIAction, utp.Message{Header: header, Payload: []byte(payload)}, &a)
			return a, err
		}
		const whole = `{"action_id":"a1","message_id":"m1","tool_name":"light","args":{"name":"x","metadata":{"b":2}},"metadata":{"a":1,"b":1},"later":true}`
		a, err := send(whole)
		if err != nil || a.Status != api.ActionAccepted || a.Agent != "panel" || a.Message != "m1" {
			t.Fatalf("it is %+v, %v", a, err)
		}
		w.follow(a.Session)
		w.over(a.Turn)
		if rung := ui.took(".wakeup"); len(rung) == 0 || rung[0].Subject != "cg.v1r4.home.public.cmd.agent.panel.wakeup" {
			t.Errorf("it heard %+v", rung)
		}
		if a, err = send(whole); err != nil || a.Status != api.ActionDone || string(got) != `{"metadata":{"a":1,"b":2},"name":"x"}` {
			t.Errorf("it is %+v, %v, with the arguments %s", a, err, got)
		}
		var read api.CardRequest
		ui.must(api.OpRead, api.ReadRequest{Card: a.Card}, &read)
		if card, err := utp.DecodeCard(read.Card); err != nil || card.Type != utp.CardToolResult || card.ToolCallID != a.Call {
			t.Errorf("the card is %s, %v", read.Card, err)
		}
		wantFault(t, w.stranger("other").ask(api.OpRead, api.ReadRequest{Card: a.Card}, &read), utp.CodeNotFound)
		for payload, code := range map[string]utp.Code{
			`{"action_id":"b","args":{}}`:                                               utp.CodeMissingRequiredFields,
			`{"action_id":"b","tool_name":"light"}`:                                     utp.CodeMissingRequiredFields,
			`{"action_id":"b","tool_name":"light","args":"on"}`:                         utp.CodeInvalidArgs,
			`{"action_id":"b","tool_name":"light","args":{},"metadata":[]}`:             utp.CodeInvalidMetadata,
			`{"action_id":"b","tool_name":"light","args":{"metadata":1},"metadata":{}}`: utp.CodeInvalidMetadata,
			`{"action_id":"b","tool_name":"` + poller + `","args":{}}`:                  utp.CodeUINotAllowed,
		} {
			if a, err := send(payload); err != nil || a.Status != api.ActionRejected || a.Code != code || a.Action != "b" || a.Turn != "" {
				t.Errorf("%s: %+v, %v, want %s", payload, a, err, code)
			}
		}
		for name, change := range map[string]func(*utp.Context){
			"another agent":   func(c *utp.Context) { c.AgentID = agentName },
			"another project": func(c *utp.Context) { c.ProjectID = "away" },
		} {
			if _, err := send(whole, change); err == nil {
				t.Errorf("%s: it is taken", name)
			}
		}
		if _, err := send(`{"tool_name":"light","args":{}}`); !isFault(err, utp.CodeMissingRequiredFields) {
			t.Errorf("without an id: %v", err)
		}
		if _, err := send(`[]`); !isFault(err, utp.CodeBadRequest) {
			t.Errorf("no object: %v", err)
		}
	})
}

// TestUIActionLater: nothing of an action is asked for twice by a worker of its agent, which has turns of its own.
func TestUIActionLater(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		way := w.gate()
		w.post(button(utp.Read, ""), func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			return tool.Result{Value: "on"}, way.pass(ctx, nil, c)
		})
		q := action("a1")
		q.Agent = agentName
		a := w.actsOn(q)
		w.follow(a.Session)
		w.reaches(a.Turn, turn.Started)
		var none api.ClaimAnswer
		if err := w.as(kernel.AgentCaller, agentName, api.OpClaim, api.ClaimRequest{Agent: agentName, Worker: "wrk_0"}, &none); err != nil || none.Turn != "" {
			t.Errorf("a worker has claimed %+v, %v", none, err)
		}
		w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) {
			t.Error("a worker plans for it")
			return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
		})
		way.open()
		w.over(a.Turn)
		w.isAction(w.actsOn(q), api.ActionDone, "")
	})
}
