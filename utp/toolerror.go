package utp

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Sources of a [ToolError] (UTP, "Results").
const (
	SourceTool     = "tool"     // a tool service
	SourceWorker   = "worker"   // an agent worker, or the kernel in its place
	SourceWatchdog = "watchdog" // a deadline
)

// ToolError is the error of a result that is not a success (UTP, "Results").
type ToolError struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Source  string         `json:"source"`
	Detail  jsontext.Value `json:"detail,omitzero"`
	// Retryable reports whether the sender expects another attempt to succeed without harm. It is always written,
	// because a missing value must not be read as true.
	Retryable bool `json:"retryable"`
	// HTTPStatus is left out when 0.
	HTTPStatus int `json:"http_status,omitzero"`
}

// Untouched returns a copy of the error whose detail says that nothing was changed before it. That is the service's own
// statement, which no one else can verify.
func (e *ToolError) Untouched() *ToolError {
	out := *e
	out.Detail = jsontext.Value(`{"effect":"none"}`)
	return &out
}

// IsUntouched reports whether the error says that nothing was changed before it.
func (e *ToolError) IsUntouched() bool {
	var detail struct {
		Effect string `json:"effect"`
	}
	return len(e.Detail) > 0 && json.Unmarshal(e.Detail, &detail) == nil && detail.Effect == "none"
}

func (e *ToolError) Error() string { return string(e.Code) + ": " + e.Message }

// NormalizeError reads an error in any of the shapes that services send: the object with code and message, the older
// one with error_code, error_message and error_detail, a bare string, or anything else, which becomes the message with
// the fallback code. The source replaces a missing one. An absent or null value returns nil (UTP, "Results").
func NormalizeError(raw jsontext.Value, fallback Code, source string) *ToolError {
	switch raw.Kind() {
	case jsontext.KindNull:
		return nil
	case jsontext.KindInvalid:
		if len(raw) == 0 {
			return nil
		}
		return notSerializable(source)
	case jsontext.KindBeginObject:
		return normalizeObject(raw, fallback, source)
	case jsontext.KindString:
		message, ok := plainText(raw)
		if !ok {
			return notSerializable(source)
		}
		return (&ToolError{Code: fallback, Message: message, Source: source}).unsaid()
	default:
		if !raw.IsValid() {
			return notSerializable(source)
		}
		return (&ToolError{Code: fallback, Message: clip(raw.String()), Source: source}).unsaid()
	}
}

func notSerializable(source string) *ToolError {
	return (&ToolError{Code: CodeErrorNotSerializable, Message: "the error is not JSON", Source: source}).filled()
}

func normalizeObject(raw jsontext.Value, fallback Code, source string) *ToolError {
	// Each member is decoded separately: a wrong type in one must not lose the others.
	var m map[string]jsontext.Value
	if json.Unmarshal(raw, &m) != nil {
		return notSerializable(source)
	}
	code := firstText(m, "code", "error_code")
	e := &ToolError{
		Code: Code(code), Message: firstText(m, "message", "error_message"),
		Source: firstText(m, "source"), Detail: firstValue(m, "detail", "error_detail"),
	}
	if code == "" {
		e.Code = fallback
		if e.Message == "" {
			e.Message = clip(raw.String())
		}
	}
	e.Source = orDefault(e.Source, source)
	if status, err := strconv.Atoi(m["http_status"].String()); err == nil && status >= 100 && status <= 599 {
		e.HTTPStatus = status
	}
	switch m["retryable"].Kind() {
	case jsontext.KindTrue:
		e.Retryable = true
	case jsontext.KindFalse:
	default:
		return e.unsaid()
	}
	return e.filled()
}

// unsaid sets Retryable of an error whose sender did not: it is true only for a code that proves a retry harmless.
func (e *ToolError) unsaid() *ToolError {
	out := e.filled()
	out.Retryable = out.Code.Retryable() && out.Code.SafeToRetry()
	return out
}

// filled adds what a card requires to an error: a code, a message and a source.
func (e *ToolError) filled() *ToolError {
	out := *e
	if strings.TrimSpace(string(out.Code)) == "" {
		out.Code = CodeUnknownError
	}
	if strings.TrimSpace(out.Message) == "" {
		out.Message = strings.ReplaceAll(string(out.Code), "_", " ")
	}
	out.Source = orDefault(out.Source, SourceTool)
	return &out
}

// firstText returns the first of the members that is a non-blank string.
func firstText(m map[string]jsontext.Value, names ...string) string {
	for _, name := range names {
		if s, ok := plainText(m[name]); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// firstValue returns the first of the members that is present and not null.
func firstValue(m map[string]jsontext.Value, names ...string) jsontext.Value {
	for _, name := range names {
		if v := m[name]; len(v) > 0 && v.Kind() != jsontext.KindNull {
			return v
		}
	}
	return nil
}

// plainText returns the value of a JSON string.
func plainText(v jsontext.Value) (string, bool) {
	if v.Kind() != jsontext.KindString {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, v)
	return string(text), err == nil
}
