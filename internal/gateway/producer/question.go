package producer

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// shown is all that a producer shows of what it asks for. A person is shown all of it, and the receipt is bound to it.
type shown struct {
	Action        string                    `json:"action"`
	Consequence   string                    `json:"consequence"`
	Risk          aaep.Risk                 `json:"risk_level,omitzero"`
	Reversibility aaep.Reversibility        `json:"reversibility,omitzero"`
	Irreversible  bool                      `json:"irreversible"`
	Summary       string                    `json:"summary,omitzero"`
	Details       string                    `json:"details,omitzero"`
	Context       map[string]jsontext.Value `json:"extra_context,omitzero"`
}

// confirm asks a person for a consent. That the policy could allow it without one does not count: the producer waits for a person.
func (m *Machine) confirm(p aaep.AwaitingConfirmation) {
	s := shown{
		Action: p.Action, Consequence: p.Consequence, Risk: p.RiskLevel, Reversibility: p.Reversibility, Irreversible: p.Irreversible, Context: p.ExtraContext,
	}
	if p.Reversibility == aaep.Irreversible && p.Irreversible { // one says what the other does
		s.Reversibility = ""
	}
	if !within(p.SummaryNormal, p.Action+" "+p.Consequence) {
		s.Summary = p.SummaryNormal
	}
	if !within(p.SummaryDetailed, p.Action+" "+p.Consequence+" "+s.Summary) {
		s.Details = p.SummaryDetailed
	}
	input, err := json.Marshal(s, json.Deterministic(true))
	if err != nil { // its members were read from JSON a moment ago
		input = jsontext.Value(`{"action":"What the producer asks cannot be read."}`)
	}
	tool, call := p.Subject()
	m.out = append(m.out, Confirm{Token: p.ReplyToken, AgentPermission: api.AgentPermission{
		Tool: cmp.Or(toolName(tool), api.UnnamedTool), Input: input, HostCall: shortened(call, maxHostCall), Ask: true, Key: m.key(),
	}})
}

// within reports whether a text says nothing that another one does not say in the same words.
func within(text, whole string) bool {
	words := func(s string) string {
		return " " + strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }), " ") + " "
	}
	return strings.Contains(words(whole), words(text)) || strings.TrimSpace(text) == ""
}

// maxHostCall is the longest id of a call that is passed on.
const maxHostCall = 128

// toolName is a name of a tool as it can be one here.
func toolName(name string) string {
	const most = 100
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:/-", r) {
			return r
		}
		return -1
	}, name)
	return name[:min(len(name), most)]
}

// clarify asks a person for information. What cannot be asked here is told, and the producer's own default applies.
func (m *Machine) clarify(p aaep.AwaitingClarification) {
	q := api.Question{Text: p.Question, Context: p.Context, Lang: m.language(), Default: p.DefaultResponse, Seconds: int(min(p.TimeoutSeconds, api.MaxAnswerSeconds))}
	for _, kind := range p.AcceptedResponseKinds {
		if slices.Contains([]string{api.AnswerText, api.AnswerYesNo, api.AnswerChoice, api.AnswerNumber}, string(kind)) {
			q.Kinds = append(q.Kinds, string(kind))
		}
	}
	for _, c := range p.Choices {
		q.Choices = append(q.Choices, api.Choice{Value: c.Value, Label: c.Label})
	}
	if _, err := q.Complete(); err != nil {
		m.observed("It asks something that cannot be asked here: " + p.Question)
		return
	}
	m.out = append(m.out, Clarify{Token: p.ReplyToken, AgentQuestion: api.AgentQuestion{Question: q, Key: m.key()}})
}
