package kernel

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// rejudgePage is how many open turns are listed at a time.
const rejudgePage = 256

// errUnchanged undoes a step that has changed nothing.
var errUnchanged = errors.New("kernel: nothing has changed")

// Rejudge has the policy, as it stands now, judge every call that nobody has started: what it
// forbids ends, and its question is withdrawn; what was agreed to, or allowed, by a looser rule
// is asked for again. A rule that is looser now changes nothing. Call it when the policy has
// changed. Nothing depends on it for safety: what is to leave or to start is judged by itself.
// After an error it can be called again.
func (k *Kernel) Rejudge(ctx context.Context) error {
	return k.everyOpen(ctx, (*step).rejudge)
}

// NoteAll tells everybody who listens to an open turn what concerns all of them: one of the
// notes that belong to no call, such as [NoteRulesBroken]. A turn that cannot be told is passed
// over.
func (k *Kernel) NoteAll(ctx context.Context, kind turn.NoteKind) error {
	return k.everyOpen(ctx, func(s *step) error { return s.note(turn.Note{Kind: kind}) })
}

// everyOpen steps every open turn, or with Options.OwnedTurnsOnly those that are attended to here. One
// turn's trouble is its own; the first is returned at the end, unless the turn cannot be read at
// all.
func (k *Kernel) everyOpen(ctx context.Context, fn func(*step) error) error {
	turns := k.owned()
	if !k.o.OwnedTurnsOnly {
		var err error
		if turns, err = k.openTurns(ctx); err != nil {
			return store.ProtocolError(err)
		}
	}
	var first error
	for _, id := range turns {
		err := k.attempt(ctx, store.TurnRef{Turn: id}, func(s *step) error {
			if s.rec.State.Status == turn.Ended {
				return errUnchanged
			}
			return fn(s)
		})
		if err == nil || errors.Is(err, errUnchanged) {
			continue
		}
		k.o.Logger.Error("a turn was passed over", "turn", id, "error", err)
		if first == nil && !errors.Is(err, store.ErrDamaged) {
			first = err
		}
	}
	return store.ProtocolError(first)
}

func (k *Kernel) openTurns(ctx context.Context) ([]string, error) {
	var turns []string
	f := store.TurnFilter{Open: true, Limit: rejudgePage}
	for {
		var rows []store.TurnRow
		err := k.o.Store.View(ctx, func(tx store.Tx) (err error) {
			rows, err = tx.Turns(f)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			turns = append(turns, row.Turn)
		}
		if len(rows) < rejudgePage {
			return turns, nil
		}
		f.After = rows[len(rows)-1].Turn
	}
}

// rejudge judges the calls of one turn that nobody has started.
func (s *step) rejudge() error {
	changed := false
	for _, c := range slices.Clone(s.rec.State.Calls) {
		forbidden, err := s.forbidPermission(c)
		if err != nil {
			return err
		}
		changed = changed || forbidden
		waits := c.State == turn.Asked || c.State == turn.Accepted || c.State == turn.Dispatched
		if c.Kind != turn.ToolCall || !waits {
			continue
		}
		tool, err := store.ReadTool(s.tx, c.Tool)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		now := terms(tool, s.k.o.Policy.Decide(s.rec.State.Agent, tool))
		if now.Decision != turn.Deny && !judgedAs(tool, c) {
			continue // another tool than it was asked for with: what is to leave is compared by itself
		}
		if !now.StricterThan(c.Terms()) || s.rec.State.Status == turn.Ended {
			continue
		}
		changed = true
		if err := s.dispatch(turn.Ruled{Call: c.ID, Terms: now}); err != nil {
			return err
		}
	}
	if !changed {
		return errUnchanged
	}
	return nil
}
