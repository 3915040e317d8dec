package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cli"
)

// readyEvery is how often an attached run asks whether its server takes work.
const readyEvery = 5 * time.Second

// reportReady reports that a server which answers does not take work, as while its database is away, and that it does so
// again: of that nothing comes with the events. A server that does not answer is reported by those who read its events.
// The caller must call done.
func (m *Main) reportReady(ctx context.Context, ready func(context.Context) error) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		timer := time.NewTicker(readyEvery)
		defer timer.Stop()
		r := readiness{say: m.Notef}
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if err := ready(ctx); ctx.Err() == nil {
				r.heard(err, time.Now())
			}
		}
	})
	return func() {
		cancel()
		owned.Wait()
	}
}

// readiness is what a person was told about whether a server takes work. One goroutine uses it.
type readiness struct {
	say    func(format string, args ...any)
	since  time.Time // when the server was first found not to take work; zero while it does
	told   bool
	outage cli.Outage
}

// heard takes the server's answer. One that failed may have been slow for other reasons, so the second in a row is told.
func (r *readiness) heard(err error, now time.Time) {
	switch {
	case errors.Is(err, &client.Error{Code: client.Code(api.KindUnavailable)}):
		if r.since.IsZero() {
			r.since = now
			return
		}
		if lasted, again := r.outage.Again(r.since, now); !r.told || again {
			r.told = true
			r.say("Waiting: the server answers, but does not take work, for %s now; its database may be away. What is wrong is said where it runs. "+
				"Nothing starts meanwhile, and questions stay open until their deadlines.", cli.LastedText(lasted))
		}
	case err == nil:
		if r.told {
			r.say("The server takes work again; nothing was missed.")
		}
		r.since, r.told = time.Time{}, false
		r.outage.Reset()
	}
}
