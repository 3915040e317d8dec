package narrate

import (
	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// The two answers to a question about an unknown outcome (call protocol, step P).
const (
	answerLeave = "leave"
	answerAgain = "ask again"
)

// known returns what is known about a call with an unknown outcome.
func (s *eventBuilder) known() Param {
	if s.t.Call.Fence == 0 {
		return phraseParam("fate.restored", nil)
	}
	params := Params{"tool": identifier(s.t.Call.Tool), "gone": yes(s.t.Call.OwnerEnded)}
	if o := s.t.Call.Outcome; o != nil {
		params["says"] = quoted(o.Message)
	}
	return phraseParam("fate.silent", params)
}

// outcomeAsked asks a person about an unknown outcome.
func (s *eventBuilder) outcomeAsked() error {
	if q, open := s.memory.question(s.t.Call.ID); open {
		if err := s.withdraw(q, "restored"); err != nil {
			return err
		}
	}
	if err := s.wait(s.t.Question.Number, aaep.UrgencyBackground); err != nil {
		return err
	}
	action, _ := s.action(s.arguments())
	params := s.about().with(s.asker()).with(Params{
		paramQuestion: count(int64(s.t.Question.Number)), paramAction: action, "known": s.known(),
		"insist": yes(s.t.Call.Insisted && !s.t.Call.OwnerEnded),
		"limit":  s.limit(true), "passkey": yes(s.t.Question.Passkey),
	})
	l := line{
		key: "fate.asked", params: params, earshot: merge(s.aboutCall(), s.timeFacts(), s.askerFacts(), map[string]any{
			extQuestion: s.t.Question.Number, extClass: string(s.t.Call.Class),
		}),
		utp: map[string]any{extStatus: string(utp.StatusFailed), extCode: string(utp.CodeOutcomeUnknown)},
	}
	if s.t.Question.Passkey {
		l.earshot[extPasskey] = true
	}
	err := s.add(l, aaep.TypeAwaitingClarification, func(x texts) ([]aaep.Event, error) {
		return one(s.session.Clarify(s.t.At, s.t.Rand, aaep.AwaitingClarification{
			Question: x[fieldQuestion], Context: x[fieldContext],
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
			ReplyToken: s.t.Question.Token, TimeoutSeconds: s.seconds(),
			AcceptedResponseKinds: []aaep.ResponseKind{aaep.ResponseMultipleChoice},
			Choices:               []aaep.Choice{{Value: answerLeave, Label: x[fieldLeave]}, {Value: answerAgain, Label: x[fieldAgain]}},
			DefaultResponse:       answerLeave,
		}))
	})
	s.memory.Open = append(s.memory.Open, openQuestion{
		Number: s.t.Question.Number, Call: s.t.Call.ID, Token: s.t.Question.Token, Outcome: true, Action: action,
	})
	return err
}

// outcomeClosed reports the end of such a question: answered by a person, or resolved by the service after all.
func (s *eventBuilder) outcomeClosed() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return nil // a stop has withdrawn it already
	}
	params := s.about().with(Params{paramQuestion: count(int64(q.Number)), paramAction: q.Action})
	key, resolved := "fate.leave", aaep.ResolutionAnswered
	switch detail := s.t.Note.Detail; {
	case detail == "settled":
		key, resolved = "fate.settled", aaep.ResolutionWithdrawn
		params["outcome"] = s.resolvedOutcome()
		s.remember(s.outcome())
	case detail == "insist":
		key = "fate.insist"
	case detail == answerAgain:
		key = "fate.again"
	case s.t.Resolution == string(aaep.ResolutionExpired) || s.by() == "":
		key, resolved = "fate.expired", aaep.ResolutionExpired
		params["absent"] = yes(s.t.Absent)
	}
	l := line{
		key: key, params: params, earshot: merge(s.aboutCall(), map[string]any{
			extQuestion: q.Number, extReason: s.t.Note.Detail, extBy: s.by(), extSurface: s.surface(),
		}),
	}
	if key == "fate.settled" {
		o := s.outcome()
		l.utp = map[string]any{extStatus: string(o.Status), extCode: string(o.Code), extClass: string(s.t.Call.Class)}
	}
	if err := s.resolve(q.Token, resolved, l); err != nil {
		return err
	}
	return s.back()
}

// resolvedOutcome returns what is known after all.
func (s *eventBuilder) resolvedOutcome() Param {
	o := s.outcome()
	if o.Code == utp.CodeConsentStale && s.t.Call.State == turn.Finished {
		return phraseParam("settled.not_begun", nil)
	}
	status := o.Status
	if !status.Valid() {
		status = utp.StatusFailed
	}
	inner := Params{}
	if result := s.result(status); !result.none() {
		inner["result"] = result
	}
	return phraseParam("settled."+string(status), inner)
}
