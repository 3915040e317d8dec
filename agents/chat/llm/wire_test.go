package llm_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/internal/fakemodel"
)

var update = flag.Bool("update", false, "write the golden files again")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wires are both APIs.
var wires = []llm.Wire{llm.Anthropic, llm.OpenAI}

// conversation has everything that a request can have: an answer of this API and one of another.
func conversation(t *testing.T, wire llm.Wire) llm.Request {
	t.Helper()
	own := answer(t, wire, fakemodel.Turn{
		Think: fakemodel.Thought{Text: "I look.", Signature: "c2ln"}, Say: "I look twice.",
		Call: []fakemodel.Call{{Tool: "files_scan", Args: map[string]any{"root": "/p", "n": 1}}, {Tool: "ask_person", Args: map[string]any{"question": "Which?"}}},
	})
	return llm.Request{
		Model: "m1", System: "Be kind.", MaxOutput: 100,
		Tools: []llm.Tool{
			{Name: "files_scan", Description: "Looks.", Parameters: jsontext.Value(`{"type":"object"}`)},
			{Name: "ask_person", Parameters: jsontext.Value(`{"type":"object","properties":{"question":{"type":"string"}}}`)},
		},
		Messages: []llm.Message{
			{Text: "Find <them> & \"more\"."},
			{Answer: &llm.Answer{Text: "Before.", Wire: "another", Calls: []llm.Call{{ID: "a1", Name: "files_scan", Args: `{"root":`}}}},
			{Results: []llm.Result{{Call: "a1", Text: `{"status":"failed"}`, Failed: true}}},
			{Answer: &own},
			{Results: []llm.Result{{Call: own.Calls[0].ID, Text: `{"status":"success"}`}, {Call: own.Calls[1].ID, Text: `{"status":"success","result":"x"}`}}},
		},
	}
}

// answer lets a scripted model give an answer, and reads it.
func answer(t *testing.T, wire llm.Wire, turn fakemodel.Turn) llm.Answer {
	t.Helper()
	a, text, err := ask(t, wire, turn)
	must(t, err)
	if text != a.Text {
		t.Errorf("the text came as %q, and is %q", text, a.Text)
	}
	return a
}

func ask(t *testing.T, wire llm.Wire, turn fakemodel.Turn) (llm.Answer, string, error) {
	t.Helper()
	server := httptest.NewServer(fakemodel.New(fakemodel.Script{turn}))
	defer server.Close()
	client, err := llm.NewClient(llm.Options{Wire: wire, Endpoint: server.URL})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var text strings.Builder
	a, err := client.Ask(ctx, llm.Request{
		Model: "m1", Messages: []llm.Message{{Text: "Go."}},
		Tools: []llm.Tool{{Name: "files_scan", Parameters: jsontext.Value(`{}`)}, {Name: "ask_person", Parameters: jsontext.Value(`{}`)}},
	}, llm.Listener{
		Text: func(piece string) error {
			_, err := text.WriteString(piece)
			return err
		},
		Again: func(why error, _ time.Duration, _ bool) error { return why },
	})
	return a, text.String(), err
}

// TestEncode: the bodies of both APIs, as files that a person can compare with their documentation.
func TestEncode(t *testing.T) {
	t.Parallel()
	for _, wire := range wires {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			raw, err := wire.Encode(conversation(t, wire))
			must(t, err)
			pretty := jsontext.Value(raw)
			must(t, pretty.Indent(jsontext.WithIndent("  ")))
			pretty = append(pretty, '\n')
			golden := filepath.Join("testdata", string(wire)+".json")
			if *update {
				must(t, os.MkdirAll("testdata", 0o755))
				must(t, os.WriteFile(golden, pretty, 0o600))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if !bytes.Equal(pretty, want) {
				t.Errorf("the body is\n%s\nwant\n%s", pretty, want)
			}
		})
	}
}

// TestAnswers: what a model says, calls and thinks comes through, and what its API wants back goes back unchanged.
func TestAnswers(t *testing.T) {
	t.Parallel()
	scan := fakemodel.Call{Tool: "files_scan", Args: map[string]any{"root": "/p"}}
	for name, tt := range map[string]struct {
		turn  fakemodel.Turn
		text  string
		args  []string
		stop  llm.Stop
		input int
	}{
		"text":         {turn: fakemodel.Turn{Say: "Grüße, 世界."}, text: "Grüße, 世界.", stop: llm.Ended, input: 10},
		"side by side": {turn: fakemodel.Turn{Say: "Two.", Call: []fakemodel.Call{scan, {Tool: "ask_person"}}}, text: "Two.", args: []string{`{"root":"/p"}`, `{}`}, stop: llm.Ended, input: 10},
		"malformed":    {turn: fakemodel.Turn{Call: []fakemodel.Call{{Tool: "files_scan", Raw: `{"root": "/p`}}}, args: []string{`{"root": "/p`}, stop: llm.Ended, input: 10},
		"cut off":      {turn: fakemodel.Turn{Say: "It was", Truncated: true}, text: "It was", stop: llm.Truncated, input: 10},
		"from a cache": {turn: fakemodel.Turn{Say: "Hi.", Usage: fakemodel.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000}}, text: "Hi.", stop: llm.Ended, input: 321},
	} {
		for _, wire := range wires {
			t.Run(name+", "+string(wire), func(t *testing.T) {
				t.Parallel()
				a := answer(t, wire, tt.turn)
				var args []string
				for _, c := range a.Calls {
					args = append(args, c.Args)
				}
				if a.Text != tt.text || strings.Join(args, "\n") != strings.Join(tt.args, "\n") || a.Stop != tt.stop || a.Usage.Input != tt.input || a.Wire != wire {
					t.Errorf("found %+v", a)
				}
				if !a.Raw.IsValid() {
					t.Errorf("what goes back is not JSON: %s", a.Raw)
				}
			})
		}
	}
}

// TestThinkingGoesBack: a block of thinking goes back with its signature, and before the calls.
func TestThinkingGoesBack(t *testing.T) {
	t.Parallel()
	for _, wire := range wires {
		for name, thought := range map[string]fakemodel.Thought{
			"signed": {Text: "Hm.", Signature: "c2lnbmF0dXJl"}, "redacted": {Redacted: "b3BhcXVl"},
		} {
			if wire == llm.OpenAI && name == "redacted" {
				continue // only Anthropic has it
			}
			t.Run(string(wire)+", "+name, func(t *testing.T) {
				t.Parallel()
				a := answer(t, wire, fakemodel.Turn{Think: thought, Call: []fakemodel.Call{{Tool: "files_scan"}}})
				raw, err := json.Marshal(a)
				must(t, err)
				var kept llm.Answer // as it comes out of the ledger
				must(t, json.Unmarshal(raw, &kept))
				body, err := wire.Encode(llm.Request{Model: "m1", Messages: []llm.Message{{Text: "Go."}, {Answer: &kept}, {Results: []llm.Result{{Call: a.Calls[0].ID, Text: "{}"}}}}})
				must(t, err)
				model := fakemodel.New(fakemodel.Say("Done."))
				path := map[llm.Wire]string{llm.Anthropic: "/v1/messages", llm.OpenAI: "/v1/chat/completions"}[wire]
				model.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
				var found []fakemodel.Thought
				for _, m := range model.Requests()[0].Messages {
					found = append(found, m.Thoughts...)
				}
				want := thought
				if wire == llm.OpenAI {
					want.Signature = ""
				}
				if len(found) != 1 || found[0] != want {
					t.Errorf("the model got back %+v; want %+v", found, want)
				}
			})
		}
	}
}

// TestPieces: servers differ in how they cut calls into pieces, and in what they want back with them.
func TestPieces(t *testing.T) {
	t.Parallel()
	call := func(piece string) string { return `{"choices":[{"delta":{"tool_calls":[` + piece + `]}}]}` }
	const ended = `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`
	for name, tt := range map[string]struct {
		events []string
		want   string // the calls
		back   string // a part of what goes back
	}{
		"by index": {[]string{
			call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"n\""}}`), call(`{"index":1,"id":"b","function":{"name":"y"}}`),
			call(`{"index":0,"function":{"arguments":":1}"}}`), ended,
		}, `[{a x {"n":1}} {b y {}}]`, `"tool_calls"`},
		"whole, all of index 0": {[]string{
			call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}`), ended,
		}, `[{a x {}} {b y {}}]`, `"id":"b"`},
		"without index and id": {[]string{
			call(`{"function":{"name":"x","arguments":"{"}}`), call(`{"function":{"arguments":"}"}}`), call(`{"function":{"name":"y"}}`), ended,
		}, `[{call_1 x {}} {call_2 y {}}]`, `"call_2"`},
		"with a signature": {[]string{
			call(`{"index":0,"id":"a","function":{"name":"x"},"extra_content":{"google":{"thought_signature":"c2ln"}}}`), ended,
		}, `[{a x {}}]`, `"extra_content":{"google":{"thought_signature":"c2ln"}}`},
		"only the last event": {[]string{call(`{"index":0,"id":"a","function":{"name":"x"}}`), "[DONE]"}, `[{a x {}}]`, `"a"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := llm.OpenAI.Decoder()
			for _, e := range tt.events {
				_, err := d.Event([]byte(e))
				must(t, err)
			}
			a, err := d.Answer()
			must(t, err)
			if found := fmt.Sprint(a.Calls); found != tt.want || !strings.Contains(string(a.Raw), tt.back) {
				t.Errorf("found %s, and %s goes back", found, a.Raw)
			}
		})
	}
}

// FuzzStream: whatever a server sends, reading it ends, and an answer that is whole can be sent back.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		`{"type":"message_start","message":{"usage":{"input_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"y","input":{}}}` + "\n" +
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}` + "\n" + `{"type":"message_stop"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":7}}`,
		`{"choices":[{"index":0,"delta":{"content":"a","tool_calls":[{"function":{"name":"n","arguments":"{}"},"extra":[1]}]},"finish_reason":"stop"}]}` + "\n[DONE]",
		`{"choices":[{"delta":{"refusal":"no"},"finish_reason":"content_filter"}]}`, `{"error":{"message":"x"}}`, `[]`, "", "{\"type\":\"content_block_delta\",\"index\":-1}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		for _, wire := range wires {
			d := wire.Decoder()
			for line := range strings.Lines(lines) {
				if _, err := d.Event([]byte(line)); err != nil {
					break
				}
			}
			a, err := d.Answer()
			if err != nil {
				continue
			}
			q := llm.Request{Messages: []llm.Message{{Text: "x"}, {Answer: &a}}}
			for _, other := range wires {
				if body, err := other.Encode(q); err != nil || !jsontext.Value(body).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
					t.Errorf("%s to %s: %s, %v", wire, other, body, err)
				}
			}
		}
	})
}
