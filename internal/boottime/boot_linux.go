package boottime

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id)) + "@" + machine()
}

// machine names this machine, so that the reboot of one is told from the clock of another.
// Containers of one image may have the same id; their host names differ.
func machine() string {
	id, _ := os.ReadFile("/etc/machine-id") // not everywhere is one
	name, _ := os.Hostname()
	return strings.TrimSpace(string(id)) + "/" + name
}

func now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return byDay()
	}
	return time.Duration(ts.Nano())
}
