//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

import "os"

// FlushTerminal does nothing on this platform: typed lines that were not yet read remain.
func FlushTerminal(*os.File) {}
