package tool_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestGrantedTooLate: a grant whose time to start is over when it arrives begins nothing
// (call protocol, step E), whatever the tool itself would have looked at.
func TestGrantedTooLate(t *testing.T) {
	ran := false
	run := func(context.Context, *tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil }
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
			a := k.granted("tc_1")
			a.StartWithinMS = 0
			return a, nil
		}
		k.command("tc_1", "run")
		f := k.finished()
		if ran || f.Status != utp.StatusCanceled || f.Error == nil || f.Error.Code != utp.CodeConsentStale {
			t.Errorf("ran: %v, finished %s with %+v; want canceled, consent_stale", ran, f.Status, f.Error)
		}
	})
}

// TestStoppedBeforeItBegan: a grant that says that the turn has been stopped begins
// nothing, and the kernel is told so.
func TestStoppedBeforeItBegan(t *testing.T) {
	ran := false
	run := func(context.Context, *tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil }
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
			a := k.granted("tc_1")
			a.Stop = true
			return a, nil
		}
		k.command("tc_1", "run")
		f := k.finished()
		if ran || f.Status != utp.StatusCanceled || f.Error == nil || f.Error.Code != utp.CodeStopped {
			t.Errorf("ran: %v, finished %s with %+v; want canceled, stopped", ran, f.Status, f.Error)
		}
		if k.count(api.OpHeartbeat) != 0 {
			t.Error("it was kept alive")
		}
	})
}
