package narrate

import (
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// stale says why a call is stale. The reason is in the surface of a note, and later in the outcome's message.
func (s *eventBuilder) stale(c turn.Call, reason string) Param {
	key := "stale." + reason
	if _, known := s.narrator.speaker.localizer.messages[key]; !known {
		key = "stale.other"
	}
	return phraseParam(key, Params{"said": yes(c.Consent != nil)})
}

// again says what follows a stale call: another question, another try without one, or nothing.
func (s *eventBuilder) again() Param {
	switch {
	case !s.t.Note.Again:
		return keyword("no")
	case s.t.Call.Decision == turn.Allow && s.t.Call.Permission == 0:
		return keyword("tried")
	}
	return keyword("yes")
}

// earlier says what became of the call that this one replaces, so that nobody mistakes the new question for the old
// one; none if it replaces none.
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

// withChanges adds to a restart what has changed between a call and its replacement.
func withChanges(reason Param, old, next turn.Call) Param {
	if old.Outcome.Message == turn.StaleRestarted {
		reason.Params = reason.Params.with(Params{"changed": keyword(changed(old, next))})
	}
	return reason
}

// changed names the differences between a call and its replacement.
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

// repeated says, for a question that is asked for at least the third time, why each earlier accept did not count, and
// what can be done about it.
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

// whyStale is stale, and for an expired accept it also says who let the time pass.
func (s *eventBuilder) whyStale(c turn.Call, reason string) Param {
	switch {
	case reason != turn.StaleAge || c.EndBy.IsZero(): // it was not sent
		return s.stale(c, reason)
	case c.Fence > 0:
		return phraseParam("stale.begun_late", nil)
	}
	return phraseParam("stale.not_started", nil)
}

// exhausted says why the last of many accepts did not count, for a call that is not asked again.
func (s *eventBuilder) exhausted() Params {
	return Params{"reason": s.whyStale(s.t.Call, s.t.Note.Reason), "times": count(turn.MaxStale)}
}
