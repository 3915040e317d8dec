package narrate

import (
	"math"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// asked asks for consent.
func (s *eventBuilder) asked() error {
	if s.t.Call.Kind == turn.QuestionCall {
		return s.personAsked()
	}
	if err := s.wait(s.t.Question.Number, aaep.UrgencyBackground); err != nil {
		return err
	}
	return s.confirm()
}

// confirm builds the question itself. The question comes from the registry's wording and the arguments; the agent's own
// words are quoted, and only in the detailed summary.
func (s *eventBuilder) confirm() error {
	c := s.t.Call
	args := s.arguments()
	action, facts := s.action(args)
	consequence, own := s.consequence(facts)
	details := s.details()
	params := s.about().with(s.asker()).with(Params{
		paramQuestion: count(int64(s.t.Question.Number)),
		paramAction:   action, "consequence": consequence,
		"again": yes(s.t.Question.Again), "earlier": s.earlier(), "details": details, "values": s.values(args, action), "unread": s.unread(args, true),
		"limit": s.limit(false), "passkey": yes(s.t.Question.Passkey),
	})
	l := line{key: "question.asked", params: params, earshot: s.consentFacts(facts)}
	if told, err := s.narrator.speaker.renderParam(details); err == nil {
		l.earshot[extDetail] = s.narrator.speaker.fit(tidy(told), capField)
	}
	if !own {
		l.earshot[extByClass] = true
	}
	err := s.add(l, aaep.TypeAwaitingConfirmation, func(x texts) ([]aaep.Event, error) {
		lists := s.lists(args, action, x)
		l.earshot[extArguments] = lists
		s.shows, s.covered = lists.shows(), lists.covered()
		asks := aaep.AwaitingConfirmation{
			Action: x[fieldAction], Consequence: x[fieldConsequence],
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
			ReplyToken: s.t.Question.Token, TimeoutSeconds: s.seconds(),
			DefaultDecision: aaep.DecisionReject, RiskLevel: risk(c.Risk),
			Irreversible: irreversible(c.Class), Reversibility: reversibility(c.Class),
			AllowedReplies: []aaep.Decision{aaep.DecisionAccept, aaep.DecisionReject},
		}
		if !s.isPermission() { // a permission has no invocation here
			asks = asks.About(toolName(c.Tool), callID(c.ID))
		}
		return one(s.session.Confirm(s.t.At, s.t.Rand, asks))
	})
	s.memory.Open = append(s.memory.Open, openQuestion{
		Number: s.t.Question.Number, Call: c.ID, Token: s.t.Question.Token, Action: action,
	})
	return err
}

// details returns what is important besides the action: consequence, arguments and request. The detailed summary
// contains all of it, for a person who hears nothing else of the question. A surface that shows the parts separately
// uses only these details, so that nothing is repeated.
func (s *eventBuilder) details() Param {
	c := s.t.Call
	params := s.about()
	if s.namesNoTool() {
		delete(params, "tool")
	}
	if s.t.Comment != "" {
		params["says"] = quotedTo(s.t.Comment, maxComment)
	}
	if irreversible(c.Class) && !s.isPermission() {
		params["undo"] = duration(c.Limits.UndoTime())
	}
	if e := s.enforcement(); e != utp.Enforced {
		params["held"] = keyword(string(e))
	}
	if s.t.Unserved {
		params["unserved"] = yes(true)
	}
	return phraseParam("question.details", params)
}

// values returns the arguments at length, except those that the action states.
func (s *eventBuilder) values(args outline.Outline, action Param) Param {
	params := Params{}
	if action.Params["args"].none() {
		params["args"] = rest(args, 0)
	} else {
		params["rest"] = rest(args, maxSpokenValues)
	}
	if unread := s.unread(args, false); !unread.none() {
		params["unread"] = unread
	}
	return phraseParam("question.values", params)
}

// seconds returns the time to answer that the event may promise: never more than what is left until the deadline. It
// counts from the event's own time, which is later than now if the clock was set back.
func (s *eventBuilder) seconds() int64 {
	stamp := s.t.At.UTC().Truncate(time.Millisecond)
	if last := s.session.State().Last; stamp.Before(last) {
		stamp = last
	}
	left := s.t.Question.Timeout
	if !s.t.Question.Deadline.IsZero() {
		left = min(left, s.t.Question.Deadline.Sub(stamp))
	}
	return int64(min(max(left, time.Second), day) / time.Second)
}

// consentFacts returns the numbers of a question, for surfaces that show more than text.
func (s *eventBuilder) consentFacts(facts Params) map[string]any {
	c := s.t.Call
	out := merge(s.aboutCall(), s.timeFacts(), s.askerFacts(), map[string]any{extQuestion: s.t.Question.Number, extClass: string(c.Class)})
	for name, unit := range map[string]string{extItems: "", extBytes: unitBytes} {
		if n, ok := facts[name].number(); ok && (unit == "" || facts[name].Bytes != nil) {
			out[name] = n
		}
	}
	if s.t.Comment != "" {
		out[extAgentLanguage] = c.Lang
	}
	if hint := s.wording().Consent.Hint; hint != "" {
		out[extHint], _ = cut(legible.Line(hint), capValue)
	}
	if irreversible(c.Class) && !s.isPermission() {
		out[extUndo] = math.Ceil(c.Limits.UndoTime().Seconds())
	}
	if c.Replaces != "" {
		out[extReplaces] = callID(c.Replaces)
		if told, err := s.narrator.speaker.renderParam(s.earlier()); err == nil {
			out[extEarlier] = told
		}
	}
	if !s.t.Tool.Reviewed && !s.isPermission() {
		out[extNew] = true
	}
	if e := s.enforcement(); e != utp.Enforced {
		out[extEnforcement] = string(e)
	}
	if s.isPermission() {
		out[extOwnTool] = true
	}
	if s.t.Question.Passkey {
		out[extPasskey] = true
	}
	return out
}

// enforcement returns how the service that carries out the call enforces the answer.
func (s *eventBuilder) enforcement() utp.Enforcement {
	if s.isPermission() {
		return utp.Advisory
	}
	return s.t.Tool.Enforcement()
}

func reversibility(c utp.Class) aaep.Reversibility {
	if irreversible(c) {
		return aaep.Irreversible
	}
	return aaep.Reversible
}

// askAgain withdraws the question and asks it again with a new token: with more time, because it is shown for the first
// time, or because nobody was there to see it.
func (s *eventBuilder) askAgain() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return &session.Error{Code: session.CodeNoQuestion, Message: "no question about this call is open; nothing can be asked again"}
	}
	l := line{
		key: "question.extended", params: s.about(),
		earshot: map[string]any{extQuestion: q.Number, extCall: callID(s.t.Call.ID), extBy: s.by(), extSurface: s.surface()},
	}
	switch s.t.Note.Kind {
	case turn.NoteShown:
		l.key, l.earshot[extReason] = "question.shown", reasonShown
	case turn.NoteUnshown:
		l.key, l.earshot[extReason] = "question.unshown", reasonUnshown
	default:
	}
	if err := s.resolve(q.Token, aaep.ResolutionExtended, l); err != nil {
		return err
	}
	if q.Outcome || s.t.Call.Kind == turn.ToolCall && s.t.Call.State == turn.Unknown {
		return s.outcomeAsked()
	}
	return s.asked()
}

// Why a question is asked again, other than for more time.
const (
	reasonShown   = "shown"
	reasonUnshown = "unshown"
)

// limit says how long there is to answer, and what silence means: if left is set, nothing changes, otherwise the action
// is not carried out.
func (s *eventBuilder) limit(left bool) Param {
	key := "limit.set"
	switch {
	case s.t.Question.Waiting:
		key = "limit.waiting"
	case s.t.Question.Length >= day:
		key = "limit.unlimited"
	}
	return phraseParam(key, Params{
		"time": duration(time.Duration(s.seconds()) * time.Second), "length": duration(s.t.Question.Length), "left": yes(left),
	})
}

// timeFacts returns what surfaces need to know of the time to answer.
func (s *eventBuilder) timeFacts() map[string]any {
	facts := map[string]any{extDeadline: aaep.FormatTime(s.t.Question.Deadline)}
	switch {
	case s.t.Question.Waiting:
		facts[extWaiting] = true
	case s.t.Question.Length >= day:
		facts[extUnlimited] = true
	}
	return facts
}

// accepted reports an accept.
func (s *eventBuilder) accepted() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return &session.Error{Code: session.CodeNoQuestion, Message: "no question about this call is open; nothing can be accepted"}
	}
	params := s.about().with(Params{"by": who(s.by()), "surface": who(s.surface())})
	undo := s.t.StartsAt.Sub(s.t.At)
	if undo > 0 {
		params["undo"] = duration(undo)
	}
	ext := map[string]any{extQuestion: q.Number, extCall: callID(s.t.Call.ID), extBy: s.by(), extSurface: s.surface()}
	if undo > 0 {
		ext[extUndo] = math.Ceil(undo.Seconds())
	}
	if starts := s.t.StartsAt; !starts.IsZero() {
		ext[extStartsAt] = aaep.FormatTime(starts)
	}
	if err := s.resolve(q.Token, aaep.ResolutionAccepted, line{key: "call.accepted", params: params, earshot: ext}); err != nil {
		return err
	}
	return s.back()
}

// refused reports that a call ended before it was dispatched. There are no tool events for it (C-41).
func (s *eventBuilder) refused() error {
	code := utp.Code(s.t.Note.Detail)
	if s.t.Call.Kind == turn.QuestionCall {
		return s.unasked(code)
	}
	l := s.refusal(code)
	if !s.isPermission() { // what the agent does regardless is not known here
		s.memory.refuse(code)
	}
	if q, open := s.memory.question(s.t.Call.ID); open {
		l.params[paramQuestion] = count(int64(q.Number))
		l.earshot[extQuestion] = q.Number
		if err := s.resolve(q.Token, resolution(code), l); err != nil {
			return err
		}
		return s.back()
	}
	if token := granted(s.session.State(), callID(s.t.Call.ID)); token != "" {
		l.earshot[extQuestion] = s.number()
		if err := s.resolve(token, resolution(code), l); err != nil {
			return err
		}
		return s.back()
	}
	return s.announce(l)
}

// refusal returns the message for a call that ended before its dispatch.
func (s *eventBuilder) refusal(code utp.Code) line {
	params := s.about().with(Params{"by": who(s.by()), "surface": who(s.surface()), "code": identifier(string(code))})
	ext := merge(s.aboutCall(), map[string]any{extReason: string(code), extBy: s.by(), extSurface: s.surface()})
	key, status := "call.refused."+string(code), utp.StatusCanceled
	switch code {
	case utp.CodeConsentRetryExhausted:
		params, status = params.with(s.exhausted()), utp.StatusFailed
		ext["changed"] = s.t.Note.Reason
		delete(ext, extSurface)
		params["surface"] = Param{}
	case utp.CodeConsentStale:
		params["reason"], params["again"] = s.stale(s.t.Call, s.t.Note.Reason), s.again()
		if s.t.Note.Reason == turn.StaleUnawaited {
			key, params["agent"] = "call.refused.gone", s.agent()
		}
		if s.t.Note.Reason == turn.StaleRestarted && s.t.Call.Consent != nil {
			key = "call.refused.restarted"
		}
		ext["changed"] = s.t.Note.Reason
		delete(ext, extSurface)
		params["surface"] = Param{}
	case utp.CodeStopped:
		if stop := s.t.Turn.Stop; stop == nil || stop.Reason == turn.ReasonUndone { // for an external agent only the call ends
			key = "call.refused.undone"
		}
	case utp.CodeConsentExpired:
		params["absent"] = yes(s.t.Absent)
	case utp.CodeDeniedByPolicy:
		params["said"] = yes(s.t.Call.Consent != nil)
	case utp.CodeConsentDeclined, utp.CodeConsentWithdrawn:
	default:
		key = "call.refused.other"
		params["why"], _ = s.why(before(code))
		if s.t.Note.Reason == turn.ReasonToolMissing {
			key, params["said"], params["surface"] = "call.refused.tool_gone", yes(s.t.Call.Consent != nil), Param{}
			delete(ext, extSurface)
		}
	}
	if s.isPermission() {
		if code == utp.CodeConsentStale {
			delete(ext, extBy) // it is not presented as somebody's answer
		}
		if own, is := s.permissionRefusal(code, params); is {
			key = own
		}
	}
	return line{
		key: key, params: params, earshot: ext,
		utp: map[string]any{extStatus: string(status), extCode: string(code), extClass: string(s.t.Call.Class)},
	}
}

func resolution(code utp.Code) aaep.Resolution {
	switch code {
	case utp.CodeConsentDeclined:
		return aaep.ResolutionRejected
	case utp.CodeConsentExpired:
		return aaep.ResolutionExpired
	case utp.CodeStopped:
		return aaep.ResolutionStopped
	default:
		return aaep.ResolutionWithdrawn
	}
}

// revokeDead revokes the accepts of calls that will not run and have no event of their own for that.
func (s *eventBuilder) revokeDead() error {
	for _, g := range s.session.State().Granted {
		if number, open := s.accept(g.CallID); !open {
			err := s.resolve(g.Token, aaep.ResolutionWithdrawn, line{
				key: "grant.revoked", params: Params{paramQuestion: count(int64(number))},
				earshot: map[string]any{extQuestion: number, extCall: g.CallID},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// accept returns the question of an accepted call, and whether the call may still run.
func (s *eventBuilder) accept(id string) (number int, open bool) {
	for _, c := range s.t.Turn.Calls {
		if callID(c.ID) == id {
			return c.Question, c.State == turn.Accepted
		}
	}
	return 0, false
}
