package tool_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestLedgerInTrouble: calls whose turn cannot be read do not keep their slots for ever, so that
// others are done; what passes by itself is told, however long it lasts.
func TestLedgerInTrouble(t *testing.T) {
	run := func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{Value: 1}, nil }
	reconcile := func(context.Context, *tool.Call) (tool.Outcome, tool.Result, error) {
		return tool.Unknown, tool.Result{}, nil
	}
	for name, tt := range map[string]struct {
		suffix, op string
		trouble    error
		passes     bool
	}{
		"start, it cannot be read":     {"run", api.OpStart, &api.Fault{Code: utp.CodeStorageError}, false},
		"finish, it cannot be read":    {"run", api.OpFinish, &api.Fault{Code: utp.CodeStorageError}, false},
		"finish, others hold it":       {"run", api.OpFinish, &api.Fault{Code: utp.CodeStorageError, Retry: true}, true},
		"finish, no room":              {"run", api.OpFinish, &api.Fault{Code: utp.CodeUpstreamUnavailable, Retry: true}, true},
		"finish, no answer":            {"run", api.OpFinish, errCable, true},
		"reconcile, it cannot be read": {utp.SuffixReconcile, api.OpReconcile, &api.Fault{Code: utp.CodeStorageError}, false},
		"settle, it cannot be read":    {utp.SuffixReconcile, api.OpSettle, &api.Fault{Code: utp.CodeStorageError}, false},
	} {
		t.Run(name, func(t *testing.T) {
			serving(t, tool.Tool{Run: run, Reconcile: reconcile}, func(t *testing.T, k *kernel, _ func()) {
				var passed atomic.Bool
				usual := k.answer[tt.op]
				k.answer[tt.op] = func(n int, request jsontext.Value) (any, error) {
					if !passed.Load() && strings.Contains(string(request), "tc_bad") {
						return nil, tt.trouble
					}
					if usual != nil {
						return usual(n, request)
					}
					return struct{}{}, nil
				}
				for _, call := range []string{"tc_bad1", "tc_bad2", "tc_bad3", "tc_bad4", "tc_good"} {
					k.command(call, tt.suffix)
				}
				pass(10 * time.Minute)
				if done := k.askedOf(tt.op, "tc_good"); done == tt.passes {
					t.Errorf("the next call was done: %v; its trouble passes: %v", done, tt.passes)
				}
				passed.Store(true)
				pass(time.Minute)
				if !k.askedOf(tt.op, "tc_good") {
					t.Error("the next call was not done when all was well again")
				}
			})
		})
	}
}

// askedOf reports whether there was such a request about the call.
func (k *kernel) askedOf(op, call string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.asked[op], func(request jsontext.Value) bool { return strings.Contains(string(request), call) })
}
