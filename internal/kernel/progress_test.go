package kernel_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestToolEvents: how far a call is is published as an event of its tool, and so is the
// word to end it; both name the call. Who does not take them stops nothing.
func TestToolEvents(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var mu sync.Mutex
		seen := map[string][]string{} // calls by subject
		w.bus.published(func(subject string, header map[string][]string) error {
			mu.Lock()
			defer mu.Unlock()
			seen[subject] = append(seen[subject], header[utp.HeaderToolCallID]...)
			if strings.HasSuffix(subject, ".progress") {
				return errNobody
			}
			return nil
		})
		w.effects.at("begun", func(ctx context.Context, _ *service, c *tool.Call) error {
			for ctx.Err() == nil {
				c.Progress(0.5)
				<-time.After(time.Second)
			}
			return ctx.Err()
		})
		w.work(one(poller))
		a := w.begin()
		w.reaches(a.Turn, turn.Started)
		w.pass(5 * time.Second)
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person, Surface: "terminal"}); err != nil {
			t.Fatal(err)
		}
		call := w.cancelled(a.Turn).Calls[0].ID
		mu.Lock()
		defer mu.Unlock()
		progress, cancel := "", ""
		for subject := range seen {
			switch {
			case strings.HasSuffix(subject, ".evt.tool."+target+".progress"):
				progress = subject
			case strings.HasSuffix(subject, ".evt.tool."+target+".cancel"):
				cancel = subject
			case strings.HasSuffix(subject, ".cancel"):
				t.Errorf("a cancel went out as a command, on %s", subject)
			}
		}
		if n := len(seen[progress]); n < 4 || seen[progress][0] != call {
			t.Errorf("progress was told %d times: %v", n, seen)
		}
		if len(seen[cancel]) == 0 || seen[cancel][0] != call {
			t.Errorf("the cancel was not told: %v", seen)
		}
	})
}
