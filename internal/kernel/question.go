package kernel

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// personCall makes a call of the step that no service runs: a question to the person, or an answer that
// lacks fields which the turn requires. Both have a card and a result like any other call.
func (s *step) personCall(w api.ToolCall, stepID string) (turn.Call, error) {
	id, err := s.k.ids.ID(s.now.Wall)
	if err != nil {
		return turn.Call{}, err
	}
	c := turn.Call{
		ID: "tc_" + id, Card: "card_" + id, Key: w.Key, Step: stepID, Kind: turn.SubmitCall, Tool: utp.SubmitResult,
		State: turn.Requested, Class: utp.Read, Risk: utp.RiskLow,
	}
	if w.Question == nil {
		return s.admission.Invalid(c, w.Args.Inline, utp.CodeBadRequest, s.whyNot(w.Args.Inline))
	}
	c.Kind, c.Tool = turn.QuestionCall, utp.AskPerson
	q, err := w.Question.Complete()
	if err == nil {
		_, err = consent.Ask(clarification(q, 1, "sess_1", "rpl_1", s.now.Wall, 1))
	}
	if err != nil {
		return s.admission.Invalid(c, nil, utp.CodeBadRequest, err.Error())
	}
	args, err := json.Marshal(q, json.Deterministic(true))
	if err != nil {
		return c, store.Unexpected("a question", err)
	}
	c.Limits.Answer = turn.Seconds(q.Seconds)
	return c, s.cards.AddCall(c, "", argument.Resolved{Args: args})
}

// whyNot returns why a result was not accepted as the answer of the turn.
func (s *step) whyNot(raw jsontext.Value) string {
	var given struct {
		Fields []utp.Field `json:"fields"`
		Alone  bool        `json:"not_alone"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return "the result is not a list of fields: " + err.Error()
	}
	if given.Alone {
		return "a result has to be the only move of its step; nothing of the step was done"
	}
	if err := utp.CheckFields(s.rec.State.ResultFields, given.Fields); err != nil {
		return err.Error()
	}
	return "the result is in order; deliver it"
}

func clarification(q api.Question, number int, session, token string, at time.Time, seconds int) consent.Params {
	p := consent.Params{
		Number: number, Kind: consent.Clarification, SessionID: session, Token: token, AskedAt: at, Timeout: seconds,
		DefaultResponse: q.Default,
	}
	for _, kind := range q.Kinds {
		p.ResponseKinds = append(p.ResponseKinds, consent.ResponseKind(kind))
	}
	for _, c := range q.Choices {
		p.Choices = append(p.Choices, consent.Choice{Value: c.Value, Label: c.Label})
	}
	return p
}

// askPerson puts the agent's question to the person.
func (s *step) askPerson(id string) error {
	call, _ := s.rec.State.Find(id)
	raw, err := s.cards.Args(call)
	if err != nil {
		return err
	}
	var asked api.Question
	if err := json.Unmarshal(raw, &asked); err != nil {
		return store.Unexpected("the question of call "+id, err)
	}
	number, token, err := s.newQuestion(call)
	if err != nil {
		return err
	}
	length, err := s.answerSeconds(call)
	if err != nil {
		return err
	}
	p := clarification(asked, number, s.rec.State.Session, token, s.now.Wall, length)
	p.Unseen = s.k.o.WaitForPresence
	q, err := consent.Ask(p)
	if err != nil {
		return store.Unexpected("asking", err)
	}
	return s.openQuestion(q, turn.QuestionAsked{Call: id, Number: number})
}

// respond ends a question of the agent's own, with the given answer or else the default.
func (s *step) respond(c turn.Call, q consent.Question) error {
	in := turn.Responded{
		Question: q.Number, By: q.Resolution.By, Surface: q.Resolution.Surface,
		Outcome: turn.Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentExpired},
	}
	if q.Resolution.Response != (consent.Response{}) {
		a := api.Answered{
			Answer: scalar(q.Resolution.Response), By: q.Resolution.By, Surface: q.Resolution.Surface, Default: q.State == consent.Expired,
		}
		raw, err := json.Marshal(a, json.Deterministic(true))
		if err != nil {
			return store.Unexpected("an answer", err)
		}
		card, err := s.cards.AddResult(c, utp.ResultCard{Status: utp.StatusSuccess, Result: raw, Source: utp.SourceWorker})
		if err != nil {
			return err
		}
		in.Outcome = turn.Outcome{Status: utp.StatusSuccess, Card: card}
	}
	return s.dispatch(in)
}

// scalar returns a response as JSON.
func scalar(r consent.Response) jsontext.Value {
	switch r.Type {
	case consent.TypeBool:
		return jsontext.Value(strconv.FormatBool(r.Bool))
	case consent.TypeNumber:
		if raw, err := json.Marshal(r.Number); err == nil {
			return raw
		}
	case consent.TypeText:
		if raw, err := json.Marshal(r.Text); err == nil {
			return raw
		}
	}
	return jsontext.Value(`""`)
}

// deliverable checks the fields of a result against those that the turn requires, and saves them in a card.
// A turn that did not succeed, or that is handed off, needs none.
func (s *step) deliverable(q api.DeliverRequest, end *turn.End) error {
	required := s.rec.State.ResultFields
	good := q.Status == utp.StatusSuccess || q.Status == utp.StatusPartial
	if len(q.Fields) == 0 && (len(required) == 0 || !good || q.Handoff != nil) {
		return s.boxes.AddText(q, *end)
	}
	if err := utp.CheckFields(required, q.Fields); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	card, err := s.cards.Answer(q.Fields, q.Status == utp.StatusPartial)
	if err != nil {
		return err
	}
	s.cards.Add(card)
	end.Deliverable = card.ID
	return s.boxes.Add("", card.ID)
}
