package narrate

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// invoked reports that the command may now be sent. The session refuses this for an irreversible call without an accept
// of its own.
func (s *eventBuilder) invoked() error {
	c := s.t.Call
	params := s.about()
	if doing := s.doing(); !doing.none() && c.Permission == 0 { // what it does was just said with the permission
		params["doing"] = doing
	}
	if args := values(s.arguments(), maxSpokenValues); len(args.All) > 0 || args.Left > 0 {
		params["args"] = args
	}
	if about := s.t.Tool.Definition.Description; about != "" {
		params["about"] = describe(about, capField)
	}
	urgency := aaep.UrgencyNormal
	if !c.Class.Effectful() {
		urgency = aaep.UrgencyBackground
	}
	if !s.blocked() {
		l := line{key: "call.using", params: params, urgency: aaep.UrgencyBackground}
		if err := s.move(aaep.StateCallingTool, l); err != nil {
			return err
		}
	}
	ext := map[string]any{extClass: string(c.Class)}
	if n := s.number(); n > 0 {
		ext[extQuestion] = n
	}
	l := line{key: "call.invoked", params: params, urgency: urgency, earshot: ext}
	return s.add(l, aaep.TypeToolInvoked, func(x texts) ([]aaep.Event, error) {
		return one(s.session.ToolInvoked(s.t.At, s.t.Rand, aaep.ToolInvoked{
			Tool: toolName(c.Tool), ToolCallID: callID(c.ID), RiskLevel: risk(c.Risk), Irreversible: irreversible(c.Class),
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
			Description: x[fieldDescription], ArgsSummary: x[fieldArgs],
		}))
	})
}

// describe returns the static text of a definition, prose of the tool's author, as a sentence.
func describe(s string, limit int) Param {
	head, more := cut(strings.TrimSpace(valid(s)), limit)
	switch last, _ := utf8.DecodeLastRuneInString(head); {
	case more > 0:
		head += "…"
	case !unicode.Is(unicode.Sentence_Terminal, last):
		head += "."
	}
	return Param{Verbatim: escape(head)}
}

// completed reports the end of a call that was dispatched.
func (s *eventBuilder) completed() error {
	id := callID(s.t.Call.ID)
	o := s.outcome()
	s.remember(o)
	l := s.completion(o)
	if !running(s.session.State(), id) { // it was never reported as invoked
		return s.announce(l)
	}
	if err := s.atTools(id); err != nil {
		return err
	}
	status := aaep.ToolError
	switch o.Status {
	case utp.StatusSuccess, utp.StatusPartial:
		status = aaep.ToolSuccess
	case utp.StatusTimeout:
		status = aaep.ToolTimeout
	case utp.StatusFailed, utp.StatusCanceled:
	}
	return s.add(l, aaep.TypeToolCompleted, func(x texts) ([]aaep.Event, error) {
		message := x[fieldError]
		if status == aaep.ToolSuccess {
			message = ""
		} else if message == "" {
			message = x[fieldNormal]
		}
		return one(s.session.ToolCompleted(s.t.At, s.t.Rand, aaep.ToolCompleted{
			Tool: toolName(s.t.Call.Tool), ToolCallID: id, Status: status, DurationMS: millis(s.t.Duration),
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed], ErrorMessage: message,
		}))
	})
}

// completion returns the message for the end of a dispatched call.
func (s *eventBuilder) completion(o turn.Outcome) line {
	params := s.about()
	if result := s.result(o.Status); !result.none() {
		params["result"] = result
	}
	if o.Message != "" && o.Code != utp.CodeConsentStale {
		params["message"] = quoted(o.Message)
	}
	code := o.Code
	if s.t.Call.Fence == 0 && s.t.Call.Batch == nil {
		code = before(code)
	}
	if why, ok := s.why(code); ok {
		params["why"] = why
	}
	if s.t.Duration > 0 {
		params["took"] = duration(s.t.Duration)
	}
	if o.Untouched {
		params["effect"] = yes(false)
	}
	key := s.completionKey(o)
	switch {
	case o.Code == utp.CodeOutcomeUnknown:
		key = "call.completed.outcome_unknown"
		params[paramAction], _ = s.action(s.arguments())
		params["known"] = s.known()
	case o.Code == utp.CodeConsentStale && s.t.Note.Reason == turn.StaleUnawaited:
		key, params["agent"] = "call.completed.gone", s.agent()
	case o.Code == utp.CodeConsentStale:
		key = "call.completed.consent_stale"
		params["reason"], params["again"] = s.stale(s.t.Call, s.t.Note.Reason), s.again()
	case o.Code == utp.CodeConsentRetryExhausted:
		key, params = "call.completed.consent_retry_exhausted", s.about().with(s.exhausted())
	case s.t.Call.Fence == 0 && s.t.Call.Batch == nil:
		key = cmp.Or(neverBegun(o), key)
	}
	urgency := aaep.UrgencyNormal
	if !s.t.Call.Class.Effectful() && o.Status == utp.StatusSuccess {
		urgency = aaep.UrgencyBackground // as its invocation was
	}
	return line{
		key: key, params: params, urgency: urgency,
		utp: map[string]any{extStatus: string(o.Status), extCode: string(o.Code), extClass: string(s.t.Call.Class)},
	}
}

// neverBegun is the message for the end of a call that nothing was done for, or "" for the usual one.
func neverBegun(o turn.Outcome) string {
	switch {
	case o.Code == utp.CodeDeniedByPolicy:
		return "call.completed.denied_by_policy"
	case o.Code == utp.CodeStopped:
		return "call.completed.stopped"
	case o.Status == utp.StatusTimeout:
		return "call.completed.not_started"
	}
	return ""
}

// before returns the code by which a call that never began is explained: then it is the agent that may not, and not the tool's service that was
// refused where it works.
func before(code utp.Code) utp.Code {
	if code == utp.CodeAuthFailed {
		return "not_allowed"
	}
	return code
}

// why explains a code, if there is one.
func (s *eventBuilder) why(code utp.Code) (Param, bool) {
	if code == "" {
		return Param{}, false
	}
	key := "why." + string(code)
	if _, known := s.narrator.speaker.localizer.messages[key]; known {
		return phraseParam(key, nil), true
	}
	return phraseParam("why.other", Params{"code": identifier(string(code))}), true
}

// remember records the effect of a call, for the turn's last sentence.
func (s *eventBuilder) remember(o turn.Outcome) {
	c := s.t.Call
	begun := c.Fence > 0 || hasBegun(c.Batch) // what its turns do is told in their sessions
	if !c.Class.Effectful() && c.Batch == nil {
		return
	}
	params := Params{"tool": identifier(c.Tool)}
	result := s.result(o.Status)
	if !result.none() {
		params["result"] = result
	}
	d := effect{Call: c.ID, Kind: effectDone}
	switch {
	case o.Code == utp.CodeOutcomeUnknown:
		d.Kind = effectUnknown
		d.What, _ = s.action(s.arguments())
	case !begun || o.Code == utp.CodeConsentStale || o.Status == utp.StatusFailed && o.Untouched:
		s.memory.forget(c.ID) // it never started, or failed before it changed anything
		return
	case o.Status == utp.StatusSuccess && !result.none():
		d.What = result
	case o.Status == utp.StatusSuccess:
		d.What = phraseParam("account.tool", params)
	case o.Status == utp.StatusPartial:
		d.What = phraseParam("account.partial", params)
	case o.Status == utp.StatusCanceled:
		d.Kind, d.What = effectDoubt, phraseParam("account.canceled", params)
	default:
		d.Kind, d.What = effectDoubt, phraseParam("account.failed", params)
	}
	s.memory.note(d)
}

// undelivered reports that a message to the call's service could not be sent.
func (s *eventBuilder) undelivered() error {
	return s.announce(line{key: "call.undelivered", params: s.about(), earshot: s.aboutCall()})
}

// unserved reports that no service of the call's tool is running.
func (s *eventBuilder) unserved() error {
	c := s.t.Call
	params := s.about()
	until, again := c.StartBy.Wall, c.Decision == turn.Ask
	if end := c.EndBy.Wall; !end.IsZero() && end.Before(until) { // its own deadline is earlier
		until, again = end, false
	}
	if left := until.Sub(s.t.At); left > 0 {
		params["left"] = duration(left)
	}
	params["again"] = yes(again)
	return s.announce(line{key: "call.unserved", params: params, earshot: s.aboutCall()})
}

// late reports a result that came after the person had acknowledged that the call's outcome was unknown.
func (s *eventBuilder) late() error {
	status := utp.Status(s.t.Note.Detail)
	if !status.Valid() {
		status = utp.StatusFailed
	}
	s.remember(turn.Outcome{Status: status})
	params := s.about()
	inner := Params{}
	if result := s.result(status); !result.none() {
		inner["result"] = result
	}
	params["outcome"] = phraseParam("late."+string(status), inner)
	return s.announce(line{
		key: "call.late", params: params, urgency: aaep.UrgencyCritical, earshot: merge(s.aboutCall(), map[string]any{extReason: "late_result"}),
		utp: map[string]any{extStatus: string(status), extClass: string(s.t.Call.Class)},
	})
}

// completionKey returns the key of the sentence about an outcome that needs no words of its own.
func (s *eventBuilder) completionKey(o turn.Outcome) string {
	if o.Code == utp.CodeUnknownTool && s.t.Note.Reason == turn.ReasonToolMissing {
		return "call.completed.tool_gone"
	}
	return "call.completed." + string(o.Status)
}
