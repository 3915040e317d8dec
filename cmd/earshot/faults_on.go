//go:build faults

package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// faultPoint reads EARSHOT_FAULT=point[:n] and returns a hook that kills this process,
// as SIGKILL does, when it comes to the point for the n-th time.
func (m *Main) faultPoint() func(string) {
	name, count, _ := strings.Cut(m.Getenv("EARSHOT_FAULT"), ":")
	at, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		at = 1
	}
	var seen atomic.Int64
	return func(point string) {
		if name != "" && point == name && seen.Add(1) == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // Nothing is left to handle it.
			select {}
		}
	}
}
