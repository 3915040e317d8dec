package registry

import (
	"fmt"
	"sync"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// served are the tools that services whose tools come and go say that they have. Every tool of a service that has
// said nothing counts as there. It is not stored: it keeps agents from asking in vain, and a service refuses a call of a
// tool that it lacks by itself.
type served struct {
	mu        sync.Mutex
	byService map[string]map[string]struct{}
}

// Serves notes all tools that a service has now. It reports whether some that counted as there may be gone.
func (r *Registry) Serves(service string, tools []string) (gone bool, err error) {
	if len(tools) > MaxTools {
		return false, api.NewFault(utp.CodeTooManyTools, fmt.Sprintf("found %d tools; a service may have %d", len(tools), MaxTools))
	}
	all := make(map[string]struct{}, len(tools))
	for _, name := range tools {
		all[name] = struct{}{}
	}
	return r.served.replace(service, all), nil
}

// replace notes all tools of a service. It reports whether some that counted as there may be gone.
func (s *served) replace(service string, all map[string]struct{}) bool {
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
func (s *served) add(service, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all, said := s.byService[service]; said {
		all[name] = struct{}{}
	}
}

// Lacks reports whether the service of a tool has said that it does not have it any more.
func (r *Registry) Lacks(t store.Tool) bool {
	name, err := service(t.Definition)
	if err != nil {
		return false
	}
	r.served.mu.Lock()
	defer r.served.mu.Unlock()
	all, said := r.served.byService[name]
	_, has := all[t.Definition.Tool]
	return said && !has
}
