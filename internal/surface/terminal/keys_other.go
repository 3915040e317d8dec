//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

import (
	"errors"
	"os"
)

// TakeKeys fails here: the terminal itself edits and shows lines.
func TakeKeys(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
