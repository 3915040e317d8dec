//go:build !unix

package terminal

import "io"

// newGate returns nil: files cannot be polled on this platform.
func newGate(io.Reader) gate { return nil }
