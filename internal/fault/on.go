//go:build faults

package fault

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Points returns a hook for the points of the list, which has the form point[:n][@FIFO],… When the hook
// comes to a point for the n-th time, it kills this process as SIGKILL does, or, where a FIFO is named,
// waits there until a test has opened the FIFO for writing and closed it again.
func Points(list string) func(point string) {
	var hooks []func(string)
	for fault := range strings.SplitSeq(list, ",") {
		hooks = append(hooks, hookOf(fault))
	}
	return func(point string) {
		for _, hook := range hooks {
			hook(point)
		}
	}
}

func hookOf(fault string) func(string) {
	fault, fifo, held := strings.Cut(fault, "@")
	name, count, _ := strings.Cut(fault, ":")
	at, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		at = 1
	}
	var seen atomic.Int64
	return func(point string) {
		switch {
		case name == "" || point != name || seen.Add(1) != at:
		case held:
			waitFor(fifo)
		default:
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // Nothing is left to handle it.
			select {}
		}
	}
}

// waitFor returns when somebody has opened the FIFO for writing and closed it again.
func waitFor(fifo string) {
	f, err := os.Open(fifo)
	if err != nil {
		panic(Variable + ": " + err.Error())
	}
	defer func() { _ = f.Close() }()
	_, _ = io.Copy(io.Discard, f)
}

// Grace is how long a graceful end may take that has d in the product: long, since a slow machine is no
// failure of a test.
func Grace(time.Duration) time.Duration { return time.Hour }
