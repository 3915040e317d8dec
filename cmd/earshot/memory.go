package main

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
	// memoryGoal is the target for the runtime's memory, besides the program text, as long as the live heap allows it:
	// with GOGC alone it may take five times the live heap.
	memoryGoal = 120 << 20
	// memoryRoom is the factor of the live heap that is allowed beyond that, so that collection never takes more of the
	// processor than with the default GOGC.
	memoryRoom = 2
	// memoryLook is the interval at which the live heap is measured.
	memoryLook = 10 * time.Second
)

// tuneMemory has a process that works for long collect garbage seldom and stay small, as far as its environment does not
// say otherwise, until stop is called.
func (m *Main) tuneMemory() (stop func()) {
	if m.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectSeldom)
	}
	if m.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	return boundMemory()
}

// boundMemory keeps the memory of the process near the goal, until stop is called.
func boundMemory() (stop func()) {
	before := debug.SetMemoryLimit(memoryGoal)
	ctx, cancel := context.WithCancel(context.Background())
	var owned sync.WaitGroup
	owned.Go(func() {
		ticker := time.NewTicker(memoryLook)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				debug.SetMemoryLimit(memoryLimit(liveHeap()))
			}
		}
	})
	return func() {
		cancel()
		owned.Wait()
		debug.SetMemoryLimit(before)
	}
}

// memoryLimit returns the limit for a number of live bytes.
func memoryLimit(live uint64) int64 {
	return max(memoryGoal, int64(min(live, math.MaxInt64/memoryRoom))*memoryRoom)
}

// liveHeap returns the size of the live heap at the last collection.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
