package main

import (
	"fmt"
	"slices"
	"time"
)

// cost is what one round has cost.
type cost struct {
	rate      float64       // deliveries a second
	processor time.Duration // of the server, for each delivery
	resident  int           // of the server, in KiB
}

// turns has the server tell batches of events, each as soon as everybody has heard the one before.
func (s settings) turns() error {
	servers := []string{"hub", "bare"}
	found := map[string][]cost{}
	for range s.rounds {
		for _, what := range servers {
			one, err := s.turnsOf(what)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			found[what] = append(found[what], one)
		}
	}
	fmt.Printf("%d listeners, %d owners, %d sessions open and %d recent, %d events at once\n", s.listeners, s.owners, s.open, s.recent, s.batch)
	for _, what := range servers {
		all := found[what]
		slices.SortFunc(all, func(a, b cost) int { return int(a.processor - b.processor) })
		m := all[len(all)/2]
		fmt.Printf("%-5s %8.0f events/s, %6.1f µs of processor each (%.1f to %.1f), %d MiB resident\n", what, m.rate,
			micros(m.processor), micros(all[0].processor), micros(all[len(all)-1].processor), m.resident>>10)
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func (s settings) turnsOf(what string) (cost, error) {
	c, err := s.start(what)
	if err != nil {
		return cost{}, err
	}
	defer c.leave()
	if err := c.join(equal); err != nil {
		return cost{}, err
	}
	for range 10 {
		if err := c.turn(); err != nil {
			return cost{}, err
		}
	}
	if _, err := c.ask("figures"); err != nil {
		return cost{}, err
	}
	began, before := time.Now(), c.heard.Load()
	for range s.batches {
		if err := c.turn(); err != nil {
			return cost{}, err
		}
	}
	took, deliveries := time.Since(began), c.heard.Load()-before
	used, err := c.ask("figures")
	return cost{rate: float64(deliveries) / took.Seconds(), processor: used.Processor / time.Duration(deliveries), resident: used.Resident}, err
}

func (c *crowd) turn() error {
	enough := c.heard.Load() + int64(c.settings.listeners/c.owners*c.batch)
	if err := c.say("tell %d", c.batch); err != nil {
		return err
	}
	return c.wait(enough)
}
