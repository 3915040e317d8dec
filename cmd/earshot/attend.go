package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/utp"
)

// signalGrace is how long a signalled run waits for its last event.
const signalGrace = 10 * time.Second

// attendance is a session that a terminal attends, wherever its turn runs.
type attendance struct {
	port    terminal.Port
	session string
	// person is the recorded name of the person who answers here; "" if unknown.
	person string
	// prefers is how they want things told; nothing if it could not be read, which holds nobody up.
	prefers api.Preferences
	// stop stops the turn because of a signal.
	stop func(ctx context.Context, s os.Signal) error
	// absent reports that nobody is left here who could answer; nil if others may.
	absent func(ctx context.Context)
	// broken sends the error after which the session cannot continue here; nil if the port reports that.
	broken <-chan error
	// leaves means that the turn continues when the terminal is lost.
	leaves bool
	// resume explains how to return to the session; "" if there is nothing to return to.
	resume string
}

// follow narrates the session and forwards the person's commands until its last event. It returns the signal that ended
// it, or nil, and the error that it could not recover from.
func (m *Main) follow(ctx context.Context, f runFlags, signals chan os.Signal, a attendance) (os.Signal, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var owned sync.WaitGroup
	defer owned.Wait()
	defer cancel()
	stopped, broken := make(chan os.Signal, 1), make(chan error, 1)
	owned.Go(func() { stopped <- a.onSignal(ctx, cancel, signals) })
	owned.Go(func() { broken <- a.onFailure(ctx, cancel) })

	l := &line{cut: func() { cli.HangUp(signals) }}
	o := m.console(f, l, a)
	typed := o.FlushInput != nil
	o.InputEnded = func() {
		if typed && l.lost(m.Stdin) && !signal.Ignored(cli.Hangup) {
			return // that is a signal
		}
		if a.absent != nil {
			owned.Go(func() { a.absent(ctx) })
		}
	}
	err := terminal.Run(ctx, o, a.port)
	cancel()
	signalled, failure := <-stopped, <-broken
	if failure == nil && err != nil && !errors.Is(err, context.Canceled) {
		failure = followError(err, a.resume)
	}
	return signalled, failure
}

// followError is the error if a session could not be narrated to its end.
func followError(err error, resume string) error {
	if e, is := errors.AsType[*client.Error](err); is {
		return &cause.Error{Message: e.Message, Hint: strings.Trim(e.Hint+"; "+resume, "; "), Err: err}
	}
	return cause.Fail(err, "the session could not be followed to its end", cmp.Or(resume, "run it again"))
}

// here returns the attendance of a turn that runs in this process.
func here(ctx context.Context, h *instance.Instance, f runFlags, turnID, session string) attendance {
	person := instance.LocalUser()
	prefers, _ := h.Hub.Prefer(ctx, api.PreferRequest{Person: person}) // where it fails, told as to everybody
	port := newHubPort(h.Hub, session, func() time.Time { now := h.Now(); return now.In(cli.ZoneOf(prefers.Preferences, now.Location())) })
	if f.resume {
		port.live = func(ctx context.Context, token string) bool { return live(ctx, h, turnID, token) }
	}
	return attendance{
		port: port, session: session, person: person, prefers: prefers.Preferences, broken: h.Broken(), resume: resumeHint(session),
		stop: func(ctx context.Context, s os.Signal) error {
			_, err := h.Hub.Stop(ctx, api.ReplyRequest{Session: session, Surface: "signal", Reason: s.String()})
			return err
		},
		absent: func(ctx context.Context) { absentFrom(ctx, h, session) },
	}
}

// onFailure ends the attendance when a part that it depends on is broken.
func (a attendance) onFailure(ctx context.Context, giveUp context.CancelFunc) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.broken:
		giveUp()
		if told, is := errors.AsType[*cause.Error](err); is && told.Kind == cause.Failed {
			return &cause.Error{Message: told.Message, Hint: strings.TrimPrefix(told.Hint+"; "+a.resume, "; "), Err: err}
		}
		return err
	}
}

func resumeHint(session string) string {
	return "`earshot run --resume " + session + "` goes on with it"
}

// live reports whether a question of the turn is open, or its accept can still be taken back. On an error it returns
// true: one question too many does no harm.
func live(ctx context.Context, h *instance.Instance, turnID, token string) bool {
	rec, err := h.Kernel.Turn(ctx, turnID)
	if err != nil {
		return true
	}
	for _, q := range rec.Questions {
		if q.Token != token {
			continue
		}
		call, found := rec.State.FindQuestion(q.Number)
		return q.State == consent.Open || (found && call.State == turn.Accepted)
	}
	return false
}

// onSignal stops the turn at the first signal, and stops waiting at the second or when the last event takes too long. A
// hangup never counts as the second: when a terminal is lost, it arrives more than once, and together with others.
func (a attendance) onSignal(ctx context.Context, giveUp context.CancelFunc, signals <-chan os.Signal) os.Signal {
	var first os.Signal
	select {
	case <-ctx.Done():
		return nil
	case first = <-signals:
	}
	if first == cli.Hangup && a.leaves {
		giveUp()
		return first
	}
	if err := a.stop(ctx, first); err != nil {
		giveUp()
		return first
	}
	timer := time.NewTimer(signalGrace)
	defer timer.Stop()
	for last := first; ; {
		select {
		case s := <-signals:
			if s == cli.Hangup || last == cli.Hangup {
				last = s
				continue
			}
		case <-ctx.Done():
		case <-timer.C:
		}
		giveUp()
		return first
	}
}

// absentFrom reports to the kernel that nobody is left here who could answer: a run without a server waits for nobody
// else.
func absentFrom(ctx context.Context, h *instance.Instance, session string) {
	_, err := h.Hub.Absent(ctx, api.ReplyRequest{Session: session})
	if err != nil && ctx.Err() == nil && !cli.IsFault(err, utp.CodeTurnEnded) {
		h.Fail(cause.Fail(err, "it could not be recorded that nobody is left here to answer", ""))
	}
}

// verdict returns the exit code, according to the ledger.
func (m *Main) verdict(ctx context.Context, h *instance.Instance, turnID string, signalled os.Signal) error {
	rec, err := h.Kernel.Turn(ctx, turnID)
	if err != nil {
		return cause.Fail(err, "the end of the turn could not be read", "")
	}
	st := rec.State
	switch {
	case h.Data.Replaced():
		return h.Data.Lost()
	case signalled != nil:
		return &cli.ExitError{Code: cli.SignalCode(signalled)}
	case st.End == nil:
		return cause.Fail(nil, "the turn has not ended", "run `earshot run --resume "+st.Session+"` to go on with it")
	}
	if code := exitCode(st.End.Status, st.Tally); code != cli.ExitDone {
		return &cli.ExitError{Code: code}
	}
	return nil
}

// exitCode returns how a turn ended. Failures come first, including an unknown outcome or an accepted call that was not
// carried out; then what the person declined.
func exitCode(end utp.Status, t api.Tally) int {
	switch {
	case t.Unknown+t.Broken > 0:
		return cli.ExitFailed
	case t.Declined+t.Expired+t.Undone > 0, end == utp.StatusCanceled:
		if t.Effects > 0 {
			return cli.ExitFailed
		}
		return cli.ExitDeclined
	case end == utp.StatusSuccess && !t.AllFailed(): // whatever the agent reports
		return cli.ExitDone
	default:
		return cli.ExitFailed
	}
}
