// Package clock tells the kernel the time: the time of day, which may be set, and beside it
// the time since the machine booted, which nobody sets and which goes on while the machine
// sleeps. Kernels on one machine agree on both.
package clock

import (
	"crypto/rand"
	"time"

	"github.com/earshot-dev/earshot/internal/boottime"
	"github.com/earshot-dev/earshot/internal/kernel"
)

// System is the machine's clock, with now for the time of day. Where the system does not
// tell when it booted, Mono counts from this call and Boot is new with each, so that no
// consent outlives the process.
func System(now func() time.Time) kernel.Clock {
	if boot := boottime.Boot(); boot != "" {
		return kernel.Clock{Now: now, SinceBoot: boottime.Now, Boot: boot}
	}
	began := time.Now()
	return kernel.Clock{Now: now, SinceBoot: func() time.Duration { return time.Since(began) }, Boot: process + rand.Text()}
}

// Booted reports whether the system tells when it booted.
func Booted() bool { return boottime.Boot() != "" }

// process begins the name of a boot that is a process's own.
const process = "process-"
