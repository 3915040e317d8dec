package narrate

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// ended closes what is open, streams the agent's answer, and reports the end.
func (s *eventBuilder) ended() error {
	end := turn.End{Status: utp.StatusFailed, Code: utp.Code(s.t.Note.Detail)}
	if s.t.Turn.End != nil {
		end = *s.t.Turn.End
	}
	if err := s.abandon(); err != nil {
		return err
	}
	if err := s.closeDead("stopped"); err != nil {
		return err
	}
	if err := s.revokeDead(); err != nil {
		return err
	}
	if err := s.output(); err != nil {
		return err
	}
	if err := s.handOff(); err != nil {
		return err
	}
	switch {
	case end.Code == utp.CodeConsentDeclined && s.t.Turn.Tally.Failed == 0:
		return s.finished(end)
	case end.Status == utp.StatusSuccess || end.Status == utp.StatusPartial:
		return s.finished(end)
	case end.Status == utp.StatusCanceled:
		return s.cancelled(end)
	default:
		return s.errored(end)
	}
}

// abandon closes tool calls that still run when the turn ends: calls of an external agent for which the turn does not
// wait.
func (s *eventBuilder) abandon() error {
	for _, open := range s.session.State().Calls {
		if err := s.atTools(open.ID); err != nil {
			return err
		}
		l := line{
			key: "call.completed.abandoned", params: Params{"tool": identifier(open.Tool)},
			utp: map[string]any{extStatus: string(utp.StatusFailed), extCode: string(utp.CodeOutcomeUnknown)},
		}
		for _, c := range s.t.Turn.Calls {
			if callID(c.ID) == open.ID && c.Class.Effectful() {
				s.memory.note(effect{Call: c.ID, Kind: effectUnknown, What: phraseParam("action.generic", l.params)})
			}
		}
		err := s.add(l, aaep.TypeToolCompleted, func(x texts) ([]aaep.Event, error) {
			return one(s.session.ToolCompleted(s.t.At, s.t.Rand, aaep.ToolCompleted{
				Tool: open.Tool, ToolCallID: open.ID, Status: aaep.ToolError,
				SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed], ErrorMessage: cmp.Or(x[fieldError], x[fieldNormal]),
			}))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// account lists the effects of the turn, sentence by sentence: what was done, what may have been done, and that nothing
// was done if that is certain. before is for a turn that was cut short.
func (s *eventBuilder) account(before bool) Param {
	out := Param{}
	key := "account.done"
	if before {
		key = "account.before"
	}
	if done := s.memory.deeds(effectDone); len(done) > 0 || s.memory.Left > 0 {
		out.All = append(out.All, phraseParam(key, Params{"deeds": {All: done, Left: s.memory.Left}}))
	}
	out.All = append(out.All, s.doubt().All...)
	switch {
	case len(out.All) > 0:
	case s.t.Turn.Outside && s.t.Turn.Tally.Effects == 0 && s.t.Turn.Tally.Unknown == 0:
		out.All = append(out.All, phraseParam("account.nothing_here", nil))
	case s.t.Turn.Tally.Effects == 0 && s.t.Turn.Tally.Unknown == 0:
		out.All = append(out.All, phraseParam("account.nothing", nil))
	default:
		out.All = append(out.All, phraseParam("account.something", nil))
	}
	return out
}

// doubt returns the effects that may have happened.
func (s *eventBuilder) doubt() Param {
	out := Param{All: s.memory.deeds(effectDoubt)}
	if unknown := s.memory.deeds(effectUnknown); len(unknown) > 0 {
		out.All = append(out.All, phraseParam("account.unknown", Params{"deeds": {All: unknown}}))
	}
	return out
}

// rest counts what was not done, as far as nothing else has reported it.
func (s *eventBuilder) rest(declined bool) Param {
	refused := s.memory.Refused
	counts := []struct {
		key string
		n   int
	}{
		{"rest.declined", refused[utp.CodeConsentDeclined]},
		{"rest.expired", refused[utp.CodeConsentExpired]},
		{"rest.withdrawn", refused[utp.CodeConsentWithdrawn]},
		{"rest.denied", refused[utp.CodeDeniedByPolicy]},
		{"rest.failed", s.t.Turn.Tally.Failed},
	}
	out := Param{}
	for _, c := range counts {
		if c.n <= 0 || c.key == "rest.declined" && declined {
			continue
		}
		out.All = append(out.All, phraseParam(c.key, Params{"n": count(int64(c.n))}))
	}
	return out
}

// ending returns the parameters of the last message.
func (s *eventBuilder) ending(declined, before bool) Params {
	p := Params{
		"account": s.account(before), "doubt": s.doubt(), "declined": count(int64(s.t.Turn.Tally.Declined)),
		"effects": yes(len(s.memory.Deeds) > 0), "by": who(s.by()), "surface": who(s.surface()),
	}
	if s.t.Summary != "" {
		p["summary"] = quoted(s.t.Summary)
		p["words"] = Param{Text: p["summary"].Quote, More: p["summary"].More}
		if !strings.HasPrefix(s.t.Output, s.t.Summary) { // otherwise the output has just contained it
			p["said"] = p["summary"]
		}
	}
	if rest := s.rest(declined); len(rest.All) > 0 {
		p["rest"] = rest
	}
	return p
}

func endUTP(end turn.End) map[string]any {
	return map[string]any{extStatus: string(end.Status), extCode: string(end.Code)}
}

// finished ends a turn that did what it could; a declined call is part of that.
func (s *eventBuilder) finished(end turn.End) error {
	key := "turn.completed"
	declined := s.t.Turn.Tally.Declined > 0 && s.t.Turn.Tally.Failed == 0
	switch {
	case s.t.Handoff != nil:
		key = "turn.handed_over"
	case end.Code == utp.CodeTimeoutReapedByWatchdog && end.Message == turn.EndMissing:
		key = "turn.gone"
	case end.Code == utp.CodeTimeoutReapedByWatchdog:
		key = "turn.quiet"
	case declined:
		key = "turn.declined"
	case end.Status == utp.StatusPartial:
		key = "turn.partial"
	}
	l := line{key: key, params: s.ending(declined, false), utp: endUTP(end)}
	l.params["agent"] = s.agent()
	if key == "turn.quiet" && !s.t.Turn.IdleFrom.IsZero() {
		l.params["quiet"] = duration(s.quiet())
	}
	if tally := s.t.Turn.Tally; tally.AllFailed() && key != "turn.handed_over" {
		l.key, l.earshot = "turn.all_failed", map[string]any{extAllFailed: true}
		l.params["failed"] = count(int64(tally.Failed))
	}
	return s.add(l, aaep.TypeSessionCompleted, func(x texts) ([]aaep.Event, error) {
		return s.session.Complete(s.t.At, s.t.Rand, aaep.SessionCompleted{
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed], OutputSummary: x[fieldOutput],
		}, session.Closing{})
	})
}

// quiet returns for how long nothing was heard from the program of an outside turn, in minutes if it was one or more. The wall
// clock may have been set meanwhile: it was no less than the turn waits for.
func (s *eventBuilder) quiet() time.Duration {
	d := max(s.t.At.Sub(s.t.Turn.IdleFrom.Wall), s.t.Turn.MaxIdle)
	if d < time.Minute {
		return d.Truncate(time.Second)
	}
	return d.Truncate(time.Minute)
}

// errored ends a turn that failed.
func (s *eventBuilder) errored(end turn.End) error {
	category := categoryOf(end)
	params := s.ending(false, true)
	params["hint"] = phraseParam("hint."+string(category), nil)
	if category == aaep.ErrorUnknown && len(s.memory.Deeds) == 0 {
		params["hint"] = phraseParam("hint.unchanged", nil)
	}
	code := end.Code
	if code == "" && end.Status == utp.StatusTimeout {
		code = "timeout"
	}
	why, named := s.why(code)
	if !named {
		why = phraseParam("why.unnamed", nil)
	}
	params["why"] = why
	if end.Message != "" && end.Message != s.t.Summary { // the same sentence twice is heard twice
		params["message"] = quoted(end.Message)
	}
	l := line{key: "turn.errored", params: params, utp: endUTP(end)}
	return s.add(l, aaep.TypeSessionErrored, func(x texts) ([]aaep.Event, error) {
		return s.session.Fail(s.t.At, s.t.Rand, aaep.SessionErrored{
			ErrorCategory: category, ErrorCode: errorCode(code), Recoverable: recoverable(category),
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed], RemediationHint: x[fieldHint],
		}, session.Closing{})
	})
}

// categoryOf implements DESIGN's table of failures.
func categoryOf(end turn.End) aaep.ErrorCategory {
	if end.Status == utp.StatusTimeout {
		return aaep.ErrorTransient
	}
	switch end.Code {
	case utp.CodeToolTimeout, utp.CodeUpstreamUnavailable:
		return aaep.ErrorTransient
	case utp.CodeAuthFailed:
		return aaep.ErrorRequiresUser
	case utp.CodeBadRequest:
		return aaep.ErrorPermanent
	default:
		return aaep.ErrorUnknown
	}
}

// recoverable returns whether a retry makes sense for a category; nil for unknown.
func recoverable(c aaep.ErrorCategory) *bool {
	var can bool
	switch c {
	case aaep.ErrorTransient, aaep.ErrorRequiresUser:
		can = true
	case aaep.ErrorPermanent:
	case aaep.ErrorUnknown:
		return nil
	}
	return &can
}

var (
	notInCode = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[^A-Z0-9_]+`)
	})
	notInReason = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[^a-z0-9_]+`)
	})
)

const maxCode = 64

// errorCode returns a code in the form that events require; "" if nothing of it is left.
func errorCode(code utp.Code) string {
	out := strings.Trim(notInCode().ReplaceAllString(strings.ToUpper(string(code)), "_"), "_0123456789")
	if len(out) < 2 {
		return "UNKNOWN_ERROR"
	}
	return out[:min(len(out), maxCode)]
}

// cancelled ends a turn that was stopped, and reports exactly what had happened by then.
func (s *eventBuilder) cancelled(end turn.End) error {
	stop := s.t.Turn.Stop
	params := s.ending(false, true)
	key, by, reason := "turn.cancelled", aaep.CancelledByUser, ""
	switch {
	case stop != nil && stop.System:
		by, reason = aaep.CancelledBySystem, stop.Reason
		params["by"], params["surface"] = Param{}, Param{}
	case stop != nil:
		reason = stop.Reason
		params["by"], params["surface"] = who(stop.By), who(stop.Surface)
	case end.Code == utp.CodeConsentExpired:
		key, by = "turn.cancelled_timeout", aaep.CancelledByTimeout
	default:
		key, by = "turn.cancelled_agent", aaep.CancelledByProducer
	}
	params["undone"] = yes(reason == turn.ReasonUndone)
	if s.session.State().Current == aaep.StateIdle && stop != nil {
		key = "turn.cancelled_queued"
	}
	l := line{key: key, params: params, utp: endUTP(end)}
	return s.add(l, aaep.TypeSessionCancelled, func(x texts) ([]aaep.Event, error) {
		return s.session.Cancel(s.t.At, s.t.Rand, aaep.SessionCancelled{
			CancelledBy: by, CancellationReason: cancelReason(reason, end.Code),
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed], PartialResult: x[fieldPartial],
		}, session.Closing{})
	})
}

// cancelReason returns a keyword for the reason, from the given reason or the code.
func cancelReason(reason string, code utp.Code) string {
	for _, s := range []string{reason, string(code)} {
		out := strings.Trim(notInReason().ReplaceAllString(strings.ToLower(s), "_"), "_0123456789")
		if len(out) >= 2 && len(out) <= maxCode {
			return out
		}
	}
	return string(utp.CodeStopped)
}
