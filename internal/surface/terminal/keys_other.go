//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

import (
	"errors"
	"os"
)

// RawKeys fails on this platform: the terminal itself edits and displays lines.
func RawKeys(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
