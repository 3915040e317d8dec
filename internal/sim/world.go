package sim

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/memory"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/utp"
)

// Options of a run.
type Options struct {
	// One that is switched on, to be found.
	Bug Bug
	// Trace is written what happens; nil drops it.
	Trace io.Writer
}

// world is one run.
type world struct {
	*schedule

	seed    uint64
	bug     Bug
	clock   *clock
	ledger  *memory.Ledger
	backups []*memory.Ledger
	// incarnation is the count outside the ledger.
	incarnation int64
	judge       *judge
	weather     *weather
	policy      kernel.Policy
	narrator    kernel.Narrator
	count       counts

	turns, turnsAtOnce, parallel, polls int
	waitForPresence                     bool
	delegates, deep                     bool          // agents ask others; the first turn asks deeper than it may
	maxActive                           int           // of an agent's turns
	retain                              time.Duration // how long a worker keeps a turn that waits
	version                             int           // of the tools' definitions
	positions                           []*position
	procs                               []*process
	generations                         int
	cleared                             time.Time   // when the weather did
	begun                               atomic.Bool // all turns have been started
	finished                            bool
	// within is whose transaction runs: while it does, nobody else does.
	within atomic.Pointer[process]
}

// narrator is shared: it is pure, and costs more than a run.
var narrator = sync.OnceValues(func() (*narrate.Narrator, error) { return narrate.New(narrate.Options{}) })

// Run plays one seed in a bubble of virtual time and reports what was seen.
func Run(t *testing.T, seed uint64, o Options) Report {
	t.Helper()
	var r Report
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld(seed, o)
		if err != nil {
			t.Fatal(err)
		}
		w.play()
		w.end()
		r = w.report()
	})
	return r
}

func newWorld(seed uint64, o Options) (*world, error) {
	words, err := narrator()
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	rules, err := rulebook.NewRules(nil)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	w := &world{
		schedule: newSchedule(seed, o.Trace), seed: seed, bug: o.Bug, clock: newClock(), weather: &weather{},
		policy: rules, narrator: words, count: counts{weather: map[string]int{}, occurrences: map[string]int{}},
	}
	w.ledger = memory.New(w.clock.Now)
	w.judge = newJudge(w)
	w.draw()
	w.turns, w.turnsAtOnce, w.parallel = 1+w.rand.IntN(3), 1+w.rand.IntN(2), 1+w.rand.IntN(4)
	w.waitForPresence = w.rand.IntN(5) == 0
	w.polls = w.rand.IntN(5)
	w.retain = []time.Duration{-1, 3 * time.Second, 10 * time.Second, time.Minute}[w.rand.IntN(4)]
	for n := range 1 + w.rand.IntN(3) {
		w.addPosition(fmt.Sprintf("kernel%d", n), kernelKind, "", w.runKernel)
	}
	for _, at := range []struct{ name, target string }{{"files0", "files"}, {"files1", "files"}, {"mail0", "mail"}, {"mail1", "mail"}} {
		w.addPosition(at.name, toolKind, at.target, w.runService)
	}
	for n := range 2 {
		w.addPosition(fmt.Sprintf("worker%d", n), agentKind, agent, w.runWorker)
	}
	if w.delegates = seed%3 == 0; w.delegates { // the other seeds draw nothing for it: they are what they were
		w.deep, w.maxActive = w.rand.IntN(25) == 0, []int{0, 0, 1, 3}[w.rand.IntN(4)]
		w.addPosition("clerk0", agentKind, clerk, w.runWorker)
	}
	w.addPosition("ada", hubKind, person, w.runPerson)
	return w, nil
}

func (w *world) addPosition(name, kind, peer string, begin func(*process)) {
	w.positions = append(w.positions, &position{name: name, kind: kind, peer: peer, begin: begin})
}

// maxRunTime is how long a turn may go on after the weather has cleared up. Agents that ask one another may hold all workers until
// the two hours of such a call are over, and turns that waited for a worker meanwhile may do the same once more.
const maxRunTime = 5 * time.Hour

// play runs the world until every turn has ended and nothing more happens.
func (w *world) play() {
	for _, at := range w.positions {
		w.start(at)
	}
	if len(w.weather.kinds) > 0 {
		w.after(w.upTo(2*w.weather.every), "weather", w.blow)
	}
	w.after(w.weather.until, "clear", w.clear)
	w.after(2*time.Second, "operator", w.review)
	var calm time.Time // since when everything has ended
	for {
		w.quiesce()
		w.bury()
		now := time.Since(w.began)
		switch ended := w.ended(); {
		case !ended:
			calm = time.Time{}
		case calm.IsZero():
			calm = time.Now()
		case time.Since(calm) > 2*time.Minute:
			return
		}
		if now > w.weather.until+maxRunTime || len(w.judge.violations()) > 0 && w.bug != NoBug {
			return
		}
		i, later := w.next()
		if i == nil {
			w.rest(later)
			continue
		}
		if i.proc != nil && i.proc.kind != hubKind && w.happens(w.weather.crash) {
			w.count.crashed++
			w.sayf("in: %s", i.key)
			w.kill(i.proc, w.absence())
			w.items = append(w.items, i) // to be buried
			continue
		}
		w.release(i)
	}
}

// ended reports whether there is nothing left to do.
func (w *world) ended() bool {
	return w.weather.ceased.Load() && w.begun.Load() && len(w.turnRows(store.TurnFilter{Open: true, Limit: 1})) == 0 && len(w.unsent()) == 0
}

// review is the operator, who looks at new definitions every few seconds.
func (w *world) review() {
	for _, k := range kits {
		t := w.tool(k.name)
		if t.Digest == "" || t.Reviewed || w.rand.IntN(3) == 0 {
			continue
		}
		for _, at := range w.positions {
			if p := at.now; at.kind == kernelKind && p.serving.Load() && !p.dead.Load() {
				risk := utp.RiskMedium
				if k.class == utp.Read {
					risk = utp.RiskLow
				}
				go func() {
					// What is refused, or lost with the kernel, is looked at again.
					_ = p.kernel.Admin().Review(p.ctx, k.name, t.Digest, k.class, risk)
				}()
				break
			}
		}
	}
	w.after(3*time.Second+w.upTo(5*time.Second), "operator", w.review)
}

// end stops everybody, waits for them, and judges what is left.
func (w *world) end() {
	w.judge.end()
	w.finished = true
	for _, p := range w.procs {
		p.dead.Store(true)
		p.cancel()
	}
	for _, p := range w.procs {
		for {
			w.quiesce()
			w.bury()
			select {
			case <-p.done:
			default:
				w.rest(time.Now().Add(time.Minute))
				continue
			}
			break
		}
	}
	w.quiesce()
	w.bury()
}
