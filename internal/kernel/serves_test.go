package kernel_test

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
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
