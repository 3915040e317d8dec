package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/replies"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// The two answers to a question about an unknown outcome.
const (
	answerLeave    = "leave"
	answerAskAgain = "ask again"
)

// answer judges a reply and applies it. The reason for ignoring one goes to the log and to the surface; the
// hub ensures that it never reaches a subscriber of the protocol (CONF-56). If this kernel does not work on
// the turn, only a no counts.
func (k *Kernel) answer(ctx context.Context, from Caller, r api.ReplyRequest) (api.ReplyAnswer, error) {
	var a api.ReplyAnswer
	err := k.step(ctx, store.RefOf(r), func(s *step) error {
		r := replies.NoByNumber(&s.rec, r)
		q := replies.Named(&s.rec, r)
		if q == nil {
			return s.unnamed(from, r)
		}
		if !s.admission.MayApprove(cmp.Or(r.By, from.Name), r.Credential) {
			return noApprover()
		}
		s.receipts.Answer.Credential, s.receipts.Answer.Language = r.Credential, r.Language
		if replies.IsUndo(*q, r) {
			a = api.ReplyAnswer{Question: q.Number, Resolution: "stopped"}
			return replies.TooLateToUndo(*q, s.takeBack(q.Number, r))
		}
		judged, outcome := q.Reply(s.at(*q), replies.Read(*q, from.Name, r, s.now))
		if !outcome.Changed {
			k.o.Logger.Info("reply ignored", "question", q.Number, "reason", string(outcome.Reason), "surface", r.Surface)
			return replies.NotAccepted(*q, outcome.Reason)
		}
		call, _ := s.rec.State.FindQuestion(q.Number)
		if err := s.checkAnswer(call, *q, judged.State, r); err != nil {
			return err
		}
		if withdrawn, err := s.overtaken(call, judged.State); withdrawn || err != nil {
			a = api.ReplyAnswer{Question: q.Number, Resolution: string(consent.Withdrawn)}
			return err
		}
		given, err := s.admission.Permissions().Make(call, *q, judged.State, r)
		if err != nil {
			return err
		}
		*q = judged
		a = api.ReplyAnswer{Question: q.Number, Resolution: string(q.State), Deadline: q.Deadline()}
		s.notification.Resolution, s.notification.By, s.notification.Surface = string(q.State), r.By, r.Surface
		if call.Kind == turn.QuestionCall {
			return s.respond(call, *q)
		}
		wish, err := s.admission.PreferredUndo(r.By)
		if err != nil {
			return err
		}
		err = s.dispatch(turn.Answered{
			Question: q.Number, Accept: q.State == consent.Accepted,
			Insist: q.Kind == consent.Clarification && r.Response == answerAskAgain,
			By:     r.By, Credential: r.Credential, Surface: r.Surface, Undo: wish, Generation: k.generation(),
		})
		if err != nil {
			return err
		}
		follows(s.rec.State, &a)
		if given != nil {
			made, err := s.makePermission(*given)
			a.Permission = &made
			return err
		}
		return nil
	})
	return a, err
}

// takeBack undoes an accept, and ends the standing permission that came with it.
func (s *step) takeBack(question int, r api.ReplyRequest) error {
	if err := s.takeBackPermission(question, r); err != nil {
		return err
	}
	s.notification.Resolution, s.notification.By, s.notification.Surface = "stopped", r.By, r.Surface
	return s.dispatch(turn.Undo{Question: question, By: r.By, Surface: r.Surface})
}

// overtaken withdraws a question whose answer no longer matters: the outcome of its call is known by now, or the rules
// forbid the call.
func (s *step) overtaken(call turn.Call, judged consent.State) (bool, error) {
	if known, err := s.adoptUnknown(call); known || err != nil {
		return known, err
	}
	if judged != consent.Accepted {
		return false, nil
	}
	return s.forbidPermission(call)
}

// follows adds the consequences to an answer: for how long it can be undone, or that it has no effect.
func follows(st turn.State, a *api.ReplyAnswer) {
	call, _ := st.FindQuestion(a.Question)
	if o := call.Outcome; call.Kind == turn.PermissionCall && o != nil && o.Code == utp.CodeConsentStale {
		a.Resolution, a.Unused = string(consent.Withdrawn), true
	}
	if call.State == turn.Accepted && call.Class == utp.Irreversible {
		a.Undo = int(math.Ceil(call.Limits.UndoTime().Seconds()))
	}
}

// checkAnswer refuses an answer that cannot count: a yes to arguments that were not seen, or without the passkey that it
// takes, and anything but a no from nobody who is known to be there, or if this kernel does not work on the turn. A no
// starts nothing, and always counts.
func (s *step) checkAnswer(call turn.Call, q consent.Question, judged consent.State, r api.ReplyRequest) error {
	if judged != consent.Rejected && !s.k.mayAccept(r.Credential) {
		return api.NewFault(utp.CodeAuthFailed, "no person is known to be behind what was presented, so only a no counts")
	}
	if judged == consent.Accepted {
		if err := s.checkSeen(call, q, r); err != nil {
			return err
		}
	}
	if err := s.checkSigned(call, q, judged, r); err != nil {
		return err
	}
	if judged != consent.Rejected && !s.k.active.Has(s.rec.State.Turn) {
		return errSuspended()
	}
	return nil
}

// noticed handles a hub's report that the surface of a yes has been notified of it. Only a hub may report
// this. The report may come twice or late.
func (k *Kernel) noticed(ctx context.Context, from Caller, r api.ReplyRequest) (api.ReplyAnswer, error) {
	var a api.ReplyAnswer
	err := k.attempt(ctx, store.RefOf(r), func(s *step) error {
		q := replies.Named(&s.rec, r)
		if q == nil {
			return s.unnamed(from, r)
		}
		if q.Again && r.Token == "" {
			return api.NewFault(utp.CodeConflict, fmt.Sprintf("question %d has been asked more than once: name the accept by its token. Nothing was changed", q.Number))
		}
		call, _ := s.rec.State.FindQuestion(q.Number)
		a = api.ReplyAnswer{Question: q.Number, Resolution: "noticed"}
		if call.Kind == turn.PermissionCall { // it ended with the yes
			return errUnchanged
		}
		if c := call.Consent; c == nil || c.By != r.By || c.Credential != r.Credential || c.Surface != r.Surface {
			return api.NewFault(utp.CodeConflict, "that surface has not accepted the question; nothing was changed")
		}
		if call.State != turn.Accepted || call.Noticed() { // reported with the answer, and again by the stream
			return errUnchanged
		}
		return s.dispatch(turn.Noticed{Question: q.Number})
	})
	if errors.Is(err, errUnchanged) {
		return a, nil
	}
	return a, store.ProtocolError(err)
}

func (k *Kernel) mayAccept(credential string) bool {
	return k.o.Approvers == nil || k.o.Approvers.MayAccept(credential)
}

func noApprover() error {
	return api.NewFault(utp.CodeAuthFailed, "who asks for a call never approves it, and only an approver does")
}

// extend asks the same question again with more time.
func (k *Kernel) extend(ctx context.Context, from Caller, r api.ReplyRequest) (api.ReplyAnswer, error) {
	var a api.ReplyAnswer
	err := k.step(ctx, store.RefOf(r), func(s *step) error {
		q := replies.Named(&s.rec, r)
		if q == nil {
			return s.unnamed(from, r)
		}
		if !s.admission.MayApprove(cmp.Or(r.By, from.Name), r.Credential) {
			return noApprover()
		}
		token, err := k.ids.Token()
		if err != nil {
			return err
		}
		longer, outcome := q.Extend(s.at(*q), token)
		if !outcome.Changed {
			return replies.NotAccepted(*q, outcome.Reason)
		}
		if !k.active.Has(s.rec.State.Turn) {
			return errSuspended()
		}
		*q = longer
		a = api.ReplyAnswer{Question: q.Number, Resolution: "extended", Deadline: q.Deadline()}
		s.notification.Resolution, s.notification.By, s.notification.Surface = "extended", r.By, r.Surface
		call, _ := s.rec.State.FindQuestion(q.Number)
		return s.note(turn.Note{Kind: NoteExtended, Call: call.ID})
	})
	return a, err
}

func (k *Kernel) stop(ctx context.Context, _ Caller, r api.ReplyRequest) (api.ReplyAnswer, error) {
	err := k.step(ctx, store.RefOf(r), func(s *step) error {
		if err := replies.Mismatch(s.tx, &s.rec, r); err != nil {
			return err
		}
		s.notification.Resolution, s.notification.By, s.notification.Surface = "stopped", r.By, r.Surface
		if err := s.count(); err != nil {
			return err
		}
		return s.stopTurn(turn.Stop{By: r.By, Surface: r.Surface, Reason: store.Clip(r.Reason, maxReason), System: r.By == ""})
	})
	return api.ReplyAnswer{Resolution: "stopped"}, err
}

func (k *Kernel) undo(ctx context.Context, from Caller, r api.ReplyRequest) (api.ReplyAnswer, error) {
	a := api.ReplyAnswer{Resolution: "stopped"}
	err := k.step(ctx, store.RefOf(r), func(s *step) error {
		q := replies.Named(&s.rec, r)
		if q == nil {
			return s.unnamed(from, r)
		}
		if !s.admission.MayApprove(cmp.Or(r.By, from.Name), r.Credential) {
			return noApprover()
		}
		a.Question, s.receipts.Answer.Credential, s.receipts.Answer.Language = q.Number, r.Credential, r.Language
		return s.takeBack(q.Number, r)
	})
	return a, err
}

// absent handles a report that nobody is left who could answer. Policy decides then rather than waits, or there would be
// no report. The question of a token gets its default at once, and what follows is asked. Without a token nobody ever
// comes back to the session: that holds for its open questions and for those that follow (CONF-82, CONF-83, C-66).
func (k *Kernel) absent(ctx context.Context, _ Caller, r api.ReplyRequest) (api.ReplyAnswer, error) {
	err := k.step(ctx, store.RefOf(r), func(s *step) error {
		if r.Token == "" {
			s.rec.Absent = true
			return s.decideUnanswered(s.rec.OpenQuestions()...)
		}
		if q := s.rec.QuestionByToken(r.Token); q != nil { // otherwise it was answered, or asked again
			return s.decideUnanswered(*q)
		}
		return nil
	})
	return api.ReplyAnswer{Resolution: "decided"}, err
}

// Turn reads a turn as the ledger has it.
func (k *Kernel) Turn(ctx context.Context, id string) (store.Record, error) {
	var rec store.Record
	err := k.o.Store.View(ctx, func(tx store.Tx) (err error) {
		rec, err = tx.Turn(store.TurnRef{Turn: id})
		return err
	})
	return rec, store.ProtocolError(err)
}

// unnamed explains why a reply names no live question, to those whom the question concerns.
func (s *step) unnamed(from Caller, r api.ReplyRequest) error {
	return replies.Unnamed(s.tx, &s.rec, r, s.admission.MayApprove(cmp.Or(r.By, from.Name), r.Credential))
}

// errSuspended refuses a request that would start something in a turn that is suspended here.
func errSuspended() error {
	return api.NewFault(utp.CodeParked, "the turn is parked: it is not under way here, so nothing could be started, and nothing was recorded; it can be rejected or stopped")
}
