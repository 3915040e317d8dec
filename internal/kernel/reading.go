package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// maxReadings is how many readers of one question are remembered.
const maxReadings = 16

// checkSeen records how the person who accepts has seen the arguments, and refuses a yes to arguments that the
// person has not been shown.
func (s *step) checkSeen(c turn.Call, q consent.Question, r api.ReplyRequest) error {
	must := api.MustBeRead(c.Class, c.Risk)
	put := s.rec.LastPresented(q.Number)
	if put.Shows == store.ShowsInText || put.Shows == store.ShowsInList && r.Lists {
		s.receipts.Answer.Seen = api.SeenShown
		return nil
	}
	args, err := s.cards.Args(c)
	if err != nil && must {
		return err
	}
	whole := func(read store.Reading) bool {
		return read.IsBy(r.By, r.Credential, r.Surface) && read.UpTo >= int64(len(args))
	}
	switch {
	case err == nil && slices.ContainsFunc(put.Read, whole):
		s.receipts.Answer.Seen = api.SeenRead
		return nil
	case !must:
		s.receipts.Answer.Seen = api.SeenPart
		return nil
	}
	return api.NewFault(utp.CodeArgumentsNotSeen, fmt.Sprintf(
		"you have not been shown everything that question %d is about; read %s from its first page to its last, then accept", q.Number, api.ArgumentsAddress(q.Number)))
}

// arguments reads what a question is about: the arguments as they would run. If the event does not show them
// all, it records what somebody who may answer has read.
func (k *Kernel) arguments(ctx context.Context, _ Caller, q api.ArgumentsRequest) (api.GetAnswer, error) {
	var a api.GetAnswer
	remember := false
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Question: q.Question})
		if err != nil {
			return err
		}
		s := k.newStep(tx, turn.Timestamp{}, rec)
		c, found := rec.State.FindQuestion(q.Question)
		if !found {
			return api.NewFault(utp.CodeNotFound, "no live question has that number")
		}
		raw, err := s.cards.Args(c)
		if err != nil {
			return err
		}
		a.Size = int64(len(raw))
		from := min(max(q.Offset, 0), a.Size)
		most := int64(api.ChunkLimit)
		if q.Limit > 0 {
			most = min(most, q.Limit)
		}
		a.Data = raw[from:min(from+most, a.Size)]
		remember = q.By != "" && !q.Peek && s.rec.LastPresented(q.Question).Shows != store.ShowsInText && s.admission.MayApprove(q.By, q.Credential)
		return nil
	})
	if err == nil && remember {
		err = k.read(ctx, q, min(max(q.Offset, 0), a.Size)+int64(len(a.Data)))
	}
	return a, err
}

// read records how far somebody has read the arguments of a question. A page that does not continue where they
// stopped does not count.
func (k *Kernel) read(ctx context.Context, q api.ArgumentsRequest, upTo int64) error {
	return k.attempt(ctx, store.TurnRef{Question: q.Question}, func(s *step) error {
		i := slices.IndexFunc(s.rec.Presented, func(p store.Presented) bool { return p.Question == q.Question })
		if i < 0 {
			return nil
		}
		s.rec.Presented = slices.Clone(s.rec.Presented)
		p := &s.rec.Presented[i]
		p.Read = slices.Clone(p.Read)
		at := slices.IndexFunc(p.Read, func(r store.Reading) bool { return r.IsBy(q.By, q.Credential, q.Surface) })
		if at < 0 {
			if len(p.Read) >= maxReadings {
				p.Read = slices.Delete(p.Read, 0, 1)
			}
			p.Read = append(p.Read, store.Reading{By: q.By, Credential: q.Credential, Surface: q.Surface})
			at = len(p.Read) - 1
		}
		if q.Offset <= p.Read[at].UpTo {
			p.Read[at].UpTo = max(p.Read[at].UpTo, upTo)
		}
		return nil
	})
}
