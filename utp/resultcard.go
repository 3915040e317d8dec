package utp

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	typeToolResult = "ToolResultContent"
	roleTool       = "tool"
)

// ResultCard is the content of a tool.result card (UTP, "Cards" and "Results").
type ResultCard struct {
	ID           string
	Project      string
	AuthorID     string // the tool service, for example tool.files
	CreatedAt    time.Time
	ToolCallID   string
	FunctionName string
	Lineage      Lineage

	Status Status
	// AfterExecution is the service's own choice; if it is empty, Command applies.
	AfterExecution AfterExecution
	// Command is the after_execution of the command, or else of the definition.
	Command AfterExecution
	// Result is any JSON value; nil is null.
	Result jsontext.Value
	// Error is required by the card unless the status is success; [ResultCard.Normalize] creates a missing one.
	Error *ToolError
	// Source is the source of errors that are created here; [SourceTool] if empty.
	Source string
}

type resultContent struct {
	Type           string         `json:"__type__"` //nolint:tagliatelle // the name on the wire
	Status         Status         `json:"status"`
	AfterExecution AfterExecution `json:"after_execution"`
	Result         jsontext.Value `json:"result"`
	Error          jsontext.Value `json:"error"`
}

type resultMetadata struct {
	cardBase

	Role         string `json:"role"`
	FunctionName string `json:"function_name"`
}

// NewToolResult creates the tool.result card of the normalised result. The error is a [*CardError].
func NewToolResult(f ResultCard) (Card, error) {
	f = f.Normalize()
	c := Card{
		ID: f.ID, Project: f.Project, Type: CardToolResult, AuthorID: f.AuthorID,
		CreatedAt: cardInstant(f.CreatedAt), ToolCallID: f.ToolCallID,
	}
	if !validID(f.ToolCallID) {
		return Card{}, c.wrong("the call", Shown(f.ToolCallID), idRule, nil)
	}
	if !validID(f.FunctionName) {
		return Card{}, c.wrong("metadata.function_name", Shown(f.FunctionName), idRule, nil)
	}
	content := resultContent{Type: typeToolResult, Status: f.Status, AfterExecution: f.AfterExecution, Result: f.Result}
	if f.Error != nil {
		raw, err := marshal(f.Error)
		if err != nil {
			return Card{}, c.wrong("content.error", "malformed: "+clip(err.Error()), "valid JSON", err)
		}
		content.Error = raw
	}
	metadata := resultMetadata{
		cardBase: cardBase{
			Type: CardToolResult, ProjectID: f.Project, AuthorID: f.AuthorID,
			CreatedAt: c.CreatedAt.Format(cardTime), ToolCallID: f.ToolCallID, Lineage: f.Lineage,
		},
		Role: roleTool, FunctionName: f.FunctionName,
	}
	return seal(c, f.Lineage, content, metadata)
}

// Report returns the payload that reports the card and agrees with it.
func (f ResultCard) Report() Report {
	f = f.Normalize()
	return Report{AfterExecution: f.AfterExecution, Status: f.Status, ToolResultCardID: f.ID}
}

// Normalize makes the result consistent (UTP, "Results"). It is idempotent. Afterwards the status is one of the five, a
// success has no error, a failure has an error and a result that repeats it, the result is JSON, and AfterExecution is
// the effective value, so that card and report agree (U-22).
func (f ResultCard) Normalize() ResultCard {
	f.Source = orDefault(f.Source, SourceTool)
	if !f.Status.Valid() {
		f = f.fail(CodeInvalidStatus, "the status "+Shown(string(f.Status))+" is none of the five")
	}
	if f.AfterExecution != "" && !f.AfterExecution.Valid() {
		f = f.fail(CodeInvalidAfterExecution, "after_execution "+Shown(string(f.AfterExecution))+" is neither suspend nor terminate")
		f.AfterExecution = Suspend
	}
	f = f.checkResult()
	switch {
	case f.Error != nil:
		f.Error = f.Error.from(f.Source)
		if f.Status == StatusSuccess {
			f.Status = StatusFailed
		}
	case f.Status != StatusSuccess:
		f.Error = derivedError(f.Result, f.Source)
	default:
	}
	if f.Error != nil && f.Result.Kind() == jsontext.KindNull {
		f.Result = failureResult(f.Error)
	}
	f.AfterExecution = EffectiveAfter(f.Result, f.AfterExecution, f.Command)
	return f
}

func (f ResultCard) fail(code Code, message string) ResultCard {
	f.Status = StatusFailed
	f.Error = &ToolError{Code: code, Message: message, Source: f.Source}
	return f
}

// checkResult replaces a result that is not JSON, and retains what is known of it.
func (f ResultCard) checkResult() ResultCard {
	if len(f.Result) == 0 {
		f.Result = jsontext.Value("null")
		return f
	}
	if f.Result.IsValid() {
		return f
	}
	detail := struct {
		Type     string     `json:"type"`
		Original *ToolError `json:"original_error,omitzero"`
	}{Type: "bytes", Original: f.Error}
	raw, err := json.Marshal(detail)
	if err != nil {
		raw = nil // the original error is not JSON either
	}
	f = f.fail(CodeResultNotSerializable, "the result is not JSON")
	f.Error.Detail = raw
	f.Result = jsontext.Value("null")
	return f
}

// from fills in what a card requires and drops a detail that is not JSON.
func (e *ToolError) from(source string) *ToolError {
	out := *e
	out.Source = orDefault(out.Source, source)
	if len(out.Detail) > 0 && !out.Detail.IsValid() {
		out = ToolError{Code: CodeErrorNotSerializable, Message: "the detail of " + string(e.Code) + " is not JSON", Source: out.Source}
	}
	return out.filled()
}

// derivedError creates the error for an unsuccessful result without one.
func derivedError(result jsontext.Value, source string) *ToolError {
	var m map[string]jsontext.Value
	if result.Kind() == jsontext.KindBeginObject && json.Unmarshal(result, &m) == nil {
		if e := NormalizeError(m["error"], CodeUnknownError, source); e != nil {
			return e
		}
		code, message := firstText(m, "error_code"), firstText(m, "error_message")
		if code != "" || message != "" {
			e := ToolError{Code: Code(code), Message: message, Source: source, Detail: firstValue(m, "error_detail")}
			return e.unsaid()
		}
	}
	return (&ToolError{Code: CodeUnknownError, Source: source}).filled()
}

// failureResult repeats the error for readers that only read the result.
func failureResult(e *ToolError) jsontext.Value {
	raw, err := marshal(struct {
		Code    Code           `json:"error_code"`
		Message string         `json:"error_message"`
		Detail  jsontext.Value `json:"error_detail,omitzero"`
		Error   *ToolError     `json:"error"`
	}{Code: e.Code, Message: e.Message, Detail: e.Detail, Error: e})
	if err != nil {
		return jsontext.Value("null")
	}
	return raw
}

// DecodeToolResult reads a tool.result card, including those of third-party services, and normalises it: an unknown
// status becomes failed with invalid_status, and an error in any known shape is converted. If the card does not say
// what follows, the first valid value of otherwise applies (as in [EffectiveAfter]). The error is a [*CardError];
// callers treat an unreadable card as a failed result.
func DecodeToolResult(c Card, otherwise ...AfterExecution) (ResultCard, error) {
	if err := c.expect(CardToolResult); err != nil {
		return ResultCard{}, err
	}
	var content resultContent
	if err := c.decode("content", c.Content, &content); err != nil {
		return ResultCard{}, err
	}
	if err := c.expectContent(content.Type, typeToolResult); err != nil {
		return ResultCard{}, err
	}
	var metadata resultMetadata
	if err := c.decode("metadata", c.Metadata, &metadata); err != nil {
		return ResultCard{}, err
	}
	if err := c.sameCall(metadata.ToolCallID); err != nil {
		return ResultCard{}, err
	}
	if !validID(metadata.FunctionName) {
		return ResultCard{}, c.wrong("metadata.function_name", Shown(metadata.FunctionName), idRule, nil)
	}
	f := ResultCard{
		ID: c.ID, Project: c.Project, AuthorID: c.AuthorID, CreatedAt: c.CreatedAt, ToolCallID: c.ToolCallID,
		FunctionName: metadata.FunctionName, Lineage: metadata.Lineage,
		Status: content.Status, AfterExecution: content.AfterExecution, Result: content.Result,
		Command: EffectiveAfter(nil, otherwise...),
		Error:   NormalizeError(content.Error, CodeUnknownError, SourceTool),
	}
	return f.Normalize(), nil
}
