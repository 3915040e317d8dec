package sim_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/sim"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// How many seeds are run in full and as a sample, and how many twice.
const fullSeeds, sampleSeeds, fewSeeds = 500 / testkit.Slowdown, 150 / testkit.Slowdown, 20 / testkit.Slowdown

// The flags of make sim.
var (
	seeds = flag.Uint64("seeds", manySeeds(), "how many seeds of the simulation to run")
	from  = flag.Uint64("from", firstSeed(), "the first seed")
	most  = flag.Duration("for", 0, "begin no other seed after so long; 0 plays them all")
	seed  = flag.Uint64("seed", 0, "play this seed only, and print its trace")
	bug   = flag.String("bug", "", "with this seeded bug")
)

// manySeeds returns how many seeds are run by default.
func manySeeds() uint64 {
	if testkit.Full() {
		return fullSeeds
	}
	return sampleSeeds
}

// firstSeed returns where the default run begins. A sample begins where its seed says, within the first 100,000 runs.
func firstSeed() uint64 {
	if testkit.Full() {
		return 1
	}
	const runs = 100_000 / sampleSeeds
	return 1 + testkit.Seed()%runs*sampleSeeds
}

// TestSeeds: whatever the weather, the promises hold, and all weathers come.
func TestSeeds(t *testing.T) {
	t.Parallel()
	if testing.Short() && *seeds == manySeeds() {
		t.Skip("left out in short mode: many seeds; TestBugs plays some")
	}
	if *seed != 0 {
		r := sim.Run(t, *seed, sim.Options{Trace: os.Stdout, Bug: sim.Bug(*bug)})
		t.Logf("seed %d, trace %x\n%s", *seed, r.Trace, &r)
		for _, v := range r.Violations {
			t.Error(v)
		}
		return
	}
	s := &session{began: time.Now(), plays: map[uint64]time.Time{}}
	stop := func() {}
	if testing.Verbose() {
		stop = s.progress()
	}
	t.Run("runs", func(t *testing.T) {
		for n := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for number, more := s.take(); more; number, more = s.take() {
					s.add(sim.Run(t, number, sim.Options{Bug: sim.Bug(*bug)}))
				}
			})
		}
	})
	stop()
	t.Logf("seeds %d to %d (SEED=%d; EARSHOT_TEST_FULL=1 for all)", *from, *from+*seeds-1, testkit.Seed())
	t.Log(s.line() + "\n" + s.sum.String())
	for _, v := range s.sum.Violations {
		t.Error(v)
	}
	if s.failed > 0 {
		t.Errorf("%d of %d seeds fail; play one with: make sim SEED=n", s.failed, *seeds)
	}
	if *seeds >= fullSeeds && *most == 0 && !testkit.Raced { // what is rare takes more seeds than there are under the race detector
		everything(t, &s.sum)
	}
}

// session is many runs.
type session struct {
	began time.Time
	next  atomic.Uint64

	mu     sync.Mutex
	plays  map[uint64]time.Time // seeds, since when
	done   int
	failed int
	sum    sim.Report
}

// take hands out the next seed.
func (s *session) take() (uint64, bool) {
	n := s.next.Add(1) - 1
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays[*from+n] = time.Now()
	return *from + n, n < *seeds && (*most == 0 || time.Since(s.began) < *most)
}

func (s *session) add(r sim.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	delete(s.plays, r.Seed)
	if testing.Verbose() && len(r.Violations) > 0 {
		fmt.Fprintf(os.Stderr, "seed %d: %s\n", r.Seed, r.Violations[0])
	}
	const most = 50
	if len(r.Violations) > 0 {
		if s.failed++; s.failed > most {
			r.Violations = nil
		}
	}
	s.sum.Add(r)
}

// line tells how far it is. A seed that does not come to its end is named.
func (s *session) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := time.Since(s.began)
	rate := float64(s.done) / took.Seconds()
	out := fmt.Sprintf("%d of %d seeds in %v, %.1f a second, %d failed", s.done, *seeds, took.Round(time.Second), rate, s.failed)
	if left := float64(*seeds) - float64(s.done); left > 0 && rate > 0 {
		out += fmt.Sprintf(", %v left", time.Duration(left/rate*float64(time.Second)).Round(time.Second))
	}
	for number, since := range s.plays {
		if lasts := time.Since(since); s.done < int(*seeds) && lasts > time.Minute {
			out += fmt.Sprintf("; seed %d has been played for %v", number, lasts.Round(time.Second))
		}
	}
	return out
}

// progress tells how far it is: every few seconds, and every minute of a long run.
func (s *session) progress() (stop func()) {
	const often, seldom = 5 * time.Second, time.Minute
	due := time.NewTicker(often)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			select {
			case <-due.C:
				fmt.Fprintln(os.Stderr, s.line())
			case <-quit:
				return
			}
			if n == int(seldom/often) {
				due.Reset(seldom)
			}
		}
	}()
	return func() {
		due.Stop()
		close(quit)
		<-done
	}
}

// TestSameSeed: a run can be played again.
func TestSameSeed(t *testing.T) {
	t.Parallel()
	for n := *from; n < *from+fewSeeds; n++ {
		a, b := sim.Run(t, n, sim.Options{}), sim.Run(t, n, sim.Options{})
		if a.Trace != b.Trace {
			t.Errorf("seed %d: the trace is %x in %d lines, and then %x in %d", n, a.Trace, a.Lines, b.Trace, b.Lines)
		}
	}
}

// everything demands that each kind of fault happens.
func everything(t *testing.T, sum *sim.Report) {
	t.Helper()
	for _, kind := range sim.Faults() {
		if sum.Faults[kind] == 0 {
			t.Errorf("no fault in %d seeds: %s", *seeds, kind)
		}
	}
	for _, occurrence := range sim.Occurrences() {
		if sum.Occurrences[occurrence] == 0 {
			t.Errorf("never in %d seeds: %s", *seeds, occurrence)
		}
	}
	if sum.Turns == 0 || sum.Calls == 0 || sum.Effects == 0 {
		t.Errorf("%d turns, %d calls, %d effects", sum.Turns, sum.Calls, sum.Effects)
	}
}
