package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestLimit: a server that needs little takes little, and one that needs more is not kept collecting.
func TestLimit(t *testing.T) {
	for live, want := range map[uint64]int64{0: goal, 60 << 20: goal, 100 << 20: 200 << 20, 1 << 30: 2 << 30, math.MaxUint64: math.MaxInt64 - 1} {
		if got := limit(live); got != want {
			t.Errorf("%d live: %d, want %d", live, got, want)
		}
	}
	if runtime.GC(); read().live == 0 {
		t.Error("what is live is not known")
	}
}

// TestIdle: what a busy time has left is returned once the process is idle, and nothing is collected while it works.
func TestIdle(t *testing.T) {
	const mib = 1 << 20
	before := use{allocated: 500 * mib, live: 10 * mib, held: 60 * mib}
	for _, test := range []struct {
		name string
		now  use
		want bool
	}{
		{"idle", use{allocated: 500*mib + mib/10, live: 10 * mib, held: 60 * mib}, true},
		{"busy", use{allocated: 502 * mib, live: 10 * mib, held: 60 * mib}, false},
		{"already returned", use{allocated: 500 * mib, live: 10 * mib, held: 12 * mib}, false},
	} {
		if got := test.now.returns(before); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	garbage := make([][]byte, 0, 64)
	for range 64 {
		garbage = append(garbage, make([]byte, mib))
	}
	full := read()
	if len(garbage) != 64 || full.held < 64*mib || full.allocated < 64*mib {
		t.Fatalf("with 64 MiB in use: %+v", full)
	}
	runtime.KeepAlive(garbage)
	debug.FreeOSMemory()
	if now := read(); now.held > full.held-48*mib || now.returns(now) {
		t.Errorf("after they were returned: %+v, before %+v", now, full)
	}
}
