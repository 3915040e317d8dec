package kernel_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

func correlatedRequest() api.EnqueueRequest {
	q := keyedRequest()
	q.Key, q.Correlation = "", "order-17"
	return q
}

// TestCorrelation: the same request under the same correlation id gives the one turn, however many ask at once, after a
// restart, and long after an idempotency key would have given way. Another principal's id is another.
func TestCorrelation(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		const atOnce = 20
		turns := make(chan string, atOnce)
		var askers sync.WaitGroup
		for range atOnce {
			askers.Go(func() {
				a, err := w.hub.Enqueue(w.ctx, correlatedRequest())
				if err != nil {
					t.Error(err)
				}
				turns <- a.Turn
			})
		}
		askers.Wait()
		first := <-turns
		for range atOnce - 1 {
			if other := <-turns; other != first {
				t.Errorf("one request began %s and %s", first, other)
			}
		}
		if got := w.turn(first).Correlation; got != "order-17" {
			t.Errorf("the turn has the correlation id %q", got)
		}
		w.restart()
		w.pass(2 * store.KeyLife)
		if a, err := w.hub.Enqueue(w.ctx, correlatedRequest()); err != nil || a.Turn != first || !a.Repeated {
			t.Errorf("two days later: %+v, %v; want %s", a, err, first)
		}
		q := correlatedRequest()
		q.Owner = "bob"
		if a, err := w.hub.Enqueue(w.ctx, q); err != nil || a.Turn == first || a.Repeated {
			t.Errorf("another principal: %+v, %v", a, err)
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "2" {
			t.Errorf("%s turns; want 2", n)
		}
	})
}

// TestCorrelationOfAnother: another request under the same id is a conflict that names the first, and begins nothing. An
// idempotency key of the same text is not the correlation id.
func TestCorrelationOfAnother(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		first, err := w.hub.Enqueue(w.ctx, correlatedRequest())
		if err != nil {
			t.Fatal(err)
		}
		q := correlatedRequest()
		q.Request = "something else"
		_, err = w.hub.Enqueue(w.ctx, q)
		wantFault(t, err, utp.CodeConflict)
		if err == nil || !strings.Contains(err.Error(), first.Session) || !strings.Contains(err.Error(), "correlation id") {
			t.Errorf("%v", err)
		}
		q.Correlation, q.Key = "", "order-17"
		if a, err := w.hub.Enqueue(w.ctx, q); err != nil || a.Turn == first.Turn {
			t.Errorf("a key of that text: %+v, %v", a, err)
		}
		q.Correlation = strings.Repeat("x", api.MaxKey+1)
		_, err = w.hub.Enqueue(w.ctx, q)
		wantFault(t, err, utp.CodeBadRequest)
		if kept := w.cell(`SELECT group_concat(key) FROM request_keys`); strings.Contains(kept, "order") {
			t.Errorf("the keys hold the id itself: %s", kept)
		}
	})
}
