package tool

import "sync"

// maxBegun is how many starts a service remembers.
const maxBegun = 4096

// begun remembers the latest starts that this process was granted. A ledger that was restored from a backup may grant a
// start to the same owner again, as if only the answer had been lost; the work must not be done twice.
type begun struct {
	mu    sync.Mutex
	known map[start]struct{}
	order []start // oldest first
}

type start struct {
	call  string
	fence int
}

// first reports whether the start is new, and remembers it.
func (b *begun) first(call string, fence int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := start{call, fence}
	if _, known := b.known[s]; known {
		return false
	}
	if b.known == nil {
		b.known = map[start]struct{}{}
	}
	b.known[s] = struct{}{}
	b.order = append(b.order, s)
	if len(b.order) > maxBegun {
		delete(b.known, b.order[0])
		b.order = b.order[1:]
	}
	return true
}
