package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/listen"
	"github.com/earshot-dev/earshot/utp"
)

// signalGrace is how long a signalled run waits for its last event.
const signalGrace = 10 * time.Second

// attend narrates the session and carries the person's words until its last event. It
// returns the signal that ended it, or nil, and what it could not go on after.
func (m *Main) attend(ctx context.Context, h *house, f runFlags, turnID, session string) (os.Signal, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	var owned sync.WaitGroup
	defer owned.Wait()
	defer cancel()
	stopped, broken := make(chan os.Signal, 1), make(chan error, 1)
	owned.Go(func() { stopped <- h.onSignal(ctx, cancel, signals, session) })
	owned.Go(func() { broken <- h.onFailure(ctx, cancel, session) })

	port := newTerminal(h.hub, session)
	if f.resume {
		port.live = func(ctx context.Context, token string) bool { return h.live(ctx, turnID, token) }
	}
	o := m.console(f)
	o.InputEnded = func() { owned.Go(func() { h.absent(ctx, session) }) }
	err := listen.Run(ctx, o, port)
	cancel()
	signalled, failure := <-stopped, <-broken
	if failure == nil && err != nil && !errors.Is(err, context.Canceled) {
		failure = failed(err, "the session could not be told to its end", resumeHint(session))
	}
	return signalled, failure
}

// onFailure ends the attendance when the house is broken.
func (h *house) onFailure(ctx context.Context, giveUp context.CancelFunc, session string) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-h.broken:
		giveUp()
		if told, is := errors.AsType[*failure](err); is && told.code == exitFailed {
			return &failure{code: told.code, message: told.message, hint: strings.TrimPrefix(told.hint+"; "+resumeHint(session), "; "), err: err}
		}
		return err
	}
}

func resumeHint(session string) string {
	return "`earshot run --resume " + session + "` goes on with it"
}

// live reports whether a question of the turn is open, or its yes can still be taken
// back. What cannot be read is shown: a question too many can do no harm.
func (h *house) live(ctx context.Context, turnID, token string) bool {
	rec, err := h.kernel.Turn(ctx, turnID)
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

// onSignal stops the turn at the first signal and gives up waiting at the second, or
// when the last event takes too long.
func (h *house) onSignal(ctx context.Context, giveUp context.CancelFunc, signals <-chan os.Signal, session string) os.Signal {
	var first os.Signal
	select {
	case <-ctx.Done():
		return nil
	case first = <-signals:
	}
	if _, err := h.hub.Stop(ctx, utp.ReplyRequest{Session: session, Surface: "signal", Reason: first.String()}); err != nil {
		giveUp()
		return first
	}
	timer := time.NewTimer(signalGrace)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-signals:
	case <-timer.C:
	}
	giveUp()
	return first
}

// absent tells the kernel that nobody is left here who could answer: a run without a
// server does not wait for anybody else.
func (h *house) absent(ctx context.Context, session string) {
	_, err := h.hub.Absent(ctx, utp.ReplyRequest{Session: session})
	if err != nil && ctx.Err() == nil && !isFault(err, utp.CodeTurnEnded) {
		h.fail(failed(err, "it could not be recorded that nobody is left here to answer", ""))
	}
}

// verdict is the exit code, from what the ledger says.
func (m *Main) verdict(ctx context.Context, h *house, turnID string, signalled os.Signal) error {
	rec, err := h.kernel.Turn(ctx, turnID)
	if err != nil {
		return failed(err, "the end of the turn could not be read", "")
	}
	st := rec.State
	switch {
	case signalled == os.Interrupt:
		return &exitError{exitSignal + int(syscall.SIGINT)}
	case signalled != nil:
		return &exitError{exitSignal + int(syscall.SIGTERM)}
	case st.End == nil:
		return failed(nil, "the turn has not ended", "run `earshot run --resume "+st.Session+"` to go on with it")
	}
	if code := exitCode(st); code != exitDone {
		return &exitError{code}
	}
	return nil
}

// exitCode says how a turn ended: an unknown fate or a failure before all else, then
// what the person did not want.
func exitCode(st turn.State) int {
	t := st.Tally
	switch {
	case t.Unknown > 0:
		return exitFailed
	case t.Declined+t.Expired+t.Undone > 0, st.End.Status == utp.StatusCanceled:
		if t.Effects > 0 {
			return exitFailed
		}
		return exitDeclined
	case st.End.Status == utp.StatusSuccess:
		return exitDone
	default:
		return exitFailed
	}
}

func asFault(err error) *utp.Fault {
	fault, _ := errors.AsType[*utp.Fault](err)
	return fault
}

func isFault(err error, code utp.Code) bool {
	fault := asFault(err)
	return fault != nil && fault.Code == code
}

func jsonReader(raw []byte) io.Reader { return bytes.NewReader(raw) }
