package client

import (
	"context"
	"fmt"
	"time"
)

// firstPause and longestPause bound the time between two attempts of a request.
const firstPause, longestPause = 200 * time.Millisecond, 5 * time.Second

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
