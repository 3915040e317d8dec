package aaep

import (
	"cmp"
	_ "embed" // the example
	"maps"

	"github.com/go-json-experiment/json/jsontext"
)

// TypeAwaitingConfirmation asks a person for consent to one action.
const TypeAwaitingConfirmation = "aaep:agent.awaiting.confirmation"

//go:embed examples/awaiting.confirmation.json
var exampleAwaitingConfirmation string

// AwaitingConfirmation asks for consent and holds the action back until it is
// answered or timeout_seconds have passed (§4.4.1). It is critical.
type AwaitingConfirmation struct {
	Action          string                    `json:"action"`           // required
	Consequence     string                    `json:"consequence"`      // required
	ReplyToken      string                    `json:"reply_token"`      // required, see NewToken
	TimeoutSeconds  int64                     `json:"timeout_seconds"`  // required, 1 to 86,400
	DefaultDecision Decision                  `json:"default_decision"` // required; reject where it cannot be undone (CONF-20)
	SummaryTerse    string                    `json:"summary_terse,omitzero"`
	SummaryNormal   string                    `json:"summary_normal,omitzero"`
	SummaryDetailed string                    `json:"summary_detailed,omitzero"`
	RiskLevel       Risk                      `json:"risk_level,omitzero"`
	Irreversible    bool                      `json:"irreversible"`
	Reversibility   Reversibility             `json:"reversibility,omitzero"`
	AllowedReplies  []Decision                `json:"allowed_replies,omitzero"` // absent means accept and reject
	ExtraContext    map[string]jsontext.Value `json:"extra_context,omitzero"`
}

// EventType returns [TypeAwaitingConfirmation].
func (AwaitingConfirmation) EventType() string { return TypeAwaitingConfirmation }

// About returns a copy that names the tool call which the consent is for, as
// extra_context members tool and tool_call_id, so that a reader of the stream can
// tell which invocation the answer allows. Other members stay.
func (c AwaitingConfirmation) About(tool, callID string) AwaitingConfirmation {
	c.ExtraContext = maps.Clone(c.ExtraContext)
	if c.ExtraContext == nil {
		c.ExtraContext = map[string]jsontext.Value{}
	}
	c.ExtraContext["tool"] = quote(tool)
	c.ExtraContext["tool_call_id"] = quote(callID)
	return c
}

// Subject returns the tool and the tool_call_id that the confirmation names, or
// empty strings. A tool may be called tool_name by others.
func (c AwaitingConfirmation) Subject() (tool, callID string) {
	return cmp.Or(unquote(c.ExtraContext["tool"]), unquote(c.ExtraContext["tool_name"])), unquote(c.ExtraContext["tool_call_id"])
}

// quote returns s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func quote(s string) jsontext.Value {
	quoted, err := jsontext.AppendQuote(nil, s)
	if err != nil { // the text is complete all the same
		return quoted
	}
	return quoted
}

// unquote returns the text of a JSON string, or "" for anything else.
func unquote(v jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(text)
}

// Decision is what a person may say to a confirmation.
type Decision string

// The decisions.
const (
	DecisionAccept Decision = "accept"
	DecisionReject Decision = "reject"
)

// Reversibility says in three words whether an action can be undone.
type Reversibility string

// The words of CONFM-12.
const (
	Reversible           Reversibility = "reversible"
	ReversibleWithEffort Reversibility = "reversible_with_effort"
	Irreversible         Reversibility = "irreversible"
)
