package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// steadyDeliveries is how many deliveries a second the steady rate makes by default.
const steadyDeliveries = 20_000

// round is what was measured of one server in one round.
type round struct {
	idle   float64 // KiB of resident memory for each listener that waits for its first event
	rested float64 // the same, after all that follows
	p50    time.Duration
	p99    time.Duration
	steady time.Duration // processor time of the server for each delivery at the steady rate
	most   float64       // deliveries a second, when as many events come as the server takes
	flood  time.Duration // processor time of the server for each of these
}

// all measures each server in turns: the hub with a listener's own terms for each, with the same terms for all, and the
// bare server.
func (s settings) all() error {
	s.rate = cmp.Or(s.rate, max(1, steadyDeliveries/s.listeners))
	servers := []string{"hub", "same", "bare"}
	found := map[string][]round{}
	for range s.rounds {
		for _, what := range servers {
			one, err := s.measured(what)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			found[what] = append(found[what], one)
		}
	}
	fmt.Printf("%d listeners, %d sessions, events of %d bytes, steady rate %d events/s, medians of %d rounds of %s\n", s.listeners, s.open, eventBytes, s.rate, s.rounds, s.lasts)
	fmt.Println("server  idle KiB  rested KiB  p50 ms  p99 ms  steady µs  most events/s  flood µs")
	for _, what := range servers {
		m := medians(found[what])
		fmt.Printf("%-6s %9.1f %11.1f %7.2f %7.2f %10.1f %14.0f %9.2f\n", what, m.idle, m.rested, millis(m.p50), millis(m.p99), micros(m.steady), m.most, micros(m.flood))
	}
	compare("own terms to bare", found["hub"], found["bare"])
	compare("own terms to the same", found["hub"], found["same"])
	return nil
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// column is a median of what a function picks from each round.
func column[N cmp.Ordered](all []round, of func(round) N) N {
	var values []N
	for _, r := range all {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func medians(all []round) round {
	return round{
		idle: column(all, func(r round) float64 { return r.idle }), rested: column(all, func(r round) float64 { return r.rested }),
		p50: column(all, func(r round) time.Duration { return r.p50 }), p99: column(all, func(r round) time.Duration { return r.p99 }),
		steady: column(all, func(r round) time.Duration { return r.steady }),
		most:   column(all, func(r round) float64 { return r.most }), flood: column(all, func(r round) time.Duration { return r.flood }),
	}
}

func compare(name string, these, those []round) {
	a, b := medians(these), medians(those)
	fmt.Printf("%s: events/s %.2f, p50 %.2f, p99 %.2f, idle memory %.2f (rested %.2f), processor %.2f steady and %.2f in the flood\n", name,
		a.most/b.most, ratio(a.p50, b.p50), ratio(a.p99, b.p99), a.idle/b.idle, a.rested/b.rested, ratio(a.steady, b.steady), ratio(a.flood, b.flood))
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func (s settings) measured(what string) (r round, err error) {
	c, err := s.start(what)
	if err != nil {
		return r, err
	}
	defer c.leave()
	empty, err := c.ask("settle")
	if err != nil {
		return r, err
	}
	capabilities := different
	if what != "hub" {
		capabilities = equal
	}
	if err := c.join(capabilities); err != nil {
		return r, err
	}
	each := func(f figures) float64 { return float64(f.Resident-empty.Resident) / float64(s.listeners) }
	full, err := c.ask("settle")
	if err != nil {
		return r, err
	}
	r.idle = each(full)
	if s.measure != "flood" {
		if err := c.steadily(&r); err != nil {
			return r, err
		}
	}
	if s.measure != "steady" {
		if err := c.flooded(&r); err != nil {
			return r, err
		}
	}
	full, err = c.ask("settle")
	r.rested = each(full)
	return r, err
}

// steadily has events come at a rate that leaves the server time.
func (c *crowd) steadily(r *round) error {
	count := int(c.lasts.Seconds()) * c.rate
	if _, err := c.ask("figures"); err != nil {
		return err
	}
	c.timed.Store(true)
	before := c.heard.Load()
	if err := c.say("pace %d %d", count, c.rate); err != nil {
		return err
	}
	deliveries := count * c.settings.listeners
	if err := c.wait(before + int64(deliveries)); err != nil {
		return err
	}
	c.timed.Store(false)
	var waits []time.Duration
	for _, l := range c.listeners {
		waits = append(waits, l.times()...)
	}
	slices.Sort(waits)
	used, err := c.ask("figures")
	r.p50, r.p99, r.steady = waits[len(waits)/2], waits[len(waits)*99/100], used.Processor/time.Duration(deliveries)
	return err
}

// flooded has as many events come as the server takes: the next half of the window, as soon as no more than the other half
// is on its way.
func (c *crowd) flooded(r *round) error {
	half, each, before := c.window/2, int64(c.settings.listeners), c.heard.Load()
	var counted int64
	var began time.Time
	told := int64(0)
	for warm := time.Now().Add(c.lasts / 5); began.IsZero() || time.Since(began) < c.lasts; {
		if began.IsZero() && time.Now().After(warm) {
			if _, err := c.ask("figures"); err != nil {
				return err
			}
			began, counted = time.Now(), c.heard.Load()
		}
		if err := c.say("tell %d", half); err != nil {
			return err
		}
		told += int64(half)
		if err := c.wait(before + (told-int64(half))*each); err != nil {
			return err
		}
	}
	took, deliveries := time.Since(began), c.heard.Load()-counted
	used, err := c.ask("figures")
	if err != nil {
		return err
	}
	r.most, r.flood = float64(deliveries)/took.Seconds(), used.Processor/time.Duration(deliveries)
	return c.wait(before + told*each)
}
