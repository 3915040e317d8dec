package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// asked counts the requests that the kernel answers, by operation.
type asked struct {
	mu sync.Mutex
	n  map[string]int
}

func (a *asked) add(op string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == nil {
		a.n = map[string]int{}
	}
	a.n[op]++
}

// over says how many of each there were for each of so many calls.
func (a *asked) over(calls int) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(a.n)) {
		parts = append(parts, fmt.Sprintf("%s %.2f", op, float64(a.n[op])/float64(max(calls, 1))))
	}
	return strings.Join(parts, ", ")
}
