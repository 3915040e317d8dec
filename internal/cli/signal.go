package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Heed asks for the signals that stop a turn, but for those that anyone who started the
// program has turned off: with nohup it is to outlive its terminal.
func Heed(signals chan<- os.Signal) {
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is an error of the write, and told as one
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, Hangup} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
}

// HangUp passes on that the terminal has gone away. The system says so too, but a
// write that fails may be faster, and a process without a session is not told.
func HangUp(signals chan<- os.Signal) {
	if signal.Ignored(Hangup) {
		return
	}
	select {
	case signals <- Hangup:
	default: // there are signals enough
	}
}

// SignalCode is the exit code of a run that a signal ended, as shells count it.
func SignalCode(s os.Signal) int {
	number, known := s.(syscall.Signal)
	if !known {
		number = syscall.SIGTERM
	}
	return exitSignal + int(number)
}

// UnlessInterrupted runs do, which writes a file, with a context that a signal ends: then what is
// half written is taken away, where the signal itself would leave it. The exit code is the
// signal's.
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

// hangup is the signal of a terminal that has gone away.
const Hangup = syscall.SIGHUP
