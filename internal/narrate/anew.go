package narrate

import (
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// stale says what no longer fits about a call. The reason travels where a note has its
// surface, and later in the outcome's message.
func (s *eventBuilder) stale(c turn.Call, reason string) Param {
	key := "stale." + reason
	if _, known := s.narrator.speaker.localizer.messages[key]; !known {
		key = "stale.other"
	}
	return phraseParam(key, Params{"said": yes(c.Consent != nil)})
}

// again says what follows a call that no longer fits: another question, another try
// without one, or nothing.
func (s *eventBuilder) again() Param {
	switch {
	case !s.t.Note.Again:
		return keyword("no")
	case s.t.Call.Decision == turn.Allow:
		return keyword("tried")
	}
	return keyword("yes")
}

// earlier says of a call that stands in for another what became of that, so that nobody
// takes the new question for the old one; none where it stands for itself.
func (s *eventBuilder) earlier() Param {
	c := s.t.Call
	if c.Replaces == "" {
		return Param{}
	}
	if before := s.t.Turn.Stale(c); len(before) > 1 {
		return s.repeated(before)
	}
	old, found := s.t.Turn.Find(c.Replaces)
	if !found || old.Outcome == nil {
		return phraseParam("earlier.other", nil)
	}
	switch {
	case old.Outcome.Code == utp.CodeConsentStale && old.State == turn.Closed:
		if old.Outcome.Message == turn.StaleRestarted {
			return phraseParam("earlier.restarted", Params{"reason": withChanges(s.stale(old, old.Outcome.Message), old, c)})
		}
		params := Params{"reason": s.stale(old, old.Outcome.Message)}
		if old.Consent != nil {
			params[paramQuestion] = count(int64(old.Question))
		}
		return phraseParam("earlier.stale", params)
	case old.Outcome.Code == utp.CodeOutcomeUnknown:
		params := Params{}
		if ago := s.t.At.Sub(old.StartedAt); !old.StartedAt.IsZero() && ago > 0 {
			params["ago"] = duration(ago)
		}
		return phraseParam("earlier.unknown", params)
	}
	return phraseParam("earlier.other", nil)
}

// withChanges adds to a restart what has changed between a call and the one that stands in for it.
func withChanges(reason Param, old, next turn.Call) Param {
	if old.Outcome.Message == turn.StaleRestarted {
		reason.Params = reason.Params.with(Params{"changed": keyword(changed(old, next))})
	}
	return reason
}

// changed names what a call has become otherwise than the one that it stands in for.
func changed(old, c turn.Call) string {
	switch {
	case old.Definition != c.Definition:
		return "tool"
	case old.Arguments != c.Arguments:
		return "work"
	case old.Class != c.Class, old.Risk != c.Risk:
		return "review"
	}
	return "no"
}

// repeated says of a question that is asked for the third time, or later, why each of the yeses
// before did not count, and what can be done about it.
func (s *eventBuilder) repeated(before []turn.Call) Param {
	each := make([]Param, 0, len(before))
	keys := map[string]bool{}
	counted := 0
	var last Param
	for i, old := range before {
		next := s.t.Call
		if i+1 < len(before) {
			next = before[i+1]
		}
		reason := withChanges(s.whyStale(old, old.Outcome.Message), old, next)
		keys[reason.Key+reason.Params["changed"].Keyword], last = true, reason
		if old.Outcome.Message != turn.StaleRestarted {
			counted++
		}
		params := Params{"reason": reason}
		if old.Consent != nil {
			params[paramQuestion] = count(int64(old.Question))
		}
		each = append(each, phraseParam("earlier.time", params))
	}
	params := Params{
		"times": count(int64(len(before) + 1)), "reasons": {All: each}, "tool": identifier(s.t.Call.Tool),
		"late": yes(last.Key == "stale.not_started" || last.Key == "stale.begun_late"),
		"last": yes(counted == turn.MaxStale-1),
	}
	if len(keys) == 1 {
		params["same"] = last
	}
	return phraseParam("earlier.repeated", params)
}

// whyStale is stale, and says of a yes that was too old who let the time pass.
func (s *eventBuilder) whyStale(c turn.Call, reason string) Param {
	switch {
	case reason != turn.StaleAge || c.EndBy.IsZero(): // it was not sent
		return s.stale(c, reason)
	case c.Fence > 0:
		return phraseParam("stale.begun_late", nil)
	}
	return phraseParam("stale.not_started", nil)
}

// exhausted says why the last of many yeses did not count, of a call that is not asked for again.
func (s *eventBuilder) exhausted() Params {
	return Params{"reason": s.whyStale(s.t.Call, s.t.Note.Surface), "times": count(turn.MaxStale)}
}
