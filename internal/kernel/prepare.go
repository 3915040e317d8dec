package kernel

import (
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// prepare makes a call from a worker's request. A fault of the request becomes the call's own outcome; an
// error is the kernel's.
func (s *step) prepare(w api.ToolCall, stepID string) (turn.Call, error) {
	if w.Question != nil || w.Tool == utp.SubmitResult {
		return s.personCall(w, stepID)
	}
	if err := api.CheckLang(w.Lang); err != nil {
		return s.admission.Refuse(admission.Request{Key: w.Key, Step: stepID, Tool: w.Tool, From: w.From, To: w.To}, utp.CodeBadRequest, err.Error())
	}
	args, err := store.ReadBody(s.tx, w.Args)
	missing := errors.Is(err, store.ErrNotFound)
	if err != nil && !missing {
		return turn.Call{}, err
	}
	if s.read += len(args); s.read > api.BlobLimit { // in one transaction, which others wait for
		return turn.Call{}, api.NewFault(utp.CodeTooLarge, "the arguments of a step may have 64 MiB together; ask for its calls in several steps")
	}
	return s.make(admission.Request{
		Key: w.Key, Step: stepID, Tool: w.Tool, Comment: w.Comment, Lang: w.Lang, Args: args, Missing: missing, From: w.From, To: w.To,
	})
}

// make makes a call, and tells of the standing permissions that were found to be over on the way.
func (s *step) make(r admission.Request) (turn.Call, error) {
	c, err := s.admission.Make(r)
	if err != nil {
		return c, err
	}
	for _, p := range s.admission.Permissions().NewlyEnded() {
		if err := s.tellEnded(p); err != nil {
			return c, err
		}
	}
	return c, nil
}

// replace asks for the same work again, under a new id and as things stand now.
func (s *step) replace(id string) error {
	old, _ := s.rec.State.Find(id)
	args, err := s.cards.SuppliedArgs(old)
	missing := errors.Is(err, store.ErrDamaged)
	if err != nil && !missing {
		return err
	}
	c, err := s.make(admission.Request{
		Key: old.Key, Step: old.Step, Tool: old.Tool, Comment: old.Comment, Lang: old.Lang, Args: args, Missing: missing,
		From: old.Range[0], To: old.Range[1], Replaces: old.ID,
	})
	if err != nil {
		return err
	}
	if old.Outcome != nil && old.Outcome.Message == turn.StaleRestarted && admission.SameWork(old, c) { // the question is the same as before
		c.Question = old.Question
	}
	if old.Decision == turn.Ask && c.Decision == turn.Allow { // a looser rule does not count once somebody was asked
		c.Decision = turn.Ask
	}
	return s.dispatch(turn.Adopt{Call: c})
}
