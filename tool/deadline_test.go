package tool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// timed runs one call of a service whose machine has a boot-time clock of its own.
func timed(t *testing.T, boot func() time.Duration, start func(api.StartAnswer) api.StartAnswer, run func(c *tool.Call)) *kernel {
	t.Helper()
	k := newKernel(t)
	k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) { return start(k.granted("tc_1")), nil }
	work := func(_ context.Context, c *tool.Call) (tool.Result, error) {
		run(c)
		return tool.Result{}, nil
	}
	s, err := tool.New(tool.Options{Conn: k, Tools: []tool.Tool{{Definition: definition(), Run: work}}, Boot: boot})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	synctest.Wait()
	k.command("tc_1", "run")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return k
}

// TestReadyWhateverTheTimeOfDay: the kernel's time of day may be minutes before or after ours. What
// counts is how long ago the start was asked for (call protocol, step E).
func TestReadyWhateverTheTimeOfDay(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"the service is ahead": -5 * time.Minute, "the service is behind": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				boot := func() time.Duration { return 0 } // no help: its own clock has to do
				var early, late error
				ran := false
				timed(t, boot, func(a api.StartAnswer) api.StartAnswer {
					a.StartBy = time.Now().Add(off + time.Minute) //nolint:staticcheck // what it must not read
					a.LeaseMS = 600_000
					return a
				}, func(c *tool.Call) {
					ran = true
					<-time.After(time.Minute - time.Millisecond)
					early = c.Ready()
					<-time.After(time.Millisecond)
					late = c.Ready()
				})
				synctest.Wait()
				if e, is := errors.AsType[*utp.ToolError](late); !ran || early != nil || !is || e.Code != utp.CodeConsentStale {
					t.Errorf("ran: %v; just before the time to start is over: %v; then: %v", ran, early, late)
				}
			})
		})
	}
}

// TestReadyCountsSleep: a machine that slept between the start and the effect does nothing, although
// the process's own clock stood still. So does one whose sleep was while the answer came.
func TestReadyCountsSleep(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]string{"before the effect": "run", "before the answer": api.OpStart} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slept := time.Hour
				ready, ran := error(nil), false
				k := timed(t, func() time.Duration { return slept }, func(a api.StartAnswer) api.StartAnswer {
					if during == api.OpStart {
						slept += time.Minute
					}
					a.LeaseMS = 600_000
					return a
				}, func(c *tool.Call) {
					ran = true
					slept += time.Minute
					ready = c.Ready()
				})
				if during == api.OpStart {
					if f := k.finished(); ran || f.Error == nil || f.Error.Code != utp.CodeConsentStale {
						t.Errorf("ran: %v, finished %s with %+v", ran, f.Status, f.Error)
					}
					return
				}
				if e, is := errors.AsType[*utp.ToolError](ready); !is || e.Code != utp.CodeConsentStale {
					t.Errorf("ready after a minute of sleep: %v", ready)
				}
			})
		})
	}
}
