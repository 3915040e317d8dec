package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestServes: a tool that its service has no more is not offered, and a call of it ends with nothing asked. It keeps its review for when
// it is back. Another service says nothing about it.
func TestServes(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		says := func(service string, tools ...string) {
			t.Helper()
			if err := w.as(kernel.ToolCaller, service, api.OpServes, api.ServesRequest{Tools: tools}, nil); err != nil {
				t.Fatal(err)
			}
		}
		offered := func(want bool) {
			t.Helper()
			var a api.OfferedAnswer
			if err := rpc.Ask(w.ctx, w.person, api.OpOffered, api.OfferedRequest{Agent: programName}, &a); err != nil {
				t.Fatal(err)
			}
			if got := slices.ContainsFunc(a.Tools, func(one api.OfferedTool) bool { return one.Tool == burn }); got != want {
				t.Errorf("it is offered: %v, expected %v", got, want)
			}
		}
		before := w.tool(burn)
		says("others")
		offered(true)
		says(target, poller)
		offered(false)
		if got := p.asked(burn); !got.Ended() || got.Code != utp.CodeUnknownTool {
			t.Errorf("a call of it: %+v", got)
		}
		w.registers(before.Definition)
		offered(true)
		if after := w.tool(burn); after.Reviewed != before.Reviewed || after.Digest != before.Digest {
			t.Errorf("it is back as %+v", after)
		}
		err := w.as(kernel.ToolCaller, target, api.OpServes, api.ServesRequest{Tools: make([]string, 201)}, nil)
		if !isFault(err, utp.CodeTooManyTools) {
			t.Errorf("too many tools: %v", err)
		}
		p.closes()
	})
}

// TestToolMissing: a question about a tool that its service does not offer any more, or that was taken out of the registry, is withdrawn
// with the reason, and a yes from before does not count. What runs goes on.
func TestToolMissing(t *testing.T) {
	ways := map[string]func(*testing.T, *world){
		"not served": func(t *testing.T, w *world) {
			t.Helper()
			if err := w.as(kernel.ToolCaller, target, api.OpServes, api.ServesRequest{Tools: []string{poller}}, nil); err != nil {
				t.Fatal(err)
			}
		},
		"removed": func(t *testing.T, w *world) {
			t.Helper()
			if _, err := operate[struct{}](w, api.OpRemove, api.RemoveRequest{Tool: burn}); err != nil {
				t.Fatal(err)
			}
		},
	}
	states := []struct {
		name  string
		until func(w *world, id string)
		words string
	}{
		{"asked", func(w *world, _ string) { w.asked() }, "The tool burn is not there any more. Question 1 is withdrawn. Nothing was done."},
		{"accepted", func(w *world, id string) {
			w.accepts()
			w.reaches(id, turn.Accepted)
		}, "The tool burn is not there any more. Your yes to question 1 does not count. Nothing was done."},
		{"dispatched", func(w *world, id string) {
			w.services[0].conn.cut.Store(true)
			w.accepts()
			w.reaches(id, turn.Dispatched)
		}, "The tool burn did not start: it is not there any more. Nothing was done."},
	}
	for way, goes := range ways {
		for _, tt := range states {
			t.Run(way+", "+tt.name, func(t *testing.T) {
				inWorld(t, nil, func(t *testing.T, w *world) {
					w.work(one(burn))
					a := w.begin()
					tt.until(w, a.Turn)
					goes(t, w)
					w.settle()
					call := w.reaches(a.Turn, turn.Closed)
					if call.Outcome.Code != utp.CodeUnknownTool || call.ReplacedBy != "" || call.Outcome.Message != "the tool burn is not there any more; nothing was done" {
						t.Errorf("the call ended as %+v, and %q stands for it", call.Outcome, call.ReplacedBy)
					}
					if open := w.questions(); len(open) > 0 {
						t.Errorf("still asked: %+v", open)
					}
					w.over(a.Turn)
					w.effectsAre(0)
					if !strings.Contains(w.tale(), tt.words) {
						t.Errorf("nobody hears %q:\n%s", tt.words, w.tale())
					}
				})
			})
		}
		t.Run(way+", started", func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				running := w.gate()
				w.effects.at("begun", running.pass)
				w.work(one(burn))
				a := w.begin()
				w.accepts()
				w.reaches(a.Turn, turn.Started)
				goes(t, w)
				running.open()
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}
