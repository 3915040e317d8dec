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

// serves notes all tools that the asking service has now.
func (k *Kernel) serves(_ context.Context, from Caller, q api.ServesRequest) (struct{}, error) {
	if len(q.Tools) > maxTools {
		return struct{}{}, api.NewFault(utp.CodeTooManyTools, fmt.Sprintf("found %d tools; a service may have %d", len(q.Tools), maxTools))
	}
	all := make(map[string]struct{}, len(q.Tools))
	for _, name := range q.Tools {
		all[name] = struct{}{}
	}
	k.served.mu.Lock()
	defer k.served.mu.Unlock()
	if k.served.byService == nil {
		k.served.byService = map[string]map[string]struct{}{}
	}
	k.served.byService[from.Name] = all
	return struct{}{}, nil
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
