package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/worker"
)

// crowd is a kernel with so many turns, which answers no claim before as many are made side by side as turns are left, at most
// so many.
type crowd struct {
	*kernel

	mu      sync.Mutex
	left    int
	side    int
	most    int
	waiting []chan string
}

func (c *crowd) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	if op != api.OpClaim {
		return c.kernel.Request(ctx, op, request)
	}
	turn := make(chan string, 1)
	c.mu.Lock()
	c.waiting = append(c.waiting, turn)
	c.most = max(c.most, len(c.waiting))
	if len(c.waiting) >= min(c.side, c.left) {
		for _, w := range c.waiting {
			if c.left == 0 {
				w <- ""
				continue
			}
			w <- fmt.Sprint("turn_", c.left)
			c.left--
		}
		c.waiting = nil
	}
	c.mu.Unlock()
	select {
	case id := <-turn:
		return api.EncodeAnswer(api.ClaimAnswer{Turn: id, Epoch: 1, LeaseMS: 30_000}, nil), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestClaimsSideBySide: turns that are announced at the same time are claimed at the same time, and the end of one has no
// other looked after.
func TestClaimsSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const turns = 6
		c := &crowd{kernel: newKernel(t), side: turns}
		w, err := worker.New(worker.Options{Conn: c, Turns: turns + 2, Agent: worker.Agent{Name: "tidy", Plan: func(context.Context, jsontext.Value) (worker.Planner, error) {
			return next(func() (worker.Decision, error) { return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil }), nil
		}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = w.Run(ctx) })
		synctest.Wait() // it has found nothing
		c.mu.Lock()
		c.left = turns
		c.mu.Unlock()
		for n := range turns {
			c.ring(fmt.Sprint("turn_", n+1))
		}
		synctest.Wait()
		if len(c.ended) != turns || c.most != turns {
			t.Errorf("%d turns have ended, after %d claims side by side; want %d", len(c.ended), c.most, turns)
		}
		if n := c.count(api.OpResume) + c.count(api.OpTranscript); n != 0 {
			t.Errorf("asked %d times for results that cannot be there", n)
		}
		cancel()
		running.Wait()
	})
}
