package main

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/kernel"
)

// clock is the time of day, and the time since boot, which goes on while the machine
// sleeps.
func (m *Main) clock() kernel.Clock {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return m.processClock()
	}
	return kernel.Clock{Now: m.Now, Mono: sinceBoot, Boot: strings.TrimSpace(string(boot))}
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
