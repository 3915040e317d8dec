//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

import "os"

// FlushTerminal does nothing here: typed-ahead lines that were not yet read stay.
func FlushTerminal(*os.File) {}
