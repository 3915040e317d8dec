package client

import (
	"context"
	"fmt"
	"time"
)

// firstPause and longestPause bound the time between two tries to connect.
const firstPause, longestPause = 200 * time.Millisecond, 5 * time.Second

// connection is one that is made again whenever it is lost.
type connection struct {
	// make connects, and hears until the connection ends. Heard says that there was one.
	make func(ctx context.Context) (connected bool, err error)
	// done answers whether nothing more is wanted.
	done func() bool
	// mayReturn answers whether another try makes sense after this error.
	mayReturn func(err error) bool

	timeout time.Duration // how long a lost connection is tried for again
	now     func() time.Time
	report  func(Connection) // gets the loss and the return, each once

	lost         time.Time // since when there is none; zero while there is one
	lossReported bool      // that it is lost
}

// run connects until nothing more is wanted or there is no use in trying.
func (c *connection) run(ctx context.Context) error {
	pause := firstPause

	for {
		connected, err := c.make(ctx)

		switch {
		case c.done():
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("client: %w", context.Cause(ctx))
		case !c.mayReturn(err):
			return err
		case connected:
			pause = firstPause
		}

		now := c.now()
		if c.lost.IsZero() {
			c.lost = now
		}

		if now.Sub(c.lost) > c.timeout {
			return err
		}

		if pause > firstPause && !c.lossReported { // not for a moment's loss
			c.lossReported = true
			c.report(Connection{Lost: err})
		}

		if err := wait(ctx, pause); err != nil {
			return err
		}

		pause = min(2*pause, longestPause)
	}
}

// back notes that there is a connection.
func (c *connection) back() {
	c.lost = time.Time{}

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
		return fmt.Errorf("client: %w", context.Cause(ctx))
	case <-timer.C:
		return nil
	}
}
