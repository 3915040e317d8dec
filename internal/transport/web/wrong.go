package web

import (
	"sync"
	"time"
)

const (
	// wrongAtOnce is how many wrong codes in a row are told of and logged one by one, and
	// wrongEvery how soon after those there may be another.
	wrongAtOnce = 5
	wrongEvery  = time.Second
)

// wrong counts wrong login codes, no matter who tried them: on the loopback nobody can be told
// from another.
type wrong struct {
	mu   sync.Mutex
	full time.Time // when as many as possible can be taken again
}

// take answers whether another one is within measure.
func (t *wrong) take(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full.Before(now) {
		t.full = now
	}
	if t.full.Sub(now) > (wrongAtOnce-1)*wrongEvery {
		return false
	}
	t.full = t.full.Add(wrongEvery)
	return true
}
