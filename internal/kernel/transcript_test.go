package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// transcript reads all results of the turn, page by page.
func (h *hand) transcript() (all []api.CallResult, pages int) {
	h.w.t.Helper()
	for more := true; more; pages++ {
		var page api.TranscriptAnswer
		q := api.TranscriptRequest{WorkerRequest: h.at, After: len(all)}
		if err := rpc.Ask(h.w.ctx, h.conn, api.OpTranscript, q, &page); err != nil || len(page.Results) == 0 {
			h.w.t.Fatalf("after %d results: %+v, %v", len(all), page, err)
		}
		all, more = append(all, page.Results...), page.More
	}
	return all, pages
}

// TestLongMessages: a page of the transcript keeps within a message, also where it is
// the results' messages, and not their values, that are long. The bus asserts the limit.
func TestLongMessages(t *testing.T) {
	testkit.Slow(t)
	const steps, calls = 10, 10
	for name, text := range map[string]string{
		"plain": strings.Repeat("m", 8<<10), "escaped": strings.Repeat(`"`, 8<<10), "beside values of their length": strings.Repeat("m", 2540),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.post(definition(mail, utp.Read, `{}`), func(context.Context, *tool.Call) (tool.Result, error) {
					return tool.Result{}, &utp.ToolError{Code: "broken", Message: text}
				})
				a := w.begin()
				h := w.hand()
				for range steps {
					var step []api.ToolCall
					for i := range calls {
						step = append(step, api.ToolCall{
							Key: fmt.Sprintf("%0128d", h.step*calls+i), Tool: mail, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)},
						})
					}
					if err := h.wants(step...); err != nil {
						t.Fatal(err)
					}
					w.pass(4 * time.Second)
					h.results()
				}
				all, pages := h.transcript()
				if len(all) != steps*calls || pages < 3 {
					t.Errorf("%d results on %d pages; want %d on some", len(all), pages, steps*calls)
				}
				for i, r := range all {
					if r.Key != fmt.Sprintf("%0128d", i) || r.Code != "broken" || r.Message != text {
						t.Fatalf("result %d is %s, %s with %d bytes", i, r.Key, r.Code, len(r.Message))
					}
				}
				h.deliver()
				if s := w.turn(a.Turn).Status; s != turn.Ended {
					t.Errorf("the turn is %s", s)
				}
			})
		})
	}
}

// TestManyCallsInAStep: a step of many calls keeps its service busy to the last of them.
func TestManyCallsInAStep(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, nil, func(t *testing.T, w *world) {
		const calls = 100 / testkit.Slowdown
		var step []worker.Call
		for n := range calls {
			step = append(step, worker.Call{Key: fmt.Sprint(n), Tool: poller, Args: map[string]any{"name": "x"}})
		}
		p := &planner{steps: [][]worker.Call{step}}
		w.workAs(func() worker.Planner { return p })
		a := w.begin()
		w.succeeded(a.Turn)
		if len(p.seen) != calls {
			t.Fatalf("%d results; want %d", len(p.seen), calls)
		}
		for _, r := range p.seen {
			if r.Status != utp.StatusSuccess {
				t.Errorf("%s ended as %s %s", r.Key, r.Status, r.Code)
			}
		}
	})
}
