package fakemodel_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit/fakemodel"
)

// each runs a test in every wire format, streamed and whole.
func each(t *testing.T, test func(t *testing.T, c client, stream bool)) {
	t.Helper()
	for _, c := range clients {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streamed %v", c.wire, stream), func(t *testing.T) {
				t.Parallel()
				test(t, c, stream)
			})
		}
	}
}

// TestAnswer: thinking, text and two calls at once arrive whole, with the tokens counted.
func TestAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		model := fakemodel.Start(t, fakemodel.Script{{
			Think: fakemodel.Thought{Text: "I look first.", Signature: "c2ln"}, Say: "I am looking, Zoë.",
			Call: []fakemodel.Call{
				{Tool: "Bash", Args: map[string]any{"command": `echo "hé"`, "n": 3}},
				{Tool: "mail/read"},
			},
			Usage: fakemodel.Usage{Input: 70, CacheRead: 30, Output: 12, Reasoning: 4},
		}})
		got := c.turn(t, model.URL, stream)
		want := heard{
			Thought: "I look first.", Signature: "c2ln", Text: "I am looking, Zoë.", Input: 100, Cached: 30, Output: 12,
			Calls: []fakemodel.ToolCall{{ID: "call_1", Tool: "Bash", Args: `{"command":"echo \"hé\"","n":3}`}, {ID: "call_2", Args: "{}"}},
		}
		switch c.wire {
		case fakemodel.Anthropic:
			want.Stop, want.Calls[1].Tool, want.Input = "tool_use", "mcp__mail__read", 70 // which it counts apart
		case fakemodel.Responses:
			want.Stop, want.Calls[1].Namespace, want.Calls[1].Tool = "completed", "mcp__mail", "read"
		case fakemodel.Chat:
			want.Stop, want.Calls[1].Tool, want.Signature = "tool_calls", "mail-read", "" // it has none
		case fakemodel.Gemini:
			want.Stop, want.Calls[1].Tool = "STOP", "mcp_mail_read"
			want.Calls[0].ID, want.Calls[1].ID = "", ""
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("found    %+v\nexpected %+v", got, want)
		}
	})
}

// TestRequest: what the model was told reads the same in every format.
func TestRequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		model := fakemodel.Start(t, fakemodel.Texts("Hello."))
		if got := c.turn(t, model.URL, stream); got.Text != "Hello." || got.Input != 10 || got.Output != 5 || len(got.Calls) != 0 {
			t.Errorf("found %+v", got)
		}
		r := model.Requests()[0]
		if r.Wire != c.wire || r.Model == "" || r.Stream != stream {
			t.Errorf("found wire %s, model %q, streamed %v", r.Wire, r.Model, r.Stream)
		}
		if c.wire != fakemodel.Chat && r.System != "Be kind." {
			t.Errorf("found system prompt %q", r.System)
		}
		if len(r.Messages) != 2 || r.Messages[0].Role != fakemodel.RoleUser || r.Messages[0].Text != "Hello." || r.Messages[1].Text != "It is Tuesday." {
			t.Errorf("found messages %+v", r.Messages)
		}
		if len(r.Tools) != 3 || r.Tools[0].Name != "Bash" || r.Tools[0].Description != "Runs." || string(r.Tools[0].Schema) != `{"type":"object"}` {
			t.Errorf("found tools %+v", r.Tools)
		}
	})
}

// TestHistory: what clients send back of the model's own answers, and the results of its tools.
func TestHistory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wire       fakemodel.Wire
		path, body string
	}{
		{fakemodel.Anthropic, "/v1/messages", `{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},
			{"type":"tool_use","id":"call_1","name":"read","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"one"},{"type":"image","source":{}}]}]}]}`},
		{fakemodel.Responses, "/v1/responses", `{"input":[{"role":"user","content":"Go."},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"c2ln"},
			{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"one"},{"type":"image"}]}]}`},
		{fakemodel.Chat, "/v1/chat/completions", `{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]},
			{"role":"tool","tool_call_id":"call_1","content":"one\n[image]"}]}`},
		{fakemodel.Gemini, "/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"text":"Hm.","thought":true,"thoughtSignature":"c2ln"},
			{"functionCall":{"id":"call_1","name":"read","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"read","response":{"output":"one\n[image]"}}}]}]}`},
	} {
		t.Run(string(tt.wire), func(t *testing.T) {
			t.Parallel()
			model := fakemodel.Start(t, fakemodel.Script{{When: "one", Say: "I see."}})
			if status, _, raw := post(t, model.URL+tt.path, strings.NewReader(tt.body)); status != http.StatusOK {
				t.Fatalf("found status %d: %s", status, raw)
			}
			r := model.Requests()[0]
			var thoughts []fakemodel.Thought
			var calls []fakemodel.ToolCall
			for _, m := range r.Messages {
				thoughts, calls = append(thoughts, m.Thoughts...), append(calls, m.Calls...)
			}
			if want := "Hm."; len(thoughts) != 1 || thoughts[0].Text != want || thoughts[0].Signature != "c2ln" && tt.wire != fakemodel.Chat {
				t.Errorf("found thoughts %+v", thoughts)
			}
			if want := []fakemodel.ToolCall{{ID: "call_1", Tool: "read", Args: `{"a":1}`}}; !reflect.DeepEqual(calls, want) {
				t.Errorf("found calls %+v, expected %+v", calls, want)
			}
			results := r.Results()
			if len(results) != 1 || results[0].ID != "call_1" || results[0].Text != "one\n[image]" {
				t.Errorf("found results %+v", results)
			}
		})
	}
}

// TestFailure: an error of HTTP in each format, after which the client asks again.
func TestFailure(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		model := fakemodel.Start(t, fakemodel.Script{
			{Fail: fakemodel.Failure{Status: 429, Message: "Too fast.", RetryAfter: "2"}},
			{Fail: fakemodel.Failure{Status: 400, Kind: "odd", Message: "Odd."}},
			{Say: "Hello."},
		})
		status, header, raw := c.ask(t, model.URL, stream)
		word := map[fakemodel.Wire]string{fakemodel.Gemini: "RESOURCE_EXHAUSTED"}[c.wire]
		if word == "" {
			word = "rate_limit_error"
		}
		if status != 429 || header.Get("Retry-After") != "2" || !strings.Contains(string(raw), word) || !strings.Contains(string(raw), "Too fast.") {
			t.Errorf("found status %d, headers %v: %s", status, header, raw)
		}
		if status, _, raw := c.ask(t, model.URL, stream); status != 400 || !strings.Contains(string(raw), `"odd"`) {
			t.Errorf("found status %d: %s", status, raw)
		}
		if got := c.turn(t, model.URL, stream); got.Text != "Hello." {
			t.Errorf("found %+v", got)
		}
	})
}

// TestTruncated: an answer that has reached its limit says so.
func TestTruncated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		model := fakemodel.Start(t, fakemodel.Script{{Say: "Once upon a", Truncated: true}})
		want := map[fakemodel.Wire]string{
			fakemodel.Anthropic: "max_tokens", fakemodel.Responses: "incomplete", fakemodel.Chat: "length", fakemodel.Gemini: "MAX_TOKENS",
		}[c.wire]
		if got := c.turn(t, model.URL, stream); got.Stop != want || got.Text != "Once upon a" {
			t.Errorf("found %+v, expected it to stop with %s", got, want)
		}
	})
}

// TestGeminiArray: without alt=sse Gemini streams one array of JSON.
func TestGeminiArray(t *testing.T) {
	t.Parallel()
	model := fakemodel.Start(t, fakemodel.Texts("Good morning."))
	_, _, raw := post(t, model.URL+"/v1beta/models/m:streamGenerateContent", strings.NewReader(`{"contents":[]}`))
	if chunks := read[[]any](t, raw); len(chunks) != 3 {
		t.Errorf("found %d chunks, expected 3: %s", len(chunks), raw)
	}
}

// TestRedacted: a block of thinking that Anthropic has encrypted.
func TestRedacted(t *testing.T) {
	t.Parallel()
	model := fakemodel.Start(t, fakemodel.Script{{Think: fakemodel.Thought{Redacted: "c2VjcmV0"}, Say: "Hello."}})
	if _, _, raw := clients[0].ask(t, model.URL, true); !strings.Contains(string(raw), `{"data":"c2VjcmV0","type":"redacted_thinking"}`) {
		t.Errorf("found %s", raw)
	}
}
