package narrate

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// fixedQuestion is the key of the fixed sentence for a question of the agent's own.
const fixedQuestion = "earshot:question"

// maxDefault is the maximum length of default_response in an event (CLAR-11).
const maxDefault = 4096

// personAsked asks a question of the agent's own. The agent's words are quoted, so that they cannot be mistaken for
// ours.
func (s *eventBuilder) personAsked() error {
	if err := s.wait(s.t.Question.Number, aaep.UrgencyBackground); err != nil {
		return err
	}
	q := s.question()
	asks := quotedTo(q.Text, capField)
	params := s.asker().with(Params{
		paramQuestion: count(int64(s.t.Question.Number)), "asks": asks, "again": yes(s.t.Question.Again), "how": how(q),
		"limit": s.answerLimit(q), "tool": s.inquirer(),
	})
	if q.Context != "" {
		params[fieldContext] = quotedTo(q.Context, capField)
	}
	l := line{key: "person.asked", params: params, earshot: merge(s.timeFacts(), s.askerFacts(), map[string]any{
		extQuestion: s.t.Question.Number, extCall: callID(s.t.Call.ID), extAgentLanguage: q.Lang,
	})}
	err := s.add(l, fixedQuestion, func(x texts) ([]aaep.Event, error) {
		return one(s.session.Clarify(s.t.At, s.t.Rand, aaep.AwaitingClarification{
			Question: x[fieldQuestion], Context: x[fieldContext],
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
			ReplyToken: s.t.Question.Token, TimeoutSeconds: s.seconds(),
			AcceptedResponseKinds: kinds(q), Choices: s.choices(q), DefaultResponse: defaultOf(q),
		}))
	})
	s.memory.Open = append(s.memory.Open, openQuestion{
		Number: s.t.Question.Number, Call: s.t.Call.ID, Token: s.t.Question.Token, AgentsOwn: true, Action: asks,
	})
	return err
}

// question returns the agent's question from the ledger.
func (s *eventBuilder) question() api.Question {
	var q api.Question
	if json.Unmarshal(s.t.Args, &q) != nil || q.Text == "" { // even if it cannot be parsed any more, it is asked
		q = api.Question{Kinds: []string{api.AnswerText}}
	}
	return q
}

func kinds(q api.Question) []aaep.ResponseKind {
	out := make([]aaep.ResponseKind, 0, len(q.Kinds))
	for _, kind := range q.Kinds {
		out = append(out, aaep.ResponseKind(kind))
	}
	return out
}

// choices returns the choices. Their values are compared, and so never changed; their labels are for reading.
func (s *eventBuilder) choices(q api.Question) []aaep.Choice {
	if len(q.Choices) == 0 {
		return nil
	}
	out := make([]aaep.Choice, 0, len(q.Choices))
	for _, c := range q.Choices {
		text, err := s.narrator.speaker.renderParam(label(c))
		if err != nil || text == "" {
			text = c.Value
		}
		out = append(out, aaep.Choice{Value: c.Value, Label: text})
	}
	return out
}

func label(c api.Choice) Param { return untrusted(strings.TrimSpace(c.Label)) }

func defaultOf(q api.Question) string {
	if text := valid(q.Default); len(text) <= maxDefault {
		return text
	}
	return ""
}

// how says in which ways the question can be answered.
func how(q api.Question) Param {
	out := Param{}
	for _, kind := range q.Kinds {
		switch kind {
		case api.AnswerChoice:
			list := Param{}
			for _, c := range q.Choices {
				one := Params{"value": untrusted(c.Value)}
				if strings.TrimSpace(c.Label) != c.Value {
					one["label"] = label(c)
				}
				list.List = append(list.List, phraseParam("how.choice", one))
			}
			out.All = append(out.All, phraseParam("how.multiple_choice", Params{"choices": list}))
		case api.AnswerText, api.AnswerYesNo, api.AnswerNumber:
			out.All = append(out.All, phraseParam("how."+kind, nil))
		}
	}
	return out
}

// answerLimit says how long there is to answer, and what happens without an answer.
func (s *eventBuilder) answerLimit(q api.Question) Param {
	p := s.limit(false)
	p.Key = "answer." + p.Key
	switch yesNo := slices.Contains(q.Kinds, api.AnswerYesNo); {
	case yesNo && (q.Default == "true" || q.Default == "false"):
		p.Params["default"] = answerText(jsontext.Value(q.Default))
	case q.Default != "":
		p.Params["default"] = quotedTo(q.Default, capValue)
	}
	p.Params["tool"] = s.inquirer()
	return p
}

// inquirer returns the tool whose service asks during a call; none if the agent itself asks.
func (s *eventBuilder) inquirer() Param {
	within, found := s.t.Turn.Find(s.t.Call.Within)
	if !found {
		return Param{}
	}
	return identifier(within.Tool)
}

// responded reports how a question of the agent's own ended.
func (s *eventBuilder) responded() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return nil // a stop has withdrawn it already
	}
	var a api.Answered
	given := json.Unmarshal(s.t.Result, &a) == nil && len(a.Answer) > 0
	params := Params{paramQuestion: count(int64(q.Number)), "by": who(s.by()), "surface": who(s.surface()), "tool": s.inquirer()}
	if given {
		params["answer"] = answerText(a.Answer)
	}
	key, resolved := "person.answered", aaep.ResolutionAnswered
	if !given || a.Default {
		key, resolved = "person.expired", aaep.ResolutionExpired
		params["absent"] = yes(s.t.Absent)
	}
	l := line{key: key, params: params, earshot: map[string]any{
		extQuestion: q.Number, extCall: callID(s.t.Call.ID), extBy: s.by(), extSurface: s.surface(),
	}}
	if err := s.resolve(q.Token, resolved, l); err != nil {
		return err
	}
	return s.back()
}

// answerText returns an answer for confirmation.
func answerText(v jsontext.Value) Param {
	var text string
	if v.Kind() == '"' && json.Unmarshal(v, &text) == nil {
		return quoted(text)
	}
	switch v.Kind() {
	case 't':
		return phraseParam("answer.yes", nil)
	case 'f':
		return phraseParam("answer.no", nil)
	default:
		return untrusted(string(v))
	}
}

// unasked reports that such a question was withdrawn.
func (s *eventBuilder) unasked(code utp.Code) error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return nil
	}
	reason := "ended"
	switch {
	case code == utp.CodeStopped:
		reason = "stopped"
	case s.t.Call.Within != "":
		reason = "left"
	}
	if err := s.withdraw(q, reason); err != nil {
		return err
	}
	return s.back()
}

// handOff requests a handoff to somebody else. The turn's end follows (SEQ-37).
func (s *eventBuilder) handOff() error {
	h := s.t.Handoff
	if h == nil || s.blocked() {
		return nil
	}
	if err := s.move(aaep.StateHandingOff, line{key: "handoff.moving", urgency: aaep.UrgencyBackground}); err != nil {
		return err
	}
	l := line{key: "handoff.requested", params: Params{
		"to": keyword(h.To), "reason": quotedTo(h.Reason, capField), "urgency": keyword(h.Urgency), "context": yes(len(h.Context) > 0),
	}, earshot: map[string]any{extAgentLanguage: h.Lang}}
	return s.add(l, aaep.TypeHandoffRequested, func(x texts) ([]aaep.Event, error) {
		p := aaep.HandoffRequested{
			Reason: x[fieldReason], TargetKind: aaep.TargetKind(h.To), UrgencyForHandoff: aaep.HandoffUrgency(h.Urgency),
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed], TargetURI: h.URI,
		}
		_ = json.Unmarshal(h.Context, &p.PackagedContext) // anything but an object is left out
		e, err := s.session.Handoff(s.t.At, s.t.Rand, p)
		if err != nil { // an error here does not suppress the announcement
			p.TargetURI, p.PackagedContext = "", nil
			e, err = s.session.Handoff(s.t.At, s.t.Rand, p)
		}
		return one(e, err)
	})
}
