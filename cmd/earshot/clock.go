package main

import (
	"crypto/rand"
	"time"

	"github.com/earshot-dev/earshot/kernel"
)

// processClock counts from the start of this process, for systems that do not tell
// when they booted: a consent does not outlive the process then.
func (m *Main) processClock() kernel.Clock {
	began := time.Now()
	return kernel.Clock{Now: m.Now, Mono: func() time.Duration { return time.Since(began) }, Boot: rand.Text()}
}
