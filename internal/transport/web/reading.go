package web

import "context"

// mostReading is how many sessions are read through for the page at once. Each may be long, and is in memory meanwhile;
// who comes later waits.
const mostReading = 4

// reading bounds that. Who has entered leaves when the session was read.
type reading chan struct{}

func (r reading) enter(ctx context.Context) error {
	select {
	case r <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
}

func (r reading) leave() { <-r }
