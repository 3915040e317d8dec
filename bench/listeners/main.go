// Command listeners measures what it costs to deliver events to many listeners, each on a stream of its own
// (server-sent events over the loopback), with its own token and its own terms.
//
//	go run ./listeners -listeners 1000                     idle memory, a steady rate, and as many events as the server takes
//	go run ./listeners -measure turns -recent 300          an event comes as soon as everybody has heard the one before
//	go run ./listeners -measure turns -owners 100          the same, and each event is heard by a hundredth of them
//	go run ./listeners -measure streams -batch 32          the processor time of the hub alone, without connections and readers
//	go run ./listeners -measure session                    one session at 1,000 events/s, heard at once at 1/s, at 3/s and in full
//	go run ./listeners -measure soak -listeners 5000 -lasts 10m    nothing is lost while listeners drop and the hub begins again
//
// The server is a process of its own: the hub and the web transport as `earshot up` has them, over a ledger in memory.
// Beside it, in the same run and in turns, stands a bare HTTP server which writes the same frames to every stream that
// is open, all that are due in one write, and knows nothing of sessions, rights, terms or resumption.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"
)

// settings are the same in both processes.
type settings struct {
	serve     string
	measure   string
	same      bool
	profile   string
	listeners int
	owners    int
	open      int
	recent    int
	batch     int
	batches   int
	rounds    int
	window    int
	rate      int
	lasts     time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.measure, "measure", "all", "what to measure: all, steady or flood (one part of all, as for a profile), streams, turns, session or soak")
	flag.IntVar(&s.listeners, "listeners", 1000, "how many listen")
	flag.IntVar(&s.owners, "owners", 1, "how many people own sessions; each listener hears those of one")
	flag.IntVar(&s.open, "open", 10, "how many sessions are under way")
	flag.IntVar(&s.recent, "recent", 0, "how many sessions ended a moment ago")
	flag.IntVar(&s.batch, "batch", 1, "turns and streams: how many events come at once")
	flag.IntVar(&s.batches, "batches", 100, "turns and streams: how many times a round")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds of each server; the median counts")
	flag.IntVar(&s.window, "window", 64, "all: how many events may be on their way at once, when as many come as the server takes")
	flag.IntVar(&s.rate, "rate", 0, "all: events a second of the steady rate, 0 is 20,000 deliveries a second; session: 0 is 1,000")
	flag.DurationVar(&s.lasts, "lasts", 5*time.Second, "how long each part of a round lasts")
	flag.StringVar(&s.profile, "profile", "", "write a processor profile of each server to FILE.hub, FILE.same and FILE.bare")
	flag.StringVar(&s.serve, "serve", "", "what the inner process serves: hub, same or bare")
	flag.Parse()
	if err := s.run(); err != nil {
		log.Fatal(err)
	}
}

func (s settings) run() error {
	if s.serve != "" {
		return s.inner()
	}
	switch s.measure {
	case "all", "steady", "flood":
		return s.all()
	case "streams":
		return s.streams()
	case "turns":
		return s.turns()
	case "session":
		return s.session()
	case "soak":
		return s.soak()
	}
	return fmt.Errorf("there is nothing to measure that is called %q; try all, steady, flood, streams, turns, session or soak", s.measure)
}
