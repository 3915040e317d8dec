package main

import (
	"math"
	"runtime"
	"testing"
)

// TestMemoryLimit: a server that needs little takes little, and one that needs more is not kept collecting.
func TestMemoryLimit(t *testing.T) {
	for live, want := range map[uint64]int64{0: memoryGoal, 60 << 20: memoryGoal, 100 << 20: 200 << 20, 1 << 30: 2 << 30, math.MaxUint64: math.MaxInt64 - 1} {
		if got := memoryLimit(live); got != want {
			t.Errorf("%d live: %d, want %d", live, got, want)
		}
	}
	if runtime.GC(); liveHeap() == 0 {
		t.Error("what is live is not known")
	}
}
