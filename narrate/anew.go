package narrate

import (
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// stale says what no longer fits about a call. The reason travels where a note has its
// surface, and later in the outcome's message.
func (s *scene) stale(c turn.Call, reason string) Param {
	key := "stale." + reason
	if _, known := s.narrator.speaker.tongue.messages[key]; !known {
		key = "stale.other"
	}
	return say(key, Params{"said": yes(c.Consent != nil)})
}

// again says what follows a call that no longer fits: another question, another try
// without one, or nothing.
func (s *scene) again() Param {
	switch {
	case !s.t.Note.Again:
		return word("no")
	case s.t.Call.Decision == turn.Allow:
		return word("tried")
	}
	return word("yes")
}

// earlier says of a call that stands in for another what became of that, so that nobody
// takes the new question for the old one; none where it stands for itself.
func (s *scene) earlier() Param {
	c := s.t.Call
	if c.Replaces == "" {
		return Param{}
	}
	old, found := s.t.Turn.Find(c.Replaces)
	if !found || old.Outcome == nil {
		return say("earlier.other", nil)
	}
	switch {
	case old.Outcome.Code == utp.CodeConsentStale && old.State == turn.Over:
		if old.Outcome.Message == turn.StaleRestarted {
			return say("earlier.restarted", nil)
		}
		params := Params{"reason": s.stale(old, old.Outcome.Message)}
		if old.Consent != nil {
			params[paramQuestion] = count(int64(old.Question))
		}
		return say("earlier.stale", params)
	case old.Outcome.Code == utp.CodeOutcomeUnknown:
		params := Params{}
		if ago := s.t.At.Sub(old.StartedAt); !old.StartedAt.IsZero() && ago > 0 {
			params["ago"] = duration(ago)
		}
		return say("earlier.unknown", params)
	}
	return say("earlier.other", nil)
}
