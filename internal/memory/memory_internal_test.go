package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMemoryLimit: a server that needs little takes little, and one that needs more is not kept collecting.
func TestMemoryLimit(t *testing.T) {
	for live, want := range map[uint64]int64{0: memoryGoal, 60 << 20: memoryGoal, 100 << 20: 200 << 20, 1 << 30: 2 << 30, math.MaxUint64: math.MaxInt64 - 1} {
		if got := memoryLimit(live); got != want {
			t.Errorf("%d live: %d, want %d", live, got, want)
		}
	}
	if runtime.GC(); readMemory().live == 0 {
		t.Error("what is live is not known")
	}
}

// TestIdleMemory: what a busy time has left is returned once the process is idle, and nothing is collected while it works.
func TestIdleMemory(t *testing.T) {
	const mib = 1 << 20
	before := memoryUse{allocated: 500 * mib, live: 10 * mib, held: 60 * mib}
	for _, test := range []struct {
		name string
		now  memoryUse
		want bool
	}{
		{"idle", memoryUse{allocated: 500*mib + mib/10, live: 10 * mib, held: 60 * mib}, true},
		{"busy", memoryUse{allocated: 502 * mib, live: 10 * mib, held: 60 * mib}, false},
		{"already returned", memoryUse{allocated: 500 * mib, live: 10 * mib, held: 12 * mib}, false},
	} {
		if got := test.now.returns(before); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	garbage := make([][]byte, 0, 64)
	for range 64 {
		garbage = append(garbage, make([]byte, mib))
	}
	full := readMemory()
	if len(garbage) != 64 || full.held < 64*mib || full.allocated < 64*mib {
		t.Fatalf("with 64 MiB in use: %+v", full)
	}
	runtime.KeepAlive(garbage)
	debug.FreeOSMemory()
	if now := readMemory(); now.held > full.held-48*mib || now.returns(now) {
		t.Errorf("after they were returned: %+v, before %+v", now, full)
	}
}
