package utp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Definition is a tool as its service offers it: the fields of `resource.tools` (UTP, "Tool definitions") with a class
// and a risk. What an operator allows may differ, and is stored elsewhere.
type Definition struct {
	// Tool is the name, for example files.delete: [A-Za-z0-9_.-], at most 128.
	Tool        string `json:"tool_name"`
	Description string `json:"description"`
	// Parameters is the JSON Schema of the arguments, an object.
	Parameters jsontext.Value `json:"parameters"`
	// Target is the template of the subject, see [RenderTarget].
	Target         string         `json:"target_subject"`
	AfterExecution AfterExecution `json:"after_execution"`
	// Class and Risk are the service's own claims; they can only raise what an operator has set. A service that cannot
	// know them may leave both empty; then the operator's values apply unchanged.
	Class Class `json:"class"`
	Risk  Risk  `json:"risk"`
	// Options is an object, see [Options]; nil is the empty one.
	Options jsontext.Value `json:"options,omitzero"`
}

// DefinitionError describes what is wrong with a tool's definition or its options.
type DefinitionError struct {
	Tool     string
	Field    string
	Found    string
	Expected string
	Err      error
}

func (e *DefinitionError) Error() string {
	return "definition of tool " + Shown(e.Tool) + ": " + e.Field + " is " + e.Found + "; expected " + e.Expected
}

func (e *DefinitionError) Unwrap() error { return e.Err }

// Code is bad_request.
func (*DefinitionError) Code() Code { return CodeBadRequest }

// reserved names belong to peers' built-in tools (UTP, "Result fields" and "Tool definitions").
var reserved = []string{"delegate_async", "launch_principal", "ask_expert", "fork_join", "provision_agent", SubmitResult, AskPerson}

// Validate checks everything but whether Parameters is a good JSON Schema, which needs a
// schema compiler. The error is a [*DefinitionError].
func (d Definition) Validate() error {
	wrong := func(field, found, expected string, err error) error {
		return &DefinitionError{Tool: d.Tool, Field: field, Found: found, Expected: expected, Err: err}
	}
	switch {
	case !ValidToolName(d.Tool):
		return wrong("tool_name", Shown(d.Tool), "1 to 128 of A-Z a-z 0-9 _ - .", nil)
	case slices.Contains(reserved, d.Tool):
		return wrong("tool_name", Shown(d.Tool), "a name that is not reserved", nil)
	case !d.AfterExecution.Valid():
		return wrong("after_execution", Shown(string(d.AfterExecution)), "suspend or terminate", nil)
	case !d.Class.Valid() && (d.Class != "" || !d.unclaimed()):
		return wrong("class", Shown(string(d.Class)), "read, idempotent, reversible or irreversible", nil)
	case !d.Risk.Valid() && (d.Risk != "" || !d.unclaimed()):
		return wrong("risk", Shown(string(d.Risk)), "low, medium or high", nil)
	case d.Parameters.Kind() != jsontext.KindBeginObject:
		return wrong("parameters", "not an object", "a JSON Schema object", nil)
	}
	if _, err := RenderTarget(d.Target, TargetValues{Project: "p", Channel: "c", Agent: "a"}); err != nil {
		return wrong("target_subject", Shown(d.Target), "cg."+Version+".{project_id}.{channel_id}.cmd.tool.<target>.<suffix>", err)
	}
	if _, err := ParseOptions(d.Options); err != nil {
		return wrong("options", "refused: "+clip(err.Error()), "args.defaults, args.fixed and envs", err)
	}
	if _, err := d.Digest(); err != nil {
		return wrong("parameters or options", "refused: "+clip(err.Error()), "JSON with one meaning", err)
	}
	return nil
}

// unclaimed reports whether the definition may omit its class or risk: v1r4 has neither, and a service that forwards
// another service's tools may omit both.
func (d Definition) unclaimed() bool {
	return d.Enforcement() != Enforced || d.Class == "" && d.Risk == ""
}

// ValidToolName reports whether a tool can have the name: 1 to 128 of A-Z a-z 0-9 _ - and the dot.
func ValidToolName(s string) bool {
	if s == "" || len(s) > maxToken {
		return false
	}
	for i := range len(s) {
		if !tokenByte(s[i]) && s[i] != '.' {
			return false
		}
	}
	return true
}

const definitionDomain = "earshot-definition-1\n"

// Digest returns the hex SHA-256 of `earshot-definition-1\n` followed by the RFC 8785 form of an object with the
// members after_execution, class, options, schema and target (call protocol, "Effect classes"). Name, description and
// risk are not included. Absent options or parameters count as empty objects. Schema and options must be unambiguous,
// like arguments: the error is an [*ArgumentError].
func (d Definition) Digest() (string, error) {
	raw, err := json.Marshal(struct {
		After   AfterExecution `json:"after_execution"`
		Class   Class          `json:"class"`
		Options jsontext.Value `json:"options"`
		Schema  jsontext.Value `json:"schema"`
		Target  string         `json:"target"`
	}{d.AfterExecution, d.Class, orEmptyObject(d.Options), orEmptyObject(d.Parameters), d.Target})
	if err != nil {
		return "", argumentError(err)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, _ = h.Write([]byte(definitionDomain)) // a hash never fails
	_, _ = h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// orEmptyObject reads nothing and null as {}.
func orEmptyObject(v jsontext.Value) jsontext.Value {
	if len(v) == 0 || v.Kind() == jsontext.KindNull {
		return jsontext.Value("{}")
	}
	return v
}
