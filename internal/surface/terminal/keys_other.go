//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

import (
	"errors"
	"os"
)

// RawKeys fails here: the terminal itself edits and shows lines.
func RawKeys(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
