package kernel

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// rejudgePage is how many open turns are listed at a time.
const rejudgePage = 256

// errUnchanged rolls back a step that has changed nothing.
var errUnchanged = errors.New("kernel: nothing has changed")

// Rejudge judges every call that is not started by the current policy. A forbidden call ends, and its question is
// withdrawn. A call that was accepted, or allowed, under a looser rule is asked for again. A rule that is looser
// now changes nothing. A call whose tool is not there any more ends as well. Call it when the policy has changed. Safety does not depend on it: each dispatch and each
// start is judged by itself. After an error it can be called again.
func (k *Kernel) Rejudge(ctx context.Context) error {
	return k.everyOpen(ctx, "", (*step).rejudge)
}

// NoteAll adds a note that belongs to no call, such as [NoteRulesBroken], to every open turn. A turn that cannot
// be stepped is skipped.
func (k *Kernel) NoteAll(ctx context.Context, kind turn.NoteKind) error {
	return k.everyOpen(ctx, "", func(s *step) error { return s.note(turn.Note{Kind: kind}) })
}

// everyOpen steps every open turn of an agent, or of all with "", or with Options.OwnedTurnsOnly those that this kernel works
// on. An error in one turn does not affect the others. The first error is returned at the end, unless its turn is unreadable.
func (k *Kernel) everyOpen(ctx context.Context, agent string, fn func(*step) error) error {
	turns, only := k.active.Owned()
	if !only {
		var err error
		if turns, err = k.openTurns(ctx, agent); err != nil {
			return store.ProtocolError(err)
		}
	}
	var first error
	for _, id := range turns {
		err := k.attempt(ctx, store.TurnRef{Turn: id}, func(s *step) error {
			if s.rec.State.Status == turn.Ended || agent != "" && s.rec.State.Agent != agent {
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

func (k *Kernel) openTurns(ctx context.Context, agent string) ([]string, error) {
	var turns []string
	f := store.TurnFilter{Agent: agent, Open: true, Limit: rejudgePage}
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

// rejudge judges the calls of one turn that are not started.
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
		tool, err := s.admission.Tool(c.Tool)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		other, err := s.rejudgeCall(c, tool, err != nil)
		if err != nil {
			return err
		}
		changed = changed || other
	}
	if !changed {
		return errUnchanged
	}
	return nil
}

// rejudgeCall judges a call that is not started, and reports whether that has changed it. Removed says that its tool is
// not in the registry.
func (s *step) rejudgeCall(c turn.Call, tool store.Tool, removed bool) (bool, error) {
	if removed || s.k.registry.Lacks(tool) {
		return true, s.dispatch(turn.ToolMissing{Call: c.ID})
	}
	now, err := s.admission.Terms(c, tool)
	if err != nil {
		return false, err
	}
	if now.Decision != turn.Deny && !admission.JudgedAs(tool, c) {
		return false, nil // the tool has changed since: the dispatch compares it
	}
	if !now.StricterThan(c.Terms()) || s.rec.State.Status == turn.Ended {
		return false, nil
	}
	return true, s.dispatch(turn.Ruled{Call: c.ID, Terms: now})
}

// forbidPermission withdraws the question about a tool of the agent's own if the policy forbids the tool now, and reports
// whether it does.
func (s *step) forbidPermission(c turn.Call) (bool, error) {
	if c.Kind != turn.PermissionCall || c.State != turn.Asked {
		return false, nil
	}
	if forbidden, err := s.admission.Forbids(c); err != nil || !forbidden {
		return false, err
	}
	return true, s.dispatch(turn.Ruled{Call: c.ID, Terms: turn.Terms{Decision: turn.Deny}})
}
