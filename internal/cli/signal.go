package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echo is within what time the same signal counts as the one that came before. Control C in a terminal reaches all its
// programs, and one that has started another, such as npx or timeout, passes it on as well: that is one wish, not two.
const echo = 100 * time.Millisecond

// Signals are those that stop a turn. Make them with [Program.NewSignals]; the caller stops them.
type Signals struct {
	C chan os.Signal // what came since Heed, without echoes

	given       <-chan os.Signal // those of the program; nil: those of the process
	raw         chan os.Signal   // those of the process
	heeded      bool
	quit, ended chan struct{}
}

// NewSignals returns signals that are not heeded yet: until then, they do what they do by default.
func (m *Program) NewSignals() *Signals {
	return &Signals{C: make(chan os.Signal, 4), given: m.Signals, raw: make(chan os.Signal, 4), quit: make(chan struct{}), ended: make(chan struct{})}
}

// Heed registers for the signals, once, except for those that the caller has ignored: with nohup, the program should outlive its
// terminal.
func (s *Signals) Heed() {
	s.heeded = true
	if s.given != nil {
		go s.pass(s.given)
		return
	}
	signal.Ignore(syscall.SIGPIPE) // a closed reader becomes a write error, which is reported
	go s.pass(s.raw)
	for _, one := range []os.Signal{os.Interrupt, syscall.SIGTERM, Hangup} {
		if !signal.Ignored(one) {
			signal.Notify(s.raw, one)
		}
	}
}

// pass passes signals on until Stop.
func (s *Signals) pass(from <-chan os.Signal) {
	defer close(s.ended)
	var last os.Signal
	var at time.Time
	for {
		select {
		case <-s.quit:
			return
		case one := <-from:
			now := time.Now()
			if one == last && now.Sub(at) < echo {
				continue
			}
			last, at = one, now
			select {
			case s.C <- one:
			default: // there are enough signals
			}
		}
	}
}

// Stop ends what Heed has begun. A signal does what it does by default from then on.
func (s *Signals) Stop() {
	signal.Stop(s.raw)
	if s.heeded {
		s.heeded = false
		close(s.quit)
		<-s.ended
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
	signals := m.NewSignals()
	defer signals.Stop()
	signals.Heed()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var came os.Signal
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case came = <-signals.C:
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

// UntilInterrupted returns a context that ends with an interrupt or SIGTERM, too. The caller must call stop.
func (m *Program) UntilInterrupted(ctx context.Context) (_ context.Context, stop context.CancelFunc) {
	if m.Signals == nil {
		return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-m.Signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Hangup is the signal for a lost terminal.
const Hangup = syscall.SIGHUP
