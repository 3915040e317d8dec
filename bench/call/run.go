package main

import (
	"context"
	"errors"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// round is what one measurement of one contender has found.
type round struct {
	Calls   int           // in the window
	Rate    float64       // calls per second
	P50     time.Duration // from the request to the applied result
	P99     time.Duration
	Counted counted       // over the whole run
	All     int           // calls of the whole run
	Own     time.Duration // of processors for each call, in this process
	Server  time.Duration // and in the server
	Asked   string        // requests to the kernel for each call, by operation
}

// load is how a contender is driven: Workers one after the other without a pause, or, with a
// Rate, so many calls per second anyone who is free.
type load struct {
	Workers int
	Rate    int
	Warm    time.Duration
	For     time.Duration
	// Join: instead of a tool, so many turns do each call. Workers are then those that do the calls.
	Join int
	// Postmaster is the server's first process; 0 is none.
	Postmaster int
}

// drive starts the pace of a load, opens the window once the contender is warm, and waits
// until it is over.
func (l load) drive(ctx context.Context, m *meter, profile string) error {
	if err := sleep(ctx, l.Warm); err != nil {
		return err
	}
	stop, err := profiling(profile)
	if err != nil {
		return err
	}
	before := spent(l.Postmaster)
	m.open(l.For)
	err = sleep(ctx, l.For)
	m.spent = spent(l.Postmaster).minus(before)
	return errors.Join(err, stop())
}

// profiling writes a CPU profile until it is stopped; "" writes none.
func profiling(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(f.Close(), allocations(path+".allocs"))
	}, nil
}

// allocations writes what was allocated so far.
func allocations(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}

// ticks sends the instants at which calls are to begin, so many per second, until ctx ends.
// One that nobody takes in time is kept: the call that takes it has begun late.
func ticks(ctx context.Context, rate int) <-chan time.Time {
	if rate == 0 {
		return nil
	}
	out := make(chan time.Time, 100*rate)
	go func() {
		ticker := time.NewTicker(time.Second / time.Duration(rate))
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case at := <-ticker.C:
				select {
				case out <- at:
				default: // nobody keeps up
				}
			}
		}
	}()
	return out
}

// ours measures the real parts over a store.
func ours(ctx context.Context, l load, store store.Ledger, profile string) (r round, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &meter{}
	seats, turns, plan := l.Workers, l.Workers, plan(m, ticks(ctx, l.Rate))
	if l.Join > 0 {
		turns = max(l.Workers/l.Join, 1)
		seats, plan = l.Workers+turns, joinPlan(m, l.Join)
	}
	p, err := raise(ctx, store, seats, plan)
	if err != nil {
		return r, err
	}
	if err := p.enqueue(ctx, turns); err != nil {
		return r, errors.Join(err, p.end())
	}
	err = l.drive(ctx, m, profile)
	if err = errors.Join(err, p.end()); err != nil {
		return r, err
	}
	r = m.round(l.For)
	r.Asked = p.asked.over(r.All)
	return r, nil
}

// rivers measures River.
func rivers(ctx context.Context, l load, dsn, profile string) (r round, err error) {
	m := &meter{}
	c, err := openRiver(ctx, dsn, m, l.Rate == 0)
	if err != nil {
		return r, err
	}
	pacing, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	if l.Rate == 0 {
		for n := range l.Workers {
			if err := c.ask(ctx, n, time.Now()); err != nil {
				stop()
				return r, errors.Join(err, c.close(ctx))
			}
		}
		done <- nil
	} else {
		go func() { done <- c.askAll(pacing, ticks(pacing, l.Rate)) }()
	}
	err = l.drive(ctx, m, profile)
	stop()
	err = errors.Join(err, <-done, c.close(ctx))
	if err != nil {
		return r, err
	}
	return m.round(l.For), nil
}

// askAll begins a call at each tick, side by side.
func (c *chain) askAll(ctx context.Context, ticks <-chan time.Time) error {
	failures := make(chan error, 1)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failures:
			return err
		case at := <-ticks:
			go func() {
				if err := c.ask(context.WithoutCancel(ctx), n, at); err != nil {
					select {
					case failures <- err:
					default:
					}
				}
			}()
		}
	}
}

// round sums a meter's window up.
func (m *meter) round(window time.Duration) round {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.took)
	return round{
		Calls: len(m.took), All: m.all, Rate: float64(len(m.took)) / window.Seconds(), P50: share(m.took, 50), P99: share(m.took, 99),
		Own: m.spent.own / time.Duration(max(len(m.took), 1)), Server: m.spent.server / time.Duration(max(len(m.took), 1)),
	}
}

func share(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
