package admission

import (
	"fmt"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// openCalls bounds the open calls that one agent's credential has in all its turns, so that none fills the ledger,
// or people's ears, for all others. Counting them in the ledger for each new call would cost more than the call. So
// they are counted again when an eighth of the free calls is used up; large numbers are counted once a second. Each
// other kernel on the ledger can add as much meanwhile, which is how far the bound can be exceeded.
type openCalls struct {
	mu     sync.Mutex
	agents map[string]callEstimate
}

// callEstimate is how many open calls an agent had when they were last counted in the ledger, and how many it may
// have begun here since.
type callEstimate struct {
	counted, added int
	asked          time.Duration
}

const (
	// drift is the part of an agent's free calls, one in so many, that is used up before they are counted again.
	drift = 8
	// manyCalls is a number of calls whose counting takes long enough for others to wait: they are counted once in recount.
	manyCalls = 1000
	recount   = time.Second
)

// fits reports whether there is room for n more calls by the estimate, and whether the estimate is good enough.
func (e callEstimate) fits(n, most int, now time.Duration) (fits, known bool) {
	if e.counted >= manyCalls && now-e.asked < recount {
		return e.counted+e.added+n <= most, true
	}
	return true, e.added+n <= (most-e.counted)/drift
}

// reserve adds n calls of an agent if there is room for them by the estimate.
func (o *openCalls) reserve(agent string, n, most int, now time.Duration) (taken, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e, asked := o.agents[agent]
	if !asked {
		return false, false
	}
	if taken, known = e.fits(n, most, now); taken && known {
		e.added += n
		o.agents[agent] = e
	}
	return taken, known
}

func (o *openCalls) set(agent string, e callEstimate) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.agents[agent] = e
}

// CheckOpenCalls refuses n new calls of the turn's agent where it has as many as it may have.
func (t *Tx) CheckOpenCalls(n int) error {
	return t.gate.openCalls.check(t.tx, t.of.Agent, n, t.gate.o.OpenCalls, t.now.SinceBoot)
}

// check refuses n new calls of an agent where it would have more than most.
func (o *openCalls) check(tx store.Tx, agent string, n, most int, now time.Duration) error {
	taken, known := o.reserve(agent, n, most, now)
	if !known {
		counted, err := tx.OpenCalls(agent, most+1)
		if err != nil {
			return err
		}
		e := callEstimate{counted: counted, asked: now}
		if taken = e.counted+n <= most; taken {
			e.added = n
		}
		o.set(agent, e)
	}
	if !taken {
		return tooManyCalls(agent, most)
	}
	return nil
}

func tooManyCalls(agent string, most int) error {
	return &api.Fault{Code: utp.CodeTooManyCalls, Retry: true, Message: fmt.Sprintf(
		"the agent %.64q would have more than %d calls that have not ended, the most that one credential may have; "+
			"none of these was made; wait until some have ended, or stop some of its turns",
		agent, most)}
}
