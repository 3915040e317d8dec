package subscribe

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// firstPause and longestPause bound the time between two attempts to connect.
const firstPause, longestPause = 200 * time.Millisecond, 5 * time.Second

// connection reconnects whenever the connection is lost.
type connection struct {
	// make connects, and receives until the connection ends. It reports whether the connection was made.
	make func(ctx context.Context) (connected bool, err error)
	// done reports whether the consumer needs nothing more.
	done func() bool
	// mayReturn reports whether another attempt makes sense after this error.
	mayReturn func(err error) bool

	first   time.Duration // how long to try for the first connection; below 0, once
	timeout time.Duration // how long to retry a lost connection
	now     func() time.Time
	report  func(Connection) // reports a loss and a return, once each
	wait    func(time.Time)  // reports a further attempt that failed, and since when the connection is lost

	made         bool      // whether there ever was a connection
	lost         time.Time // when it was lost; zero while connected
	lossReported bool      // whether the loss was reported
}

// run connects until nothing more is needed or retrying is pointless.
func (c *connection) run(ctx context.Context) error {
	pause := firstPause

	for {
		connected, err := c.make(ctx)

		switch {
		case c.done():
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("subscribe: %w", context.Cause(ctx))
		case !c.mayReturn(err):
			return err
		case connected:
			pause = firstPause
		}

		now := c.now()
		if c.lost.IsZero() {
			c.lost = now
		}

		if now.Sub(c.lost) > c.patience() {
			return err
		}

		switch {
		case c.lossReported:
			c.wait(c.lost)
		case pause > firstPause: // a very short loss is not reported
			c.lossReported = true
			c.report(Connection{Lost: err})
		}

		if e, is := errors.AsType[*Error](err); is {
			pause = max(pause, e.After)
		}

		if err := wait(ctx, pause); err != nil {
			return err
		}

		pause = min(2*pause, longestPause)
	}
}

// patience is how long a failure is retried.
func (c *connection) patience() time.Duration {
	if c.made {
		return c.timeout
	}

	return c.first
}

// back records that the connection is established.
func (c *connection) back() {
	c.made, c.lost = true, time.Time{}

	if c.lossReported {
		c.lossReported = false
		c.report(Connection{})
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return fmt.Errorf("subscribe: %w", context.Cause(ctx))
	case <-timer.C:
		return nil
	}
}
