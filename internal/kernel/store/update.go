package store

import (
	"context"
	"errors"
	"time"
)

const (
	// atOnce is how often a transaction is run without a pause: mostly, the race was with one other.
	atOnce = 5
	// longestPause is that between two more, and patience that of all pauses of one transaction.
	longestPause = 64 * time.Millisecond
	patience     = 15 * time.Second
)

// Update runs fn in a transaction, and runs it again after a lost race: at first at once, then with pauses. Each lost race is
// another transaction's that was won, so of many that write the same row, as the ends of many turns within one, each gets its
// turn. [ErrConflict] means that the context has ended meanwhile, or that it was in vain for long.
//
// The pauses are the same for everybody, so that a simulation can be played again; that others write too sets them apart.
func Update(ctx context.Context, l Ledger, fn func(Tx) error) error {
	pause, paused := time.Millisecond, time.Duration(0)
	for try := 1; ; try++ {
		err := l.Update(ctx, fn)
		switch {
		case !errors.Is(err, ErrConflict):
			return err
		case try < atOnce:
			continue
		case paused >= patience || !wait(ctx, pause):
			return err
		}
		paused += pause
		pause = min(2*pause, longestPause)
	}
}

// wait reports whether the context has not ended meanwhile.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
