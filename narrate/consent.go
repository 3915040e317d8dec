package narrate

import (
	"math"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// asked puts a consent question.
func (s *scene) asked() error {
	if err := s.wait(s.t.Question.Number, aaep.UrgencyBackground); err != nil {
		return err
	}
	return s.confirm()
}

// confirm builds the question itself. What is asked comes from the registry's wording
// and the arguments; the agent's own words are quoted, and only at length.
func (s *scene) confirm() error {
	c := s.t.Call
	action, facts := s.action()
	params := s.about().with(Params{
		paramQuestion: count(int64(s.t.Question.Number)),
		paramAction:   action, "consequence": s.consequence(facts),
		"again": yes(s.t.Question.Again), "earlier": yes(c.Replaces != ""),
		"time": duration(time.Duration(s.seconds()) * time.Second),
	})
	if args, ok := summarize(s.t.Args); ok && action.Params["args"].none() { // said once is enough
		params["args"] = args
	}
	if s.t.Says != "" {
		params["says"] = quoted(s.t.Says)
	}
	if irreversible(c.Class) {
		params["undo"] = duration(c.Limits.UndoTime())
	}
	l := line{key: "question.asked", params: params, earshot: s.consentFacts(facts)}
	err := s.put(l, aaep.TypeAwaitingConfirmation, func(x texts) ([]aaep.Event, error) {
		return one(s.session.Confirm(s.t.At, s.t.Rand, aaep.AwaitingConfirmation{
			Action: x[fieldAction], Consequence: x[fieldConsequence],
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
			ReplyToken: s.t.Question.Token, TimeoutSeconds: s.seconds(),
			DefaultDecision: aaep.DecisionReject, RiskLevel: risk(c.Risk),
			Irreversible: irreversible(c.Class), Reversibility: reversibility(c.Class),
			AllowedReplies: []aaep.Decision{aaep.DecisionAccept, aaep.DecisionReject},
		}.About(toolName(c.Tool), callID(c.ID))))
	})
	s.memory.Open = append(s.memory.Open, openQuestion{
		Number: s.t.Question.Number, Call: c.ID, Token: s.t.Question.Token, Action: action,
	})
	return err
}

// seconds is the time to answer as the event may promise it: never more than what is
// left until the deadline, counted from the event's own time, which a clock that was
// set back makes later than now.
func (s *scene) seconds() int64 {
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

// consentFacts are the numbers of a question, for surfaces that show more than text.
func (s *scene) consentFacts(facts Params) map[string]any {
	c := s.t.Call
	out := merge(s.aboutCall(), map[string]any{
		extQuestion: s.t.Question.Number, extClass: string(c.Class), extDeadline: aaep.FormatTime(s.t.Question.Deadline),
	})
	for name, unit := range map[string]string{extItems: "", extBytes: unitBytes} {
		if n, ok := facts[name].number(); ok && (unit == "" || facts[name].Bytes != nil) {
			out[name] = n
		}
	}
	if hint := s.wording().Consent.Hint; hint != "" {
		out[extHint], _ = cut(nameHidden(hint), capValue)
	}
	if irreversible(c.Class) {
		out[extUndo] = math.Ceil(c.Limits.UndoTime().Seconds())
	}
	if c.Replaces != "" {
		out[extReplaces] = callID(c.Replaces)
	}
	if !s.t.Tool.Reviewed {
		out[extNew] = true
	}
	return out
}

func reversibility(c utp.Class) aaep.Reversibility {
	if irreversible(c) {
		return aaep.Irreversible
	}
	return aaep.Reversible
}

// extended takes the question back and asks it again with more time and a new token.
func (s *scene) extended() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return &session.Error{Code: session.CodeNoQuestion, Message: "no question about this call is open; nothing can be extended"}
	}
	err := s.settle(q.Token, aaep.ResolutionExtended, line{
		key: "question.extended", params: s.about(),
		earshot: map[string]any{extQuestion: q.Number, extCall: callID(s.t.Call.ID), extBy: s.by(), extSurface: s.surface()},
	})
	if err != nil {
		return err
	}
	if q.Fate || s.t.Call.State == turn.Unknown {
		return s.fateAsked()
	}
	return s.asked()
}

// accepted records a yes.
func (s *scene) accepted() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return &session.Error{Code: session.CodeNoQuestion, Message: "no question about this call is open; nothing can be accepted"}
	}
	params := s.about().with(Params{"by": who(s.by()), "surface": who(s.surface())})
	undo := s.t.Call.DispatchAt.Sub(s.t.At)
	if undo > 0 {
		params["undo"] = duration(undo)
	}
	ext := map[string]any{extQuestion: q.Number, extCall: callID(s.t.Call.ID), extBy: s.by(), extSurface: s.surface()}
	if starts := s.startsAt(); !starts.IsZero() {
		ext[extStartsAt] = aaep.FormatTime(starts)
	}
	if err := s.settle(q.Token, aaep.ResolutionAccepted, line{key: "call.accepted", params: params, earshot: ext}); err != nil {
		return err
	}
	return s.back()
}

func (s *scene) startsAt() time.Time {
	if s.t.StartsAt.IsZero() {
		return s.t.Call.DispatchAt
	}
	return s.t.StartsAt
}

// refused tells that a call ended before it was dispatched. There are no tool events
// for it (C-41).
func (s *scene) refused() error {
	code := utp.Code(s.t.Note.Detail)
	l := s.refusal(code)
	s.memory.refuse(code)
	if q, open := s.memory.question(s.t.Call.ID); open {
		l.params[paramQuestion] = count(int64(q.Number))
		l.earshot[extQuestion] = q.Number
		if err := s.settle(q.Token, resolution(code), l); err != nil {
			return err
		}
		return s.back()
	}
	if token := granted(s.session.State(), callID(s.t.Call.ID)); token != "" {
		l.earshot[extQuestion] = s.number()
		if err := s.settle(token, resolution(code), l); err != nil {
			return err
		}
		return s.back()
	}
	return s.announce(l)
}

// refusal chooses the words for the end of a call before its dispatch.
func (s *scene) refusal(code utp.Code) line {
	params := s.about().with(Params{"by": who(s.by()), "surface": who(s.surface()), "code": identifier(string(code))})
	ext := merge(s.aboutCall(), map[string]any{extReason: string(code), extBy: s.by(), extSurface: s.surface()})
	key := "call.refused." + string(code)
	switch code {
	case utp.CodeConsentStale:
		params["reason"] = s.stale()
		params["again"] = yes(s.t.Turn.Stop == nil)
		ext["changed"] = s.t.Note.Surface
		delete(ext, extSurface)
		params["surface"] = Param{}
	case utp.CodeStopped:
		if s.t.Turn.Stop != nil && s.t.Turn.Stop.Reason == reasonUndone {
			key = "call.refused.undone"
		}
	case utp.CodeConsentDeclined, utp.CodeConsentExpired, utp.CodeConsentWithdrawn, utp.CodeDeniedByPolicy:
	default:
		key = "call.refused.other"
	}
	return line{
		key: key, params: params, earshot: ext,
		utp: map[string]any{extStatus: string(utp.StatusCanceled), extCode: string(code), extClass: string(s.t.Call.Class)},
	}
}

// reasonUndone is the reason of a stop by which an accept was taken back.
const reasonUndone = "undone"

// stale says what no longer fits. The reason travels where a note has its surface.
func (s *scene) stale() Param {
	key := "stale." + s.t.Note.Surface
	if _, known := s.narrator.speaker.tongue.messages[key]; !known {
		key = "stale.other"
	}
	return say(key, nil)
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

// revokeDead takes back the accepts of calls that will not run and have no word of
// their own for it.
func (s *scene) revokeDead() error {
	for _, g := range s.session.State().Granted {
		if number, alive := s.accept(g.CallID); !alive {
			err := s.settle(g.Token, aaep.ResolutionWithdrawn, line{
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

// accept finds the question of an accepted call, and whether it may still run.
func (s *scene) accept(id string) (number int, alive bool) {
	for _, c := range s.t.Turn.Calls {
		if callID(c.ID) == id {
			return c.Question, c.State == turn.Accepted
		}
	}
	return 0, false
}
