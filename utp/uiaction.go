package utp

import (
	"errors"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// UIAction is the command of a user interface that has a tool called without a model (UTP, "Actions of a UI").
type UIAction struct {
	// ActionID is the interface's own id of the action, MessageID that of the message, if it has one: a message that comes
	// again is the same action.
	ActionID, MessageID string
	ToolName            string
	// Args are the arguments, an object. They include what the payload has beside them as metadata.
	Args jsontext.Value
}

// DecodeUIAction reads the command of a user interface, like [DecodeCommand]: control fields of the payload are merged
// into the context of the headers, and unknown keys are ignored. Members of the payload's `metadata` become members of
// the arguments' own, where those do not have them. With an error, the action has what could be read, so that it can be
// answered. The error is a [*PayloadError] with missing_required_fields, invalid_args, invalid_metadata or bad_request.
func DecodeUIAction(raw []byte, header Context) (UIAction, Context, error) {
	var a UIAction
	p, err := payloadObject(raw)
	if err != nil {
		return a, header, err
	}
	var errs [4]error
	a.ActionID, errs[0] = p.text("action_id")
	a.MessageID, errs[1] = p.text("message_id")
	a.ToolName, errs[2] = p.text(keyToolName)
	merged, err := p.control(header)
	if errs[3] = err; err == nil {
		header = merged
	}
	for _, err := range errs {
		if err != nil {
			return a, header, err
		}
	}
	args := p["args"]
	switch {
	case a.ActionID == "" || a.ToolName == "" || len(args) == 0 || args.Kind() == jsontext.KindNull:
		return a, header, &PayloadError{Reason: CodeMissingRequiredFields, Found: "incomplete", Expected: "action_id, tool_name and args"}
	case args.Kind() != jsontext.KindBeginObject:
		return a, header, &PayloadError{Reason: CodeInvalidArgs, Field: "args", Found: clip(args.String()), Expected: "an object"}
	}
	a.Args, err = withMetadata(args, p["metadata"])
	return a, header, err
}

// withMetadata adds the metadata of an action to its arguments.
func withMetadata(args, metadata jsontext.Value) (jsontext.Value, error) {
	if len(metadata) == 0 || metadata.Kind() == jsontext.KindNull {
		return args, nil
	}
	wrong := func(v jsontext.Value, err error) error {
		return &PayloadError{Reason: CodeInvalidMetadata, Field: "metadata", Found: clip(v.String()), Expected: "an object", Err: err}
	}
	var all, beside, own map[string]jsontext.Value
	if err := json.Unmarshal(metadata, &beside); err != nil {
		return nil, wrong(metadata, err)
	}
	err := json.Unmarshal(args, &all)
	if within, has := all["metadata"]; err == nil && has {
		if err := json.Unmarshal(within, &own); err != nil {
			return nil, wrong(within, err)
		}
	}
	maps.Copy(beside, own) // the arguments win
	both, berr := json.Marshal(beside, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if all == nil {
		all = map[string]jsontext.Value{}
	}
	all["metadata"] = both
	out, oerr := json.Marshal(all, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err := errors.Join(err, berr, oerr); err != nil {
		return nil, &PayloadError{Reason: CodeInvalidArgs, Field: "args", Found: "malformed: " + clip(err.Error()), Expected: "an object", Err: err}
	}
	return out, nil
}
