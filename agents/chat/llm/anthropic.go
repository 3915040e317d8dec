package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// defaultOutput is the limit of an answer for an API that needs one.
const defaultOutput = 8192

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []jsontext.Value `json:"content"`
}

type anthropicTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	InputSchema jsontext.Value `json:"input_schema"`
}

// cached asks the server to keep what comes before and with this block, so that the next request costs less.
type cached struct {
	Type string `json:"type"`
}

type anthropicText struct {
	Type  string  `json:"type"`
	Text  string  `json:"text"`
	Cache *cached `json:"cache_control,omitzero"`
}

type anthropicResult struct {
	Type    string  `json:"type"`
	Call    string  `json:"tool_use_id"`
	Content string  `json:"content"`
	Failed  bool    `json:"is_error,omitzero"`
	Cache   *cached `json:"cache_control,omitzero"`
}

type anthropicCall struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

func encodeAnthropic(q Request) ([]byte, error) {
	body := struct {
		Model     string             `json:"model"`
		MaxTokens int                `json:"max_tokens"`
		Stream    bool               `json:"stream"`
		System    []anthropicText    `json:"system,omitzero"`
		Tools     []anthropicTool    `json:"tools,omitzero"`
		Messages  []anthropicMessage `json:"messages"`
	}{Model: q.Model, MaxTokens: q.MaxOutput, Stream: true, Messages: []anthropicMessage{}}
	if body.MaxTokens == 0 {
		body.MaxTokens = defaultOutput
	}
	ephemeral := &cached{Type: "ephemeral"}
	if q.System != "" {
		body.System = []anthropicText{{Type: "text", Text: q.System, Cache: ephemeral}}
	}
	for _, t := range q.Tools {
		body.Tools = append(body.Tools, anthropicTool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters})
	}
	for i, m := range q.Messages {
		last := (*cached)(nil)
		if i == len(q.Messages)-1 {
			last = ephemeral
		}
		encoded, err := anthropicMessageOf(m, last)
		if err != nil {
			return nil, err
		}
		body.Messages = append(body.Messages, encoded)
	}
	return marshal(body)
}

func anthropicMessageOf(m Message, last *cached) (anthropicMessage, error) {
	out := anthropicMessage{Role: "user"}
	var blocks []any
	switch {
	case m.Answer != nil:
		out.Role = "assistant"
		if m.Answer.Wire == Anthropic && len(m.Answer.Raw) > 0 {
			return out, read(m.Answer.Raw, &out.Content)
		}
		if m.Answer.Text != "" {
			blocks = append(blocks, anthropicText{Type: "text", Text: m.Answer.Text})
		}
		for _, c := range m.Answer.Calls {
			blocks = append(blocks, anthropicCall{Type: "tool_use", ID: c.ID, Name: c.Name, Input: object(c.Args)})
		}
	case len(m.Results) > 0:
		for i, r := range m.Results {
			block := anthropicResult{Type: "tool_result", Call: r.Call, Content: r.Text, Failed: r.Failed}
			if i == len(m.Results)-1 {
				block.Cache = last
			}
			blocks = append(blocks, block)
		}
	default:
		blocks = append(blocks, anthropicText{Type: "text", Text: m.Text, Cache: last})
	}
	for _, b := range blocks {
		raw, err := marshal(b)
		if err != nil {
			return out, err
		}
		out.Content = append(out.Content, raw)
	}
	return out, nil
}

// anthropicBlock is a block of the answer while it comes. Members that nothing here knows stay as they came.
type anthropicBlock struct {
	members                          map[string]jsontext.Value
	kind                             string
	id, name                         string
	text, thinking, signature, input strings.Builder
}

type anthropicDecoder struct {
	blocks []*anthropicBlock
	usage  Usage
	stop   string
	whole  bool
}

type anthropicEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage anthropicUsage `json:"usage"`
	} `json:"message"`
	Block map[string]jsontext.Value `json:"content_block"`
	Delta struct {
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		Input      string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage anthropicUsage `json:"usage"`
	Error *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

type anthropicUsage struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Output     int `json:"output_tokens"`
}

func (d *anthropicDecoder) Event(data []byte) (string, error) {
	var e anthropicEvent
	if err := read(data, &e); err != nil {
		return "", err
	}
	switch e.Type {
	case "message_start":
		d.usage.Input = e.Message.Usage.Input + e.Message.Usage.CacheRead + e.Message.Usage.CacheWrite
		d.usage.Output = e.Message.Usage.Output
	case "content_block_start":
		return d.begin(e)
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(d.blocks) {
			return "", fmt.Errorf("%w: block %d has not begun", ErrMalformed, e.Index)
		}
		b := d.blocks[e.Index]
		b.text.WriteString(e.Delta.Text)
		b.thinking.WriteString(e.Delta.Thinking)
		b.signature.WriteString(e.Delta.Signature)
		b.input.WriteString(e.Delta.Input)
		return e.Delta.Text, nil
	case "message_delta":
		d.stop, d.usage.Output = e.Delta.StopReason, max(d.usage.Output, e.Usage.Output)
	case "message_stop":
		d.whole = true
	case "error":
		failure := &ServerError{Status: statusOverloaded}
		if e.Error != nil {
			failure.Message = e.Error.Message
		}
		return "", failure
	}
	return "", nil
}

func (d *anthropicDecoder) begin(e anthropicEvent) (string, error) {
	if e.Index != len(d.blocks) {
		return "", fmt.Errorf("%w: block %d came after %d blocks", ErrMalformed, e.Index, len(d.blocks))
	}
	b := &anthropicBlock{members: e.Block}
	for name, into := range map[string]*string{"type": &b.kind, "id": &b.id, "name": &b.name} {
		if raw, is := e.Block[name]; is {
			if err := read(raw, into); err != nil {
				return "", err
			}
		}
	}
	text := ""
	if raw, is := e.Block["text"]; is && b.kind == "text" {
		if err := read(raw, &text); err != nil {
			return "", err
		}
		b.text.WriteString(text)
	}
	d.blocks = append(d.blocks, b)
	return text, nil
}

func (d *anthropicDecoder) Answer() (Answer, error) {
	if !d.whole {
		return Answer{}, ErrIncomplete
	}
	a := Answer{Usage: d.usage, Wire: Anthropic, Stop: Ended}
	switch d.stop {
	case "max_tokens", "model_context_window_exceeded":
		a.Stop = Truncated
	case "refusal":
		a.Stop = Refused
	}
	raw := []map[string]jsontext.Value{}
	for _, b := range d.blocks {
		switch b.kind {
		case "text":
			a.Text += b.text.String()
		case "tool_use":
			a.Calls = append(a.Calls, Call{ID: b.id, Name: b.name, Args: b.args()})
		}
		if b.kind == "text" && b.text.Len() == 0 {
			continue // the API refuses an empty text in the next request
		}
		members, err := b.final()
		if err != nil {
			return a, err
		}
		raw = append(raw, members)
	}
	if len(raw) == 0 {
		return a, nil
	}
	var err error
	a.Raw, err = marshal(raw)
	return a, err
}

// args returns the arguments of a call: those that came in pieces, else those that it began with.
func (b *anthropicBlock) args() string {
	if b.input.Len() > 0 {
		return b.input.String()
	}
	if raw, is := b.members["input"]; is {
		return string(raw)
	}
	return "{}"
}

// final returns the block with what came in pieces.
func (b *anthropicBlock) final() (map[string]jsontext.Value, error) {
	out := maps.Clone(b.members)
	if b.kind == "tool_use" {
		out["input"] = object(b.args())
	}
	for name, text := range map[string]*strings.Builder{"text": &b.text, "thinking": &b.thinking, "signature": &b.signature} {
		if text.Len() == 0 {
			continue
		}
		raw, err := marshal(text.String())
		if err != nil {
			return nil, err
		}
		out[name] = raw
	}
	return out, nil
}

func marshal(value any) (jsontext.Value, error) {
	raw, err := json.Marshal(value, json.Deterministic(true), jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	return slices.Clip(raw), nil
}

// read decodes what a server sent, which may have members that nothing here knows.
func read(raw []byte, into any) error {
	if err := json.Unmarshal(raw, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
