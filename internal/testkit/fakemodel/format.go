package fakemodel

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// format is one of the wire formats.
type format struct {
	wire    Wire
	decode  func(*http.Request, *Request) error
	whole   func(answer) any
	stream  func(answer) []event
	failure func(Failure) any
}

// object is a JSON object that is written as it stands: the shapes of four APIs read best in one piece.
type object = map[string]any

// event is one of server-sent events. Chat and Gemini give theirs no names.
type event struct {
	name string
	data any
}

// formatOf tells from the path which format a request is in; nil is none.
func formatOf(r *http.Request) *format {
	if r.Method != http.MethodPost {
		return nil
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		return &format{wire: Anthropic, decode: decodeAnthropic, whole: anthropicMessage, stream: anthropicEvents, failure: anthropicFailure}
	case strings.HasSuffix(path, "/responses"):
		return &format{wire: Responses, decode: decodeResponses, whole: responsesWhole, stream: responsesEvents, failure: openaiFailure}
	case strings.HasSuffix(path, "/chat/completions"):
		return &format{wire: Chat, decode: decodeChat, whole: chatCompletion, stream: chatEvents, failure: openaiFailure}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return &format{wire: Gemini, decode: decodeGemini, whole: geminiWhole, stream: geminiEvents, failure: geminiFailure}
	default:
		return nil
	}
}

// stream sends events one by one, each at once.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f *format, a answer) {
	events := f.stream(a)
	write, finish := sse(w)
	if f.wire == Gemini && r.URL.Query().Get("alt") != "sse" {
		write, finish = array(w)
	}
	for i, e := range events {
		if i == len(events)/2 {
			if !s.pass(r.Context(), a.Pause) {
				return
			}
			if a.Cut {
				panic(http.ErrAbortHandler) // the way to break a connection
			}
		}
		if err := write(e); err != nil {
			s.note(fmt.Errorf("turn %d: %w", a.number, err))
			return
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return // the client has gone
		}
	}
	finish()
}

// sse writes server-sent events.
func sse(w http.ResponseWriter) (write func(event) error, finish func()) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(e event) error {
		raw, err := encode(e.data)
		if err != nil {
			return err
		}
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", raw) // a client that has gone is found by the flush
		return nil
	}, func() {}
}

// array writes events as the elements of one array of JSON, which is how Gemini streams unless it is asked for events.
func array(w http.ResponseWriter) (write func(event) error, finish func()) {
	w.Header().Set("Content-Type", "application/json")
	before := "["
	return func(e event) error {
		raw, err := encode(e.data)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "%s%s", before, raw)
		before = ",\n"
		return nil
	}, func() { _, _ = fmt.Fprint(w, "]") }
}

// encode writes JSON. A string is written as it stands: it is the end of a stream of Chat.
func encode(value any) ([]byte, error) {
	if text, ok := value.(string); ok {
		return []byte(text), nil
	}
	raw, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return raw, nil
}

// decode reads JSON as clients write it, also of a key that is there twice: it is theirs to get right.
func decode(raw []byte, into any) error {
	if err := json.Unmarshal(raw, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return fmt.Errorf("decode the request: %w", err)
	}
	return nil
}

// chunks cuts a text as a stream does, between any two runes: three of them, or fewer where it is short.
func chunks(text string) []string {
	const most = 3
	runes := []rune(text)
	size := max((len(runes)+most-1)/most, 1)
	var cut []string
	for ; len(runes) > size; runes = runes[size:] {
		cut = append(cut, string(runes[:size]))
	}
	if len(runes) > 0 {
		cut = append(cut, string(runes))
	}
	return cut
}

// textOf reads what may be a text or a list of parts with texts. Other parts are named by their type.
func textOf(raw jsontext.Value) string {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return ""
	}
	var text string
	if raw.Kind() == '"' {
		_ = decode(raw, &text)
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := decode(raw, &parts); err != nil {
		return string(raw)
	}
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		if part.Text == "" && part.Type != "text" {
			part.Text = "[" + part.Type + "]"
		}
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}

// kindOf is the usual word for a status.
func kindOf(f Failure, words map[int]string, otherwise string) string {
	if f.Kind != "" {
		return f.Kind
	}
	if word, ok := words[f.Status]; ok {
		return word
	}
	return otherwise
}
