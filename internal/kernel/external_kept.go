package kernel

import (
	"bytes"
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// A foreign service keeps its result card and then reports it. One that dies in between has
// done its work all the same: the card that it has kept is the result, and is adopted when
// the service shows that it knows of no card, or when the call would end without one.

// offeredBefore judges a result card of a call that has one. The same card again is a success.
// Another one adopts the first, which ends the call, and is refused with done.
func (s *step) offeredBefore(c *turn.Call, card utp.Card) (refused, err error) {
	kept, err := store.ReadCard(s.tx, c.Offered)
	if err != nil {
		return nil, store.AsDamage(err)
	}
	if kept.ID == card.ID && bytes.Equal(kept.Content, card.Content) && bytes.Equal(kept.Metadata, card.Metadata) {
		return nil, nil
	}
	if err := s.adoptOffered(c); err != nil {
		return nil, err
	}
	return api.NewFault(utp.CodeDone, "the call has its result: the card "+c.Offered+" was kept first, and counts as if it had been reported"), nil
}

// adoptOffered reports the kept card in its service's place.
func (s *step) adoptOffered(c *turn.Call) error {
	_, err := s.report(c, utp.Report{ToolResultCardID: c.Offered})
	return err
}

// isConclusive reports whether the card that a call's service has kept tells what became of the call.
func (s *step) isConclusive(c turn.Call) bool {
	card, err := s.offered(&c, utp.Report{ToolResultCardID: c.Offered})
	if err != nil {
		return false
	}
	o := turn.Outcome{Status: card.Status}
	if card.Error != nil {
		o.Code, o.Untouched = card.Error.Code, card.Error.IsUntouched()
	}
	return c.Conclusive(o)
}

// adoptUnknown adopts the kept card of a call before a person's answer to what became of it, and reports whether
// that is known now. A card that does not say, or cannot be read, leaves it to the person.
func (s *step) adoptUnknown(call turn.Call) (known bool, err error) {
	if call.State != turn.Unknown {
		return false, nil
	}
	err = s.adoptIf(func(c turn.Call) bool { return c.ID == call.ID })
	now, _ := s.rec.State.Find(call.ID)
	return now.State != turn.Unknown, err
}

// adoptConclusive adopts the kept cards that tell what became of their calls, and reports whether one has ended the turn.
func (s *step) adoptConclusive() (ended bool, err error) {
	err = s.adoptIf(s.isConclusive)
	return s.rec.State.Status == turn.Ended && s.was.Status != turn.Ended, err
}

// stopTurn stops a turn. What a kept card says was done counts before that, and may end the turn. A card that does
// not say is adopted afterwards, when nobody is asked about its call any more.
func (s *step) stopTurn(stop turn.Stop) error {
	if ended, err := s.adoptConclusive(); ended || err != nil {
		return err
	}
	if err := s.dispatch(turn.StopTurn{Stop: stop}); err != nil {
		return err
	}
	return s.adoptIf(func(turn.Call) bool { return true })
}

// adoptExpired adopts the kept cards of calls that would end now, or be sent again, as if
// nothing had been heard of them. A card that cannot be read is left to that end.
func (s *step) adoptExpired() error {
	return s.adoptIf(func(c turn.Call) bool { return c.Expired(s.now) || s.unasked(c) })
}

func (s *step) adoptIf(now func(turn.Call) bool) error {
	for _, c := range s.rec.State.Calls {
		begun := c.State == turn.Started || c.State == turn.LeaseExpired || c.State == turn.Unknown
		if c.Offered == "" || !begun || !now(c) {
			continue
		}
		if err := s.adoptOffered(&c); err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
	}
	return nil
}

// unasked reports whether the question what became of the call ends now without an answer.
func (s *step) unasked(c turn.Call) bool {
	q := s.question(c.Question)
	if c.State != turn.Unknown || q == nil {
		return false
	}
	_, outcome := q.Expire(s.at(*q))
	return outcome.Changed
}
