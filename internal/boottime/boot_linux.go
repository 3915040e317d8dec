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

// machine identifies this machine, to distinguish a reboot from another machine's clock. Containers of one image may
// have the same id; their host names differ.
func machine() string {
	id, _ := os.ReadFile("/etc/machine-id") // it may not exist
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
