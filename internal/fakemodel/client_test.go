package fakemodel_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/fakemodel"
)

// heard is an answer as a client puts it together.
type heard struct {
	Thought, Signature, Text string
	Calls                    []fakemodel.ToolCall
	Stop                     string
	Input, Cached, Output    int
}

// client asks in one of the wire formats.
type client struct {
	wire     fakemodel.Wire
	path     string // of a whole answer
	streamed string // of a streamed one; empty is the same path
	body     string // STREAM stands for whether to stream
	hear     func(t *testing.T, data [][]byte, streamed bool) heard
}

// Requests as the real programs send them, cut to what matters: a first one, with tools of two servers.
var clients = []client{
	{
		wire: fakemodel.Anthropic, path: "/v1/messages?beta=true",
		body: `{"model":"claude-opus","max_tokens":100,"stream":STREAM,"system":[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"Hello."}]},{"role":"system","content":"It is Tuesday."}],
			"tools":[{"name":"Bash","description":"Runs.","input_schema":{"type":"object"}},{"name":"mcp__files__read","input_schema":{}},{"name":"mcp__mail__read","input_schema":{}}]}`,
		hear: hearAnthropic,
	},
	{
		wire: fakemodel.Responses, path: "/v1/responses",
		body: `{"model":"gpt","stream":STREAM,"instructions":"Be kind.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello."}]},
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"It is Tuesday."}]}],
			"tools":[{"type":"function","name":"Bash","description":"Runs.","parameters":{"type":"object"}},{"type":"web_search"},
			{"type":"namespace","name":"mcp__files","tools":[{"type":"function","name":"read"}]},{"type":"namespace","name":"mcp__mail","tools":[{"type":"function","name":"read"}]}]}`,
		hear: hearResponses,
	},
	{
		wire: fakemodel.Chat, path: "/v1/chat/completions",
		body: `{"model":"qwen","stream":STREAM,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hello."},{"role":"system","content":"It is Tuesday."}],
			"tools":[{"type":"function","function":{"name":"Bash","description":"Runs.","parameters":{"type":"object"}}},
			{"type":"function","function":{"name":"files-read"}},{"type":"function","function":{"name":"mail-read"}}]}`,
		hear: hearChat,
	},
	{
		wire: fakemodel.Gemini, path: "/v1beta/models/gemini-pro:generateContent", streamed: "/v1beta/models/gemini-pro:streamGenerateContent?alt=sse",
		body: `{"systemInstruction":{"role":"user","parts":[{"text":"Be kind."}]},"contents":[{"role":"user","parts":[{"text":"Hello."},{"text":"It is Tuesday."}]}],
			"tools":[{"functionDeclarations":[{"name":"Bash","description":"Runs.","parametersJsonSchema":{"type":"object"}},{"name":"mcp_files_read"},{"name":"mcp_mail_read"}]}]}`,
		hear: hearGemini,
	},
}

// request is one as a handler gets it.
func (c client) request(stream bool) *http.Request {
	path, flag := c.path, "false"
	if stream {
		flag = "true"
		if c.streamed != "" {
			path = c.streamed
		}
	}
	return httptest.NewRequest(http.MethodPost, path, strings.NewReader(strings.ReplaceAll(c.body, "STREAM", flag)))
}

// ask sends a request, and returns the status and the body.
func (c client) ask(t *testing.T, url string, stream bool) (int, http.Header, []byte) {
	t.Helper()
	r := c.request(stream)
	return post(t, url+r.URL.String(), r.Body)
}

func post(t *testing.T, url string, body io.Reader) (int, http.Header, []byte) {
	t.Helper()
	response, err := http.Post(url, "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, raw
}

// turn asks and puts the answer together.
func (c client) turn(t *testing.T, url string, stream bool) heard {
	t.Helper()
	status, header, raw := c.ask(t, url, stream)
	if status != http.StatusOK {
		t.Fatalf("found status %d: %s", status, raw)
	}
	if !stream {
		return c.hear(t, [][]byte{raw}, false)
	}
	if kind := header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("found content type %q, expected events", kind)
	}
	data := events(raw)
	if len(data) < 3 {
		t.Errorf("found %d events, expected that the answer comes in pieces", len(data))
	}
	return c.hear(t, data, true)
}

// events are the data of server-sent events.
func events(raw []byte) (data [][]byte) {
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		if after, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			data = append(data, bytes.Clone(after))
		}
	}
	return data
}

func read[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(raw, &value, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return value
}

type anthropicBlock struct {
	Type, Text, Thinking, Signature, ID, Name string
	Input                                     any
}

type anthropicUsage struct {
	Input  int `json:"input_tokens"`
	Cached int `json:"cache_read_input_tokens"`
	Output int `json:"output_tokens"`
}

func hearAnthropic(t *testing.T, data [][]byte, streamed bool) (h heard) {
	t.Helper()
	if !streamed {
		message := read[struct {
			Content    []anthropicBlock `json:"content"`
			StopReason string           `json:"stop_reason"`
			Usage      anthropicUsage   `json:"usage"`
		}](t, data[0])
		for _, block := range message.Content {
			h.Thought, h.Signature, h.Text = h.Thought+block.Thinking, h.Signature+block.Signature, h.Text+block.Text
			if block.Type == "tool_use" {
				args, _ := json.Marshal(block.Input, json.Deterministic(true))
				h.Calls = append(h.Calls, fakemodel.ToolCall{ID: block.ID, Tool: block.Name, Args: string(args)})
			}
		}
		h.Stop, h.Input, h.Cached, h.Output = message.StopReason, message.Usage.Input, message.Usage.Cached, message.Usage.Output
		return h
	}
	for _, raw := range data {
		e := read[struct {
			Type    string `json:"type"`
			Message struct {
				Usage anthropicUsage `json:"usage"`
			} `json:"message"`
			ContentBlock anthropicBlock `json:"content_block"`
			Delta        struct {
				Type, Text, Thinking, Signature string
				PartialJSON                     string `json:"partial_json"`
				StopReason                      string `json:"stop_reason"`
			} `json:"delta"`
			Usage anthropicUsage `json:"usage"`
		}](t, raw)
		switch e.Type {
		case "message_start":
			h.Input, h.Cached = e.Message.Usage.Input, e.Message.Usage.Cached
		case "content_block_start":
			if e.ContentBlock.Type == "tool_use" {
				h.Calls = append(h.Calls, fakemodel.ToolCall{ID: e.ContentBlock.ID, Tool: e.ContentBlock.Name})
			}
		case "content_block_delta":
			h.Thought, h.Signature, h.Text = h.Thought+e.Delta.Thinking, h.Signature+e.Delta.Signature, h.Text+e.Delta.Text
			if e.Delta.Type == "input_json_delta" {
				h.Calls[len(h.Calls)-1].Args += e.Delta.PartialJSON
			}
		case "message_delta":
			h.Stop, h.Output = e.Delta.StopReason, e.Usage.Output
		}
	}
	return h
}

func hearResponses(t *testing.T, data [][]byte, streamed bool) (h heard) {
	t.Helper()
	type item struct {
		Type, Namespace, Name, Arguments string
		CallID                           string `json:"call_id"`
		EncryptedContent                 string `json:"encrypted_content"`
		Summary, Content                 []struct{ Text string }
	}
	type response struct {
		Status string
		Output []item
		Usage  struct {
			Input   int `json:"input_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			Output int `json:"output_tokens"`
		}
	}
	take := func(i item) {
		for _, part := range i.Summary {
			h.Thought += part.Text
		}
		h.Signature += i.EncryptedContent
		for _, part := range i.Content {
			h.Text += part.Text
		}
		if i.Type == "function_call" {
			h.Calls = append(h.Calls, fakemodel.ToolCall{ID: i.CallID, Namespace: i.Namespace, Tool: i.Name, Args: i.Arguments})
		}
	}
	last := data[0]
	if streamed {
		end := read[struct{ Response any }](t, data[len(data)-1])
		last, _ = json.Marshal(end.Response)
	}
	whole := read[response](t, last)
	h.Stop, h.Input, h.Cached, h.Output = whole.Status, whole.Usage.Input, whole.Usage.Details.Cached, whole.Usage.Output
	if !streamed {
		for _, i := range whole.Output {
			take(i)
		}
		return h
	}
	var text, args string
	for n, raw := range data {
		e := read[struct {
			Type, Delta string
			Number      int `json:"sequence_number"`
			Item        item
		}](t, raw)
		if e.Number != n {
			t.Errorf("found event %d numbered %d", n, e.Number)
		}
		switch e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.function_call_arguments.delta":
			args += e.Delta
		case "response.output_item.done":
			take(e.Item)
			if e.Item.Type == "function_call" && args != e.Item.Arguments {
				t.Errorf("found %q in pieces, expected %q", args, e.Item.Arguments)
			}
			args = ""
		}
	}
	if text != h.Text {
		t.Errorf("found %q in pieces, expected %q", text, h.Text)
	}
	return h
}

func hearChat(t *testing.T, data [][]byte, streamed bool) (h heard) {
	t.Helper()
	type message struct {
		Content   string `json:"content"`
		Reasoning string `json:"reasoning_content"`
		Calls     []struct {
			Index    int                              `json:"index"`
			ID       string                           `json:"id"`
			Function struct{ Name, Arguments string } `json:"function"`
		} `json:"tool_calls"`
	}
	if streamed && string(data[len(data)-1]) != "[DONE]" {
		t.Errorf("found %q last, expected [DONE]", data[len(data)-1])
	}
	for _, raw := range data {
		if string(raw) == "[DONE]" {
			break
		}
		chunk := read[struct {
			Choices []struct {
				Message, Delta message
				Finish         string `json:"finish_reason"`
			}
			Usage struct {
				Input   int `json:"prompt_tokens"`
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
				Output int `json:"completion_tokens"`
			}
		}](t, raw)
		h.Input, h.Cached, h.Output = h.Input+chunk.Usage.Input, h.Cached+chunk.Usage.Details.Cached, h.Output+chunk.Usage.Output
		for _, choice := range chunk.Choices {
			m := choice.Message
			if streamed {
				m = choice.Delta
			}
			h.Thought, h.Text, h.Stop = h.Thought+m.Reasoning, h.Text+m.Content, h.Stop+choice.Finish
			for i, call := range m.Calls {
				if !streamed {
					call.Index = i
				}
				if call.ID != "" {
					h.Calls = append(h.Calls, fakemodel.ToolCall{ID: call.ID, Tool: call.Function.Name})
				}
				h.Calls[call.Index].Args += call.Function.Arguments
			}
		}
	}
	return h
}

func hearGemini(t *testing.T, data [][]byte, _ bool) (h heard) {
	t.Helper()
	for _, raw := range data {
		chunk := read[struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text             string
						Thought          bool
						ThoughtSignature string
						FunctionCall     *struct {
							Name string
							Args any
						}
					}
				}
				FinishReason string
			}
			UsageMetadata struct {
				PromptTokenCount        int
				CachedContentTokenCount int
				CandidatesTokenCount    int
				ThoughtsTokenCount      int
			}
		}](t, raw)
		u := chunk.UsageMetadata
		h.Input, h.Cached, h.Output = h.Input+u.PromptTokenCount, h.Cached+u.CachedContentTokenCount, h.Output+u.CandidatesTokenCount+u.ThoughtsTokenCount
		for _, part := range chunk.Candidates[0].Content.Parts {
			h.Signature += part.ThoughtSignature
			switch {
			case part.FunctionCall != nil:
				args, _ := json.Marshal(part.FunctionCall.Args, json.Deterministic(true))
				h.Calls = append(h.Calls, fakemodel.ToolCall{Tool: part.FunctionCall.Name, Args: string(args)})
			case part.Thought:
				h.Thought += part.Text
			default:
				h.Text += part.Text
			}
		}
		h.Stop += chunk.Candidates[0].FinishReason
	}
	return h
}
