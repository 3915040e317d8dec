package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// apply passes one input to the machine and carries out its effects.
func (s *shell) apply(input func(now time.Time) []Effect) error {
	s.machine.Resize(s.o.Width())

	for _, effect := range input(s.o.Now()) {
		switch e := effect.(type) {
		case Print:
			if err := s.print(e); err != nil {
				return err
			}
		case Echo:
			if _, err := io.WriteString(s.o.Prompt, e.Text); err != nil {
				return fmt.Errorf("terminal: writing: %w", err)
			}
		case Flush:
			s.input.flush()
		case Send:
			s.request(e)
		case InputEnded:
			s.o.InputEnded()
		}
	}

	return nil
}

func (s *shell) print(p Print) error {
	to := map[Stream]io.Writer{Narration: s.o.Out, Prompt: s.o.Prompt}[p.Stream]
	if _, err := io.WriteString(to, strings.Join(p.Lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("terminal: writing: %w", err)
	}

	return nil
}

// request makes one request in a separate goroutine, so that a slow answer never delays "stop". The machine sends
// requests that must not overtake each other one at a time.
func (s *shell) request(e Send) {
	s.pending++

	if causesEvents(e.Request) {
		if len(s.asked) == 0 {
			s.grace = time.After(resultGrace)
		}

		s.asked[e.ID] = true
	}

	s.tasks.Go(func() {
		r := s.call(s.ctx, e.Request)
		r.ID = e.ID

		select {
		case s.results <- r:
		case <-s.ctx.Done():
		}
	})
}

// causesEvents reports whether the events after a request are its consequences, and are shown after its result.
func causesEvents(r Request) bool {
	switch r.(type) {
	case PageRequest, AgentPrompt, Proposal, ListPermissions:
		return false
	default:
		return true
	}
}

func (s *shell) call(ctx context.Context, request Request) (result Result) {
	switch r := request.(type) {
	case Answer:
		result.Err = s.port.Answer(ctx, r)
	case Extend:
		result.Err = s.port.Extend(ctx, r)
	case Stop:
		result.Err = s.port.Stop(ctx, r)
	case Undo:
		result.Err = s.port.Undo(ctx, r)
	case PageRequest:
		result.Page, result.Err = s.port.Arguments(ctx, r)
	case AgentPrompt:
		result.Err = errors.ErrUnsupported
		if p, takes := s.port.(Prompter); takes {
			result.Err = p.Prompt(ctx, r)
		}
	case Proposal, ListPermissions, Revoke:
		result.Err = errors.ErrUnsupported
		if p, permits := s.port.(Permitter); permits {
			return permit(ctx, p, request)
		}
	default:
		result.Err = fmt.Errorf("terminal: unknown request %T", request)
	}

	return result
}

// permit makes a request about standing permissions.
func permit(ctx context.Context, p Permitter, request Request) (result Result) {
	switch r := request.(type) {
	case Proposal:
		result.Proposed, result.Err = p.Propose(ctx, r)
	case Revoke:
		result.Permissions, result.Err = p.Revoke(ctx, r)
	default:
		result.Permissions, result.Err = p.Permissions(ctx)
	}

	return result
}

// setTimer sets the timer to the machine's next wakeup.
func (s *shell) setTimer(timer *time.Timer) {
	timer.Stop()

	if wake := s.machine.Wake(); !wake.IsZero() {
		timer.Reset(max(wake.Sub(s.o.Now()), 0))
	}
}

// wait waits for what was started: it is called with ctx done.
func (s *shell) wait() {
	s.input.stop()
	s.tasks.Wait()
}
