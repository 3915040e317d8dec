package api

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AgentDefinition is what operators have defined about an agent: what it may use, whom it may ask, and how its turns
// end. Without a definition an agent is bound by the policy alone. Of what a definition leaves out, the same is true.
type AgentDefinition struct {
	// Name is the agent's name: 1 to 128 of A-Z a-z 0-9 _ -.
	Name string `json:"name" yaml:"name"`
	// DisplayName is what people read and hear in place of the name, at most 128 bytes.
	DisplayName string `json:"display_name,omitzero" yaml:"display_name"`
	// Tools are the names of the tools that the agent may use, or beginnings of names followed by "*". Absent, it may
	// use every tool; empty, none.
	Tools NameList `json:"tools,omitzero" yaml:"tools"`
	// MayAsk are the agents, named likewise, that it may start turns of within its own, its own name included. Absent, the
	// server's own setting decides; empty, none.
	MayAsk NameList `json:"may_ask,omitzero" yaml:"may_ask"`
	// MustEndWith are names of tools, named likewise: a turn of the agent succeeds only if its last call was of one of
	// them and succeeded. The name submit_result stands for an answer with fields. Absent or empty, any turn may.
	MustEndWith NameList `json:"must_end_with,omitzero" yaml:"must_end_with"`
	// ResultFields are the names of the fields that the answer of a turn must have where its request names none, at most
	// 64. The turns of external programs have no such answer.
	ResultFields NameList `json:"result_fields,omitzero" yaml:"result_fields"`
	// MaxSteps is how many steps with calls a turn of the agent may take; 0 is any number.
	MaxSteps int `json:"max_steps,omitzero" yaml:"max_steps"`
	// MaxOpen is how many turns of the agent may be open at a time, whatever each of them waits for; 0 is as many as their
	// owner may have.
	MaxOpen int `json:"max_open,omitzero" yaml:"max_open"`
	// Parameters is the JSON Schema of the arguments that turns of the agent take, at most 32 KiB: a turn whose arguments do not fit
	// it does not begin. Absent, the agent alone judges them.
	Parameters jsontext.Value `json:"parameters,omitzero" yaml:"-"`
	// Active is whether turns of the agent may begin, and calls of it be made. Absent is true.
	Active *bool `json:"active,omitzero" yaml:"active"`
}

// NameList is a list of names. In JSON it is never null: nobody could tell whether that allows everything or nothing.
type NameList []string

// ErrNullList is the error of a [NameList] that is null.
var ErrNullList = errors.New("a list is null; expected a list of names, [] for none, or no such member")

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]. The error is [ErrNullList] for null.
func (l *NameList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		return ErrNullList
	}
	return json.UnmarshalDecode(dec, (*[]string)(l)) //nolint:wrapcheck // it is of the package that asks
}

// IsActive reports whether the agent may work.
func (d AgentDefinition) IsActive() bool { return d.Active == nil || *d.Active }

// AgentsRequest asks for the definition of an agent by its name, or for all definitions after a name.
type AgentsRequest struct {
	Name  string `json:"name,omitzero"`
	After string `json:"after,omitzero"`
}

// AgentsAnswer is a page of definitions, by the names of their agents.
type AgentsAnswer struct {
	Agents []AgentDetail `json:"agents,omitzero"`
	More   bool          `json:"more,omitzero"`
}

// AgentDetail is the definition of an agent with its digest: the SHA-256 of its canonical form, in hex.
type AgentDetail struct {
	AgentDefinition

	Digest string `json:"digest"`
}

// DefineAgentRequest records the definition of an agent, in place of the one with the digest Before; "" is none. If there
// is another one meanwhile, nothing is recorded.
type DefineAgentRequest struct {
	Definition AgentDefinition `json:"definition"`
	Before     string          `json:"before,omitzero"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// RemoveAgentRequest removes the definition of an agent, if it has the digest Before. From then on the policy alone binds
// the agent.
type RemoveAgentRequest struct {
	Name string `json:"name"`
	// Before is the digest of the definition that was looked at.
	Before string `json:"before"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}
