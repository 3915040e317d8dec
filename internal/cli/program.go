package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
)

// The exit codes of the program.
const (
	ExitDone     = 0
	ExitFailed   = 1 // it failed, its outcome is unknown, or something accepted was not done
	ExitUsage    = 2
	ExitDeclined = 3 // declined, expired, or nobody could answer
	exitSignal   = 128
)

// Program is the environment of the program. Its methods are shared by the commands.
type Program struct {
	Stdin          *os.File
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	LookupEnv      func(string) (string, bool)
	Environ        func() []string // nil where it is not looked at as a whole
	Now            func() time.Time
	// Signals are what the program hears instead of the signals of the process; one command at a time reads them. nil is
	// those of the process.
	Signals <-chan os.Signal
	// OwnsProcess means that nothing else runs in this process, whose garbage collector the program may then tune.
	OwnsProcess bool
	// EndGrace is how long a server may take to end. Default: 10 seconds.
	EndGrace time.Duration

	unsaid atomic.Pointer[error]         // the first write error of standard output
	zone   atomic.Pointer[time.Location] // where the person wants times told; nil is the zone of Now
	away   atomic.Bool                   // the connection to the server is lost
}

// CodeOf returns the exit code of a kind of failure.
func CodeOf(kind cause.Kind) int {
	switch kind {
	case cause.Usage:
		return ExitUsage
	case cause.Declined:
		return ExitDeclined
	default:
		return ExitFailed
	}
}

// ExitError ends the program with an exit code, without a further message.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit %d", e.Code) }
