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
	// memoryGoal is what the runtime of a server takes at most, beside its program text, while what it uses allows it: GOGC alone lets it take five times what is live.
	memoryGoal = 120 << 20
	// memoryRoom is how many times what is live it may take beyond that, so that collecting never takes more of the
	// processor than it does with the usual GOGC.
	memoryRoom = 2
	// memoryLook is how often what is live is looked at.
	memoryLook = 10 * time.Second
)

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

// memoryLimit is the limit for so many live bytes.
func memoryLimit(live uint64) int64 {
	return max(memoryGoal, int64(min(live, math.MaxInt64/memoryRoom))*memoryRoom)
}

// liveHeap is how much the last collection has found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
