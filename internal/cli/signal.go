package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Heed registers for the signals that stop a turn, except those that the caller has ignored: with nohup, the program
// should outlive its terminal.
func Heed(signals chan<- os.Signal) {
	signal.Ignore(syscall.SIGPIPE) // a closed reader becomes a write error, which is reported
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, Hangup} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
}

// HangUp simulates SIGHUP after a failed write to the terminal. The system sends the signal too, but the write may fail
// earlier, and a process without a session gets no signal.
func HangUp(signals chan<- os.Signal) {
	if signal.Ignored(Hangup) {
		return
	}
	select {
	case signals <- Hangup:
	default: // there are enough signals
	}
}

// SignalCode returns the exit code of a run that a signal ended, by the shells' convention.
func SignalCode(s os.Signal) int {
	number, known := s.(syscall.Signal)
	if !known {
		number = syscall.SIGTERM
	}
	return exitSignal + int(number)
}

// UnlessInterrupted runs do, which writes a file, with a context that a signal cancels. A partial file is then removed,
// which the signal alone would leave behind. The exit code is the signal's.
func (m *Program) UnlessInterrupted(ctx context.Context, do func(context.Context) error) error {
	signals := make(chan os.Signal, 1)
	Heed(signals)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var came os.Signal
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case came = <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := do(ctx)
	cancel()
	<-watched
	if err == nil || came == nil {
		return err
	}
	m.Notef("Broken off; nothing is kept of it.")
	return &ExitError{Code: SignalCode(came)}
}

// Hangup is the signal for a lost terminal.
const Hangup = syscall.SIGHUP
