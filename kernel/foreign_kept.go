package kernel

import (
	"bytes"
	"errors"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// A foreign service keeps its result card and then reports it. One that dies in between has
// done its work all the same: the card that it has kept is the result, and is adopted when
// the service shows that it knows of no card, or when the call would end without one.

// offeredBefore judges a result card of a call that has one. The same card again is a success.
// Another one adopts the first, which ends the call, and is refused with done.
func (s *step) offeredBefore(c *turn.Call, card utp.Card) (refused, err error) {
	kept, err := cardOf(s.tx, c.Offered)
	if err != nil {
		return nil, damage(err)
	}
	if kept.ID == card.ID && bytes.Equal(kept.Content, card.Content) && bytes.Equal(kept.Metadata, card.Metadata) {
		return nil, nil
	}
	if err := s.adoptOffered(c); err != nil {
		return nil, err
	}
	return fault(utp.CodeDone, "the call has its result: the card "+c.Offered+" was kept first, and counts as if it had been reported"), nil
}

// adoptOffered reports the kept card in its service's place.
func (s *step) adoptOffered(c *turn.Call) error {
	_, err := s.report(c, utp.Report{ToolResultCardID: c.Offered})
	return err
}

// adoptAll adopts the kept cards of all calls, before a person's word ends them as if nothing had been
// heard of them.
func (s *step) adoptAll() error { return s.adoptIf(func(turn.Call) bool { return true }) }

// adoptExpired adopts the kept cards of calls that would end now, or be sent again, as if
// nothing had been heard of them. A card that cannot be read is left to that end.
func (s *step) adoptExpired() error {
	return s.adoptIf(func(c turn.Call) bool { return c.Expired(s.now) || s.unasked(c) })
}

func (s *step) adoptIf(now func(turn.Call) bool) error {
	for _, c := range s.rec.State.Calls {
		if c.Offered == "" || !c.State.Open() || !now(c) {
			continue
		}
		if err := s.adoptOffered(&c); err != nil && !errors.Is(err, ErrDamaged) {
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
