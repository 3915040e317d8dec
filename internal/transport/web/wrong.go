package web

import (
	"sync"
	"time"
)

const (
	// wrongAtOnce is how many wrong codes in a row get a full answer and a log entry, and wrongEvery the interval after
	// which one more does.
	wrongAtOnce = 5
	wrongEvery  = time.Second
)

// wrong is a rate limiter for wrong login codes, whoever tried them: on the loopback, clients cannot be distinguished.
type wrong struct {
	mu   sync.Mutex
	full time.Time // when the full number is available again
}

// take reports whether another one is within the limit.
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
