package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

// figures are what the server says of itself.
type figures struct {
	Processor time.Duration // since the figures before
	Resident  int           // in KiB
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident returns the resident memory in KiB.
func resident() int {
	raw, _ := os.ReadFile("/proc/self/statm")
	var size, pages int
	fmt.Sscan(string(raw), &size, &pages)
	return pages * os.Getpagesize() >> 10
}

// settle returns the memory that nobody uses to the system. Stacks shrink by half at each collection.
func settle() {
	for range 4 {
		debug.FreeOSMemory()
	}
}
