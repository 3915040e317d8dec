package kernel

import (
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// A third-party service saves its result card and then reports it. If it dies in between, it has done
// its work all the same: the saved card is the result. The kernel adopts it when the service shows that
// it does not know of the card, or when the call would end without one.

// offeredBefore handles another result card for a call that has one. The same card again is a success. A
// different card is refused with done, and the first one is adopted, which ends the call.
func (s *step) offeredBefore(c *turn.Call, card utp.Card) (refused, err error) {
	if again, err := external.OfferedAgain(s.tx, *c, card); err != nil || again {
		return nil, err
	}
	if err := s.adoptOffered(c); err != nil {
		return nil, err
	}
	return api.NewFault(utp.CodeDone, "the call has its result: the card "+c.Offered+" was kept first, and counts as if it had been reported"), nil
}

// adoptOffered reports the saved card on the service's behalf.
func (s *step) adoptOffered(c *turn.Call) error {
	_, err := s.report(c, utp.Report{ToolResultCardID: c.Offered})
	return err
}

// adoptUnknown adopts the saved card of a call before a person answers the question about its outcome, and reports
// whether the outcome is known now. A card that does not say, or cannot be read, leaves the question to the person.
func (s *step) adoptUnknown(call turn.Call) (known bool, err error) {
	if call.State != turn.Unknown {
		return false, nil
	}
	err = s.adoptIf(func(c turn.Call) bool { return c.ID == call.ID })
	now, _ := s.rec.State.Find(call.ID)
	return now.State != turn.Unknown, err
}

// adoptConclusive adopts the saved cards that say what became of their calls, and reports whether one has ended the turn.
func (s *step) adoptConclusive() (ended bool, err error) {
	err = s.adoptIf(func(c turn.Call) bool { return external.Conclusive(s.tx, c) })
	return s.rec.State.Status == turn.Ended && s.was.Status != turn.Ended, err
}

// stopTurn stops a turn. Conclusive saved cards are adopted before that, and may end the turn. The others are
// adopted afterwards, when nobody is asked about their calls any more.
func (s *step) stopTurn(stop turn.Stop) error {
	if ended, err := s.adoptConclusive(); ended || err != nil {
		return err
	}
	if err := s.dispatch(turn.StopTurn{Stop: stop}); err != nil {
		return err
	}
	return s.adoptIf(func(turn.Call) bool { return true })
}

// adoptExpired adopts the saved cards of calls that would otherwise time out or be sent again now. A call
// whose card cannot be read takes that course.
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

// unasked reports whether the question about the call's outcome ends now without an answer.
func (s *step) unasked(c turn.Call) bool {
	q := s.rec.Question(c.Question)
	if c.State != turn.Unknown || q == nil {
		return false
	}
	_, outcome := q.Expire(s.at(*q))
	return outcome.Changed
}
