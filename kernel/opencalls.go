package kernel

import (
	"fmt"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// openCalls bounds the calls that one agent's credential has in all its turns and that have not ended, so that
// none fills the ledger, or people's ears, for all others. Counting them in the ledger for each new call
// would cost more than the call. So an estimate is kept that only grows, and the ledger is asked where
// it reaches the bound: the bound is kept to what other kernels on the same ledger have added since.
type openCalls struct {
	mu     sync.Mutex
	agents map[string]callEstimate
}

// callEstimate is how many calls an agent has at most, and when the ledger was asked the last time.
type callEstimate struct {
	calls int
	asked time.Duration
}

// recount is how soon the ledger is asked again for an agent that is at its bound.
const recount = time.Second

// roomForCalls refuses n new calls of the turn's agent where it has as many as it may have.
func (s *step) roomForCalls(n int) error {
	agent, most, now := s.rec.State.Agent, s.k.o.OpenCalls, s.now.Mono
	o := &s.k.openCalls
	o.mu.Lock()
	e, known := o.agents[agent]
	fits := known && e.calls+n <= most
	if fits {
		e.calls += n
		o.agents[agent] = e
	}
	o.mu.Unlock()
	switch {
	case fits:
		return nil
	case known && e.calls >= most && now-e.asked < recount:
		return tooManyCalls(agent, most)
	}
	kept, err := s.tx.Beside(BesideFilter{OpenCalls: agent, OpenCallsLimit: most + 1})
	if err != nil {
		return err
	}
	e = callEstimate{calls: kept.OpenCalls, asked: now}
	refused := e.calls+n > most
	if !refused {
		e.calls += n
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.agents[agent] = e
	if refused {
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
