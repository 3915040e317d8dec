package tool

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/utp"
)

// Stats are the statistics of one tool since its service was created. They hold no content.
type Stats struct {
	Tool string
	// Started counts granted calls. Of those, Failed ended without success, and Running have not ended.
	Started, Failed, Running int
	// LastError is the code of the latest call that did not succeed.
	LastError utp.Code
	// Busy is the total duration of all calls.
	Busy time.Duration
}

// Stats returns the statistics of every tool, sorted by name.
func (s *Service) Stats() []Stats {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	all := make([]Stats, 0, len(s.stats.tools))
	for _, name := range slices.Sorted(maps.Keys(s.stats.tools)) {
		all = append(all, *s.stats.tools[name])
	}
	return all
}

type statistics struct {
	mu    sync.Mutex
	tools map[string]*Stats
}

// know starts counting for a tool.
func (s *statistics) know(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools[tool] == nil {
		s.tools[tool] = &Stats{Tool: tool}
	}
}

func (s *statistics) began(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.tools[tool]; one != nil {
		one.Started++
		one.Running++
	}
}

func (s *statistics) ended(tool string, took time.Duration, status utp.Status, code utp.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.tools[tool]
	if one == nil {
		return
	}
	one.Running--
	one.Busy += took
	if status != utp.StatusSuccess {
		one.Failed++
		one.LastError = code
	}
}

// limitOf returns how long a call of the tool may take: the first of the two options that is set (UTP, "Waiting
// times"); 0 means no limit.
func limitOf(d utp.Definition) (time.Duration, error) {
	var options struct {
		Suspend float64 `json:"suspend_timeout_seconds"`
		Timeout float64 `json:"timeout_seconds"`
	}
	if len(d.Options) == 0 {
		return 0, nil
	}
	if err := json.Unmarshal(d.Options, &options); err != nil {
		return 0, &utp.DefinitionError{Tool: d.Tool, Field: "options", Found: "refused: " + err.Error(), Expected: "numbers of seconds", Err: err}
	}
	for _, seconds := range []float64{options.Suspend, options.Timeout} {
		if seconds > 0 {
			const week = 7 * 24 * 60 * 60
			return time.Duration(min(seconds, week) * float64(time.Second)), nil
		}
	}
	return 0, nil
}
