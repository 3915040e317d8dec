// Package memory keeps the memory of a process that works for long small, and the time that it takes to collect it.
package memory

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// collectSeldom is GOGC of a server. Most memory of a call is short-lived, and with the default of 100 the garbage
	// collector took a quarter of the processor time.
	collectSeldom = 400
	// goal is the target for the runtime's memory, besides the program text, as long as the live heap allows it:
	// with GOGC alone it may take five times the live heap.
	goal = 120 << 20
	// room is the factor of the live heap that is allowed beyond that, so that collection never takes more of the
	// processor than with the default GOGC.
	room = 2
	// interval is the interval at which the live heap is measured.
	interval = 10 * time.Second
	// idleAllocation is the most that an idle server allocates between two looks; one that nobody uses needs a tenth.
	idleAllocation = 1 << 20
	// spareMemory is how much an idle server may keep beside its live heap before it returns that to the system.
	spareMemory = 4 << 20
)

// Tune has a process that works for long collect garbage seldom and stay small, as far as its environment (GOGC, GOMEMLIMIT) does not say
// otherwise, until stop is called.
func Tune(getenv func(string) string) (stop func()) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(collectSeldom)
	}
	if getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	return bound()
}

// bound keeps the memory of the process near the goal, and returns what it does not need once it is idle, until
// stop is called. Otherwise what came of a busy minute, such as many hosts that connect, would be kept until the next.
func bound() (stop func()) {
	before := debug.SetMemoryLimit(goal)
	ctx, cancel := context.WithCancel(context.Background())
	var owned sync.WaitGroup
	owned.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		last := read()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := read()
			debug.SetMemoryLimit(limit(now.live))
			if now.returns(last) {
				debug.FreeOSMemory()
			}
			last = now
		}
	})
	return func() {
		cancel()
		owned.Wait()
		debug.SetMemoryLimit(before)
	}
}

// limit returns the limit for a number of live bytes.
func limit(live uint64) int64 {
	return max(goal, int64(min(live, math.MaxInt64/room))*room)
}

// use is what the runtime says of its memory, in bytes.
type use struct {
	allocated uint64 // since the start
	live      uint64 // at the last collection
	held      uint64 // of the heap, in use or not returned to the system
}

// returns reports whether an idle process holds more than it needs. before is the use at the last look.
func (m use) returns(before use) bool {
	return m.allocated-before.allocated <= idleAllocation && m.held > m.live+spareMemory
}

func read() use {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	bytes := func(i int) uint64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return samples[i].Value.Uint64()
	}
	return use{allocated: bytes(0), live: bytes(1), held: bytes(2) + bytes(3)}
}
