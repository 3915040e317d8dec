package kernel

import (
	"context"
	"fmt"
	"sync"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// servedTools are the tools that services whose tools come and go say that they have. Every tool of a service that has
// said nothing counts as there. It is not stored: it keeps agents from asking in vain, and a service refuses a call of a
// tool that it lacks by itself.
type servedTools struct {
	mu        sync.Mutex
	byService map[string]map[string]struct{}
}

// serves notes all tools that the asking service has now, and withdraws what is asked about others.
func (k *Kernel) serves(ctx context.Context, from Caller, q api.ServesRequest) (struct{}, error) {
	if len(q.Tools) > maxTools {
		return struct{}{}, api.NewFault(utp.CodeTooManyTools, fmt.Sprintf("found %d tools; a service may have %d", len(q.Tools), maxTools))
	}
	all := make(map[string]struct{}, len(q.Tools))
	for _, name := range q.Tools {
		all[name] = struct{}{}
	}
	if k.served.replace(from.Name, all) {
		k.withdrawMissing(ctx)
	}
	return struct{}{}, nil
}

// remove takes a tool out of the registry, and withdraws what is asked about it.
func (k *Kernel) remove(ctx context.Context, _ Caller, q api.RemoveRequest) (struct{}, error) {
	a, err := k.admin.Remove(ctx, q)
	if err == nil {
		k.withdrawMissing(ctx)
	}
	return a, err
}

// withdrawMissing ends the calls that are not started and whose tools are gone. What it misses is logged: safety does not
// depend on it, since a service refuses a call of a tool that it lacks.
func (k *Kernel) withdrawMissing(ctx context.Context) {
	if err := k.Rejudge(ctx); err != nil {
		k.o.Logger.Warn("what is asked about a tool that is gone may still be open", "error", err)
	}
}

// replace notes all tools of a service. It reports whether some that counted as there may be gone.
func (s *servedTools) replace(service string, all map[string]struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byService == nil {
		s.byService = map[string]map[string]struct{}{}
	}
	before, said := s.byService[service]
	s.byService[service] = all
	for name := range before {
		if _, still := all[name]; !still {
			return true
		}
	}
	return !said
}

// add notes one more tool of a service, which registers it.
func (s *servedTools) add(service, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all, said := s.byService[service]; said {
		all[name] = struct{}{}
	}
}

// lacks reports whether the service of a tool has said that it does not have it any more.
func (s *servedTools) lacks(t store.Tool) bool {
	if _, own := ownTool(t.Definition.Tool); own {
		return false
	}
	name, err := service(t.Definition)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, said := s.byService[name]
	_, has := all[t.Definition.Tool]
	return said && !has
}
