package files

import (
	"slices"
	"sync"
	"time"
)

const (
	defaultScans = 8
	scanMaxAge   = 10 * time.Minute // after that a folder's remembered names are too old to go on with
)

// scans remembers unfinished walks by what would continue them, the least recently used first.
type scans struct {
	mu   sync.Mutex
	max  int
	list []waiting
}

type waiting struct {
	args  ScanArgs
	walk  *walker
	since time.Time
}

func newScans(limit int) *scans {
	if limit <= 0 {
		limit = defaultScans
	}
	return &scans{max: limit}
}

// claim hands the walk over to one caller; nil when there is none or it is too old.
func (s *scans) claim(args ScanArgs, now time.Time) *walker {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(w waiting) bool {
		age := now.Sub(w.since)
		return age > scanMaxAge || age < 0
	})
	for i, w := range s.list {
		if w.args == args {
			s.list = slices.Delete(s.list, i, i+1)
			return w.walk
		}
	}
	return nil
}

func (s *scans) store(args ScanArgs, walk *walker, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(w waiting) bool { return w.args == args })
	if len(s.list) >= s.max {
		s.list = slices.Delete(s.list, 0, len(s.list)-s.max+1)
	}
	s.list = append(s.list, waiting{args, walk, now})
}
