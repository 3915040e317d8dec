package storetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func agentCases() []exercise {
	return []exercise{
		{"are defined, changed and removed as they were looked at", agentsAreDefined},
		{"are listed page by page", agentsAreListed},
		{"take one of two changes at a time", agentsTakeOneChange},
	}
}

// agent is a definition in which an empty list is not an absent one.
func agent(n int) store.Agent {
	never := false
	return store.Agent{
		Definition: api.AgentDefinition{
			Name: id("agent", n), DisplayName: "die Schreibkraft", Tools: []string{"files.*"}, MayAsk: []string{}, MaxSteps: 40, Active: &never,
		},
		Digest: digest("agent", n),
	}
}

func (l *ledger) agents(f store.AgentFilter) []store.Agent {
	l.t.Helper()
	var all []store.Agent
	l.view(func(tx store.Tx) (err error) {
		all, err = tx.Agents(f)
		return err
	})
	return all
}

func change(before string, after store.Agent) store.Batch {
	return store.Batch{Agents: []store.AgentChange{{Name: after.Definition.Name, Before: before, After: after}}}
}

func agentsAreDefined(l *ledger) {
	a := agent(1)
	name := a.Definition.Name
	l.conflicts("changed before it is there", change("x", a))
	l.save(change("", a))
	same(l, "what is there", l.agents(store.AgentFilter{Name: name}), []store.Agent{a})
	l.conflicts("defined twice", change("", a))
	other := a
	other.Definition.Tools, other.Digest = nil, digest("other", 1)
	l.conflicts("changed from another one", change("x", other))
	l.save(change(a.Digest, other))
	same(l, "the other one", l.agents(store.AgentFilter{}), []store.Agent{other})
	removed := func(before string) store.Batch {
		return store.Batch{Agents: []store.AgentChange{{Name: name, Before: before}}}
	}
	l.conflicts("removed as it was", removed(a.Digest))
	l.save(removed(other.Digest))
	same(l, "what is left", len(l.agents(store.AgentFilter{})), 0)
	for _, bad := range []store.AgentChange{{}, {Name: name}, {Name: name, After: agent(2)}} {
		if err := l.try(store.Batch{Agents: []store.AgentChange{bad}}); err == nil || errors.Is(err, store.ErrConflict) {
			l.t.Errorf("the change %+v: %v", bad, err)
		}
	}
}

func agentsAreListed(l *ledger) {
	for n := range 5 {
		l.save(change("", agent(5-n)))
	}
	var names []string
	for after := ""; ; {
		page := l.agents(store.AgentFilter{After: after, Limit: 2})
		if len(page) == 0 {
			break
		}
		for _, a := range page {
			after = a.Definition.Name
			names = append(names, after)
		}
	}
	same(l, "all", names, []string{id("agent", 1), id("agent", 2), id("agent", 3), id("agent", 4), id("agent", 5)})
}

func agentsTakeOneChange(l *ledger) {
	first := agent(1)
	l.save(change("", first))
	var wait sync.WaitGroup
	failed := make([]error, 4)
	for n := range failed {
		wait.Go(func() {
			next := first
			next.Digest = digest(fmt.Sprint("next ", n), 1)
			failed[n] = l.try(change(first.Digest, next))
		})
	}
	wait.Wait()
	won := 0
	for _, err := range failed {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrConflict):
			l.t.Errorf("a change: %v", err)
		}
	}
	same(l, "changes that won", won, 1)
}
