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
	make func(ctx context.Context) (heard bool, err error)
	// over answers whether nothing more is wanted.
	over func() bool
	// mayReturn answers whether another try makes sense after this error.
	mayReturn func(err error) bool

	patience time.Duration // how long a lost connection is tried for again
	now      func() time.Time
	told     func(Connection) // gets the loss and the return, each once

	lost time.Time // since when there is none; zero while there is one
	said bool      // that it is lost
}

// keep connects until nothing more is wanted or there is no use in trying.
func (c *connection) keep(ctx context.Context) error {
	pause := firstPause

	for {
		heard, err := c.make(ctx)

		switch {
		case c.over():
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("client: %w", context.Cause(ctx))
		case !c.mayReturn(err):
			return err
		case heard:
			pause = firstPause
		}

		now := c.now()
		if c.lost.IsZero() {
			c.lost = now
		}

		if now.Sub(c.lost) > c.patience {
			return err
		}

		if pause > firstPause && !c.said { // not for a moment's loss
			c.said = true
			c.told(Connection{Lost: err})
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

	if c.said {
		c.said = false
		c.told(Connection{})
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
