package kernel

import (
	"cmp"
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// present handles a hub's report that a question, as asked under a token, is shown to somebody who can
// answer it. Its time starts then, and not before. The report may come twice, late or from several hubs:
// only the first about the live token counts.
func (k *Kernel) present(ctx context.Context, from Caller, r api.ReplyRequest) (api.ReplyAnswer, error) {
	if r.Token == "" {
		return api.ReplyAnswer{}, api.NewFault(utp.CodeBadRequest, "which asking was shown is named by its token")
	}
	var a api.ReplyAnswer
	waits := false
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Token: r.Token})
		if err != nil {
			return err
		}
		if q := rec.QuestionByToken(r.Token); q != nil {
			a, waits = shown(*q), q.Unseen || q.Waiting
		}
		return nil
	})
	if err != nil || !waits {
		return a, err
	}
	err = k.step(ctx, store.TurnRef{Token: r.Token}, func(s *step) error {
		if !k.active.Has(s.rec.State.Turn) {
			return errSuspended()
		}
		if !s.admission.MayApprove(cmp.Or(r.By, from.Name), r.Credential) {
			return noApprover()
		}
		q := s.rec.QuestionByToken(r.Token)
		if q == nil {
			return nil // somebody else was faster
		}
		if err := s.show(q); err != nil {
			return err
		}
		a = shown(*q)
		return nil
	})
	return a, err
}

func shown(q consent.Question) api.ReplyAnswer {
	return api.ReplyAnswer{Question: q.Number, Resolution: "shown", Deadline: q.Deadline()}
}

// show starts the time of a question that nobody was known to have seen. A question that was asked a while
// ago is asked again.
func (s *step) show(q *consent.Question) error {
	token, err := s.k.ids.Token()
	if err != nil {
		return err
	}
	next, outcome := q.Present(s.now.Wall, token)
	if !outcome.Changed {
		return nil
	}
	again := next.Token != q.Token
	*q = next
	if !again {
		return nil
	}
	return s.dispatch(turn.Shown{Question: q.Number})
}

// showAll marks the waiting questions of a resumed turn as shown: without WaitForPresence, whoever resumes it
// is there and sees them.
func (s *step) showAll() error {
	if s.k.o.WaitForPresence {
		return nil
	}
	for _, open := range s.rec.OpenQuestions() {
		q := s.rec.Question(open.Number)
		if !q.Unseen && !q.Waiting {
			continue
		}
		if err := s.show(q); err != nil {
			return err
		}
	}
	return nil
}

// await asks questions again, to wait, that were shown to nobody in time.
func (s *step) await() error {
	for _, q := range s.rec.OpenQuestions() {
		if due := q.ShowBy(); due.IsZero() || s.now.Wall.Before(due) {
			continue
		}
		token, err := s.k.ids.Token()
		if err != nil {
			return err
		}
		waiting, outcome := q.Await(s.now.Wall, token)
		if !outcome.Changed {
			continue
		}
		*s.rec.Question(q.Number) = waiting
		if err := s.dispatch(turn.Unshown{Question: q.Number}); err != nil {
			return err
		}
	}
	return nil
}

// countdown tells how much time is left to answer the questions of which half, or a tenth, is left (CONF-73).
func (s *step) countdown() error {
	for _, q := range s.rec.OpenQuestions() {
		told, due := q.Warn(s.at(q))
		if !due {
			continue
		}
		*s.rec.Question(q.Number) = told
		call, _ := s.rec.State.FindQuestion(q.Number)
		if err := s.note(turn.Note{Kind: NoteCountdown, Call: call.ID}); err != nil {
			return err
		}
	}
	return nil
}

// prefer saves, or only returns, a person's preferences for the questions that are put to them.
func (k *Kernel) prefer(ctx context.Context, _ Caller, q api.PreferRequest) (api.PreferAnswer, error) {
	if q.Person == "" || len(q.Person) > store.MaxName {
		return api.PreferAnswer{}, api.NewFault(utp.CodeBadRequest, "a wish is that of a person, named in at most 128 bytes")
	}
	var wish store.Preferences
	read := func(tx store.Tx) (err error) {
		wish, err = tx.Preferences(q.Person)
		return err
	}
	var err error
	if q.Preferences == (api.Preferences{}) {
		err = k.o.Store.View(ctx, read)
	} else {
		err = k.update(ctx, func(tx store.Tx) error {
			if err := read(tx); err != nil {
				return err
			}
			wish = store.Preferences{Person: q.Person, Preferences: wish.With(q.Preferences)}
			if err := wish.Check(); err != nil {
				return api.NewFault(utp.CodeBadRequest, err.Error())
			}
			return tx.Save(store.Batch{Preferences: []store.Preferences{wish}})
		})
	}
	return api.PreferAnswer{Person: q.Person, Preferences: wish.Full()}, err
}
