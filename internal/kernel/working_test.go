package kernel_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestToolWords: what a call is at is told in the tool's words, the newest of them, and not more often than every two seconds.
func TestToolWords(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.effects.at("begun", func(_ context.Context, _ *service, c *tool.Call) error {
			c.Doing("  ")
			for i := range 100 {
				c.Doing(fmt.Sprintf("File %d of 100.", i+1))
				<-time.After(100 * time.Millisecond)
			}
			<-time.After(3 * time.Second)
			return nil
		})
		p := w.program()
		a := p.asked(poller)
		w.isStatus(p.waits(a.Call), utp.StatusSuccess, "")
		w.tells(p.session, poller+": “File 1 of 100.”", poller+": “File 100 of 100.”")
		if n := w.cell(`SELECT count(*) FROM events WHERE session_id = ? AND type LIKE '%progress.updated'`, p.session); n != "6" {
			t.Errorf("it was told %s times in ten seconds", n)
		}
		p.closes()
	})
}
