package utp

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The keys of the payloads.
const (
	keyToolName         = "tool_name"
	keyAfterExecution   = "after_execution"
	keyToolCallCardID   = "tool_call_card_id"
	keyStatus           = "status"
	keyToolResultCardID = "tool_result_card_id"
)

// MessageLimit is the maximum size of a message, in bytes.
const MessageLimit = 512 << 10

// PayloadError describes what is wrong with a command or a report. Answer it under the identity of the headers, never
// under that of the payload.
type PayloadError struct {
	// Reason is bad_request, invalid_after_execution, invalid_status or too_large; of a user interface's action also
	// missing_required_fields, invalid_args or invalid_metadata.
	Reason   Code
	Field    string // the key, or "" for the whole payload
	Found    string
	Expected string
	Err      error // the cause, if another error is one
}

func (e *PayloadError) Error() string {
	where := "payload"
	if e.Field != "" {
		where += " field " + e.Field
	}
	return where + " is " + e.Found + "; expected " + e.Expected
}

func (e *PayloadError) Unwrap() error { return e.Err }

// Code is the reason.
func (e *PayloadError) Code() Code { return e.Reason }

// payload is the decoded object of a command or a report.
type payload map[string]jsontext.Value

// inlined keys are refused by name: arguments and results travel in cards only.
var inlined = []string{"args", "arguments", "result"}

// decodePayload reads the object. Each name must be unique, the text valid UTF-8, and the size at most [MessageLimit]
// bytes.
func decodePayload(raw []byte) (payload, error) {
	p, err := payloadObject(raw)
	if err != nil {
		return nil, err
	}
	for _, name := range inlined {
		if _, ok := p[name]; ok {
			return nil, &PayloadError{
				Reason: CodeBadRequest, Field: name, Found: "in the payload", Expected: "nothing here: it is read from the card",
			}
		}
	}
	return p, nil
}

func payloadObject(raw []byte) (payload, error) {
	if len(raw) > MessageLimit {
		return nil, &PayloadError{
			Reason: CodeTooLarge, Found: strconv.Itoa(len(raw)) + " bytes", Expected: "at most " + strconv.Itoa(MessageLimit),
		}
	}
	p := payload{}
	if jsontext.Value(raw).Kind() != jsontext.KindBeginObject {
		return nil, &PayloadError{Reason: CodeBadRequest, Found: "not an object", Expected: "a JSON object"}
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, &PayloadError{Reason: CodeBadRequest, Found: "malformed: " + clip(err.Error()), Expected: "a JSON object", Err: err}
	}
	return p, nil
}

// text reads a string field; absent, null and blank are "".
func (p payload) text(field string) (string, error) {
	v, ok := p[field]
	if !ok || v.Kind() == jsontext.KindNull {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		return "", &PayloadError{Reason: CodeBadRequest, Field: field, Found: clip(v.String()), Expected: "a string", Err: err}
	}
	s = strings.TrimSpace(s)
	if s != "" && !validID(s) {
		return "", &PayloadError{Reason: CodeBadRequest, Field: field, Found: Shown(s), Expected: idRule}
	}
	return s, nil
}

// number reads a field that is an integer, or a string that contains one.
func (p payload) number(field string) (n int, present bool, err error) {
	v, ok := p[field]
	if !ok || v.Kind() == jsontext.KindNull {
		return 0, false, nil
	}
	text := v.String()
	if v.Kind() == jsontext.KindString {
		if text, err = p.text(field); err != nil || text == "" {
			return 0, false, err
		}
	}
	n, err = parseCount(text)
	if err != nil {
		return 0, false, &PayloadError{
			Reason: CodeBadRequest, Field: field, Found: clip(v.String()), Expected: "a whole number of at least 0", Err: err,
		}
	}
	return n, true, nil
}

// after reads after_execution; absent is "".
func (p payload) after() (AfterExecution, error) {
	s, err := p.text(keyAfterExecution)
	if err != nil {
		return "", invalidAfter(err)
	}
	a := AfterExecution(s)
	if s != "" && !a.Valid() {
		return "", &PayloadError{Reason: CodeInvalidAfterExecution, Field: keyAfterExecution, Found: Shown(s), Expected: "suspend or terminate"}
	}
	return a, nil
}

func invalidAfter(err error) error {
	if p, ok := errors.AsType[*PayloadError](err); ok {
		p.Reason = CodeInvalidAfterExecution
	}
	return err
}

// controlTexts are the control fields that the older form has in the payload, with the matching fields of the context.
var controlTexts = []struct {
	field string
	of    func(*Context) *string
}{
	{"project_id", func(c *Context) *string { return &c.ProjectID }},
	{"channel_id", func(c *Context) *string { return &c.ChannelID }},
	{"channel", func(c *Context) *string { return &c.ChannelID }},
	{"agent_id", func(c *Context) *string { return &c.AgentID }},
	{"agent_turn_id", func(c *Context) *string { return &c.TurnID }},
	{"step_id", func(c *Context) *string { return &c.StepID }},
	{"tool_call_id", func(c *Context) *string { return &c.ToolCallID }},
	{"parent_agent_id", func(c *Context) *string { return &c.ParentAgentID }},
	{"parent_agent_turn_id", func(c *Context) *string { return &c.ParentTurnID }},
	{"parent_step_id", func(c *Context) *string { return &c.ParentStepID }},
	{"traceparent", func(c *Context) *string { return &c.Traceparent }},
	{"tracestate", func(c *Context) *string { return &c.Tracestate }},
	{"parent_traceparent", func(c *Context) *string { return &c.ParentTraceparent }},
}

// control merges the payload's control fields into the context of the headers: a header takes precedence, an equal
// value is accepted, a different one is refused (UTP, "Commands"; U-01).
func (p payload) control(c Context) (Context, error) {
	for _, f := range controlTexts {
		v, err := p.text(f.field)
		if err != nil {
			return c, err
		}
		if v == "" {
			continue
		}
		if f.field == "traceparent" || f.field == "parent_traceparent" {
			v = strings.ToLower(v)
		}
		value := f.of(&c)
		if *value != "" && *value != v {
			return c, disagree(f.field, v, *value)
		}
		*value = v
	}
	c, err := p.controlNumbers(c)
	if err != nil {
		return c, err
	}
	if err := p.controlTrace(c); err != nil {
		return c, err
	}
	if err := c.check(); err != nil {
		return c, &PayloadError{Reason: CodeBadRequest, Field: "of control", Found: "refused: " + err.Error(), Expected: "valid control fields", Err: err}
	}
	return c, nil
}

func (p payload) controlNumbers(c Context) (Context, error) {
	epoch, _, err := p.number("turn_epoch")
	if err != nil {
		return c, err
	}
	if epoch > 0 {
		if c.TurnEpoch > 0 && c.TurnEpoch != epoch {
			return c, disagree("turn_epoch", strconv.Itoa(epoch), strconv.Itoa(c.TurnEpoch))
		}
		c.TurnEpoch = epoch
	}
	depth, present, err := p.number("recursion_depth")
	if err != nil {
		return c, err
	}
	if present {
		if !c.DepthAbsent && c.RecursionDepth != depth {
			return c, disagree("recursion_depth", strconv.Itoa(depth), strconv.Itoa(c.RecursionDepth))
		}
		c.RecursionDepth, c.DepthAbsent = depth, false
	}
	return c, nil
}

// controlTrace checks that a trace_id matches the traceparent.
func (p payload) controlTrace(c Context) error {
	text, err := p.text("trace_id")
	if err != nil || text == "" {
		return err
	}
	id, err := ParseTraceID(text)
	if err != nil {
		return &PayloadError{Reason: CodeBadRequest, Field: "trace_id", Found: Shown(text), Expected: "a trace id", Err: err}
	}
	if c.Traceparent == "" {
		return nil
	}
	if _, trace, err := ParseTraceparent(c.Traceparent); err == nil && trace != id {
		return disagree("trace_id", id, trace)
	}
	return nil
}

func disagree(field, found, header string) error {
	return &PayloadError{Reason: CodeBadRequest, Field: field, Found: Shown(found), Expected: Shown(header) + ", as the header says"}
}

// clip shortens a text of unknown length for an error message.
func clip(s string) string {
	if len(s) <= 2*maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:2*maxShown], "") + "…"
}
