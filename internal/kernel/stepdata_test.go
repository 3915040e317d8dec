package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/storetest"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestStepData: what an agent saves with a step is there with its results, also for the next worker and after a
// restart, whatever its size, and is erased with the turn.
func TestStepData(t *testing.T) {
	for name, size := range map[string]int{"small": 10, "a blob": api.InlineLimit + 1} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				data := jsontext.Value(`{"answer":"` + storetest.Marker + strings.Repeat("x", size) + `"}`)
				var last worker.Transcript
				plan := func(_ context.Context, tr worker.Transcript) (worker.Decision, error) {
					last = tr // one worker at a time
					switch len(tr.Steps()) {
					case 0:
						return worker.Decision{Calls: []worker.Call{
							{Key: "a", Tool: poller, Args: []byte(`{"name":"a"}`)}, {Key: "b", Tool: poller, Args: map[string]string{"name": "b"}},
						}, Data: data}, nil
					case 1:
						return worker.Decision{Question: &worker.Question{Key: "q", Text: "Which?"}}, nil
					default:
						return done("Done.")
					}
				}
				first := w.loop(plan)
				a := w.begin()
				q := w.asked()
				first.cancel()
				<-first.done
				w.restart()
				w.serve(target, standardTools)
				w.loop(plan)
				w.say(q, "this one")
				w.succeeded(a.Turn)
				if len(last.Results) != 3 {
					t.Fatalf("%d results; want 3", len(last.Results))
				}
				for i, want := range []jsontext.Value{data, data, nil} {
					r := last.Results[i]
					if string(r.Data) != string(want) || r.Status != utp.StatusSuccess {
						t.Errorf("the result %s is %s, with data of %d bytes; want %d", r.Key, r.Status, len(r.Data), len(want))
					}
				}
				w.pass(2 * time.Minute)
				got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{a.Turn}})
				if err != nil || got.Erased != 1 {
					t.Fatalf("erased %+v, %v", got, err)
				}
				if n := w.cell(`SELECT count(*) FROM cards`); n != "0" {
					t.Errorf("%s cards are left", n)
				}
				w.unjudged = true
			})
		})
	}
}

// TestStepDataOfManyCalls: the data is there with every result of a step, also where they fill several pages.
func TestStepDataOfManyCalls(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		const calls = 130
		data := jsontext.Value(`{"n":1}`)
		w.loop(func(_ context.Context, tr worker.Transcript) (worker.Decision, error) {
			if len(tr.Results) == 0 {
				return worker.Decision{Calls: one(poller), Data: data}, nil
			}
			if len(tr.Results) == 1 {
				var all []worker.Call
				for i := range calls {
					all = append(all, worker.Call{Key: fmt.Sprint(i), Tool: unknown})
				}
				return worker.Decision{Calls: all, Data: jsontext.Value(`{"n":2}`)}, nil
			}
			for i, r := range tr.Results {
				if want := map[bool]string{true: `{"n":1}`, false: `{"n":2}`}[i == 0]; string(r.Data) != want {
					t.Errorf("the result %d has the data %s; want %s", i, r.Data, want)
				}
			}
			return done(fmt.Sprint(len(tr.Results)))
		})
		if end := w.over(w.begin().Turn).End; end.Message != fmt.Sprint(calls+1) {
			t.Errorf("ended with %s", end.Message)
		}
	})
}

// TestStepDataRefused: a step whose data cannot be kept is not taken, and nothing of it is saved.
func TestStepDataRefused(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		w.begin()
		h := w.hand()
		for name, tt := range map[string]struct {
			data api.Body
			code utp.Code
		}{
			"no object":      {api.Body{Inline: jsontext.Value(`[1]`)}, utp.CodeBadRequest},
			"no such blob":   {api.Body{SHA256: strings.Repeat("0", 64), Size: 7}, utp.CodeBadRequest},
			"too large":      {api.Body{SHA256: strings.Repeat("0", 64), Size: api.StepDataLimit + 1}, utp.CodeTooLarge},
			"not even JSON":  {h.upload([]byte("{")), utp.CodeBadRequest},
			"bytes, no JSON": {h.upload([]byte{0xff}), utp.CodeBadRequest},
		} {
			t.Log(name)
			wantFault(t, rpc.Ask(w.ctx, h.conn, api.OpCall, api.CallRequest{WorkerRequest: h.at, Step: 1, Data: tt.data, Calls: []api.ToolCall{
				{Key: "k", Tool: poller, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)}},
			}}, nil), tt.code)
		}
		if n := w.cell(`SELECT count(*) FROM cards`); n != "0" {
			t.Errorf("%s cards were written for steps that were refused", n)
		}
	})
}

// TestAgentListsTools: an agent learns which tools policy leaves to it, and cannot ask in the name of another.
func TestAgentListsTools(t *testing.T) {
	inWorld(t, func(w *world) {
		w.rules = []rulebook.Rule{{Tool: burn, Decide: "deny"}}
	}, func(t *testing.T, w *world) {
		w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
			tools, err := worker.Tools(ctx, poller)
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name+"="+tool.ModelName+map[bool]string{true: "!"}[tool.Asks])
				if !tool.Reviewed || tool.Parameters.Kind() != '{' {
					t.Errorf("%+v", tool)
				}
			}
			return worker.Decision{Answer: &worker.Answer{Summary: strings.Join(names, " ")}}, err
		})
		a := w.begin()
		end := w.over(a.Turn).End
		t.Log(end.Message)
		if !strings.Contains(end.Message, shred+"=") || strings.Contains(end.Message, burn+"=") {
			t.Errorf("the tools are %s", end.Message)
		}
	})
}
