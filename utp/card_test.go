package utp_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

func golden(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func compact(t *testing.T, raw []byte) string {
	t.Helper()
	v := jsontext.Value(raw).Clone()
	if err := v.Compact(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func callCard() utp.CallCard {
	return utp.CallCard{
		ID: "0191a7c9000070008000000000000001", Project: "home", AuthorID: "agent_tidy",
		CreatedAt:  time.Date(2026, 11, 20, 16, 17, 37, 523_565_999, time.FixedZone("", 3600)),
		ToolCallID: "tc_0191a7c9000070008000000000000002", ToolName: "files.delete",
		Arguments:           []byte(`{"root": "/home/ada/caf\u00e9", "limit": 1.50, "sets": []}`),
		TargetSubject:       "cg.v1r4.home.public.cmd.tool.files.delete",
		Lineage:             utp.Lineage{TurnID: "turn_1", StepID: "step_1", TraceID: "0af7651916cd43dd8448eb211c80319c"},
		DefaultsApplied:     []string{"limit"},
		Envs:                map[string]string{"key": "FILES_KEY"},
		DispatchRequestedAt: time.Date(2026, 11, 20, 15, 17, 38, 0, time.UTC),
	}
}

func resultCard() utp.ResultCard {
	return utp.ResultCard{
		ID: "0191a7c9000070008000000000000003", Project: "home", AuthorID: "tool.files",
		CreatedAt:  time.Date(2026, 11, 20, 15, 17, 39, 1000, time.UTC),
		ToolCallID: "tc_0191a7c9000070008000000000000002", FunctionName: "files.delete",
		Lineage: utp.Lineage{TurnID: "turn_1", StepID: "step_1"},
		Status:  utp.StatusSuccess, Command: utp.Suspend, Result: []byte(`{"deleted": 3, "bytes": 4096}`),
	}
}

// TestGoldenCards compares what is built with cards written by hand (UTP, "Cards").
func TestGoldenCards(t *testing.T) {
	t.Parallel()
	failed := resultCard()
	failed.Status, failed.Result = utp.StatusFailed, nil
	failed.Error = &utp.ToolError{
		Code: utp.CodeOutcomeUnknown, Message: "the service fell silent", Source: utp.SourceWatchdog, Detail: []byte(`{"since":12}`),
	}
	tests := []struct {
		file  string
		build func() (utp.Card, error)
	}{
		{"tool_call.json", func() (utp.Card, error) { return utp.NewToolCall(callCard()) }},
		{"tool_result.json", func() (utp.Card, error) { return utp.NewToolResult(resultCard()) }},
		{"tool_result_failed.json", func() (utp.Card, error) { return utp.NewToolResult(failed) }},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			card, err := tt.build()
			if err != nil {
				t.Fatal(err)
			}
			got, err := utp.EncodeCard(card)
			if err != nil {
				t.Fatal(err)
			}
			if want := compact(t, golden(t, tt.file)); string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			back, err := utp.DecodeCard(golden(t, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := utp.EncodeCard(back); err != nil || !bytes.Equal(again, got) {
				t.Errorf("decoded and encoded again: %s, %v", again, err)
			}
		})
	}
}

func TestToolCallRoundTrip(t *testing.T) {
	t.Parallel()
	want := callCard()
	card, err := utp.NewToolCall(want)
	if err != nil {
		t.Fatal(err)
	}
	if card.Type != utp.CardToolCall || card.AuthorID != want.AuthorID || !card.CreatedAt.Equal(want.CreatedAt.Truncate(time.Microsecond)) {
		t.Errorf("frame %+v", card)
	}
	got, err := utp.DecodeToolCall(card)
	if err != nil {
		t.Fatal(err)
	}
	// Literal strings and numbers stay; only space between them goes.
	if string(got.Arguments) != `{"root":"/home/ada/caf\u00e9","limit":1.50,"sets":[]}` {
		t.Errorf("arguments %s", got.Arguments)
	}
	want.Arguments, want.CreatedAt = got.Arguments, card.CreatedAt
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestForeignToolCall reads what another worker writes: a time without microseconds, no
// subject, members that we do not know, lineage in the headers.
func TestForeignToolCall(t *testing.T) {
	t.Parallel()
	card, err := utp.DecodeCard([]byte(`{"card_id":"c1","tenant_id":"p","tool_call_id":"call_9",
		"content":{"__type__":"ToolCallContent","tool_name":"t","arguments":{},"status":"called","target_subject":null,"later":1},
		"metadata":{"type":"tool.call","project_id":"p","author_id":"a","created_at":"2026-11-20T15:17:37Z","context_box_id":"b"}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := utp.DecodeToolCall(card)
	if err != nil || got.TargetSubject != "" || got.ToolName != "t" {
		t.Fatalf("got %+v, %v", got, err)
	}
	header := utp.Lineage{TurnID: "turn_h", StepID: "step_h"}
	if got.Lineage.Or(header) != header {
		t.Errorf("lineage %+v", got.Lineage.Or(header))
	}
}

func TestNewToolCallRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*utp.CallCard)
		field  string
	}{
		{"no id", func(f *utp.CallCard) { f.ID = "" }, "the id"},
		{"no call", func(f *utp.CallCard) { f.ToolCallID = "" }, "the call"},
		{"no author", func(f *utp.CallCard) { f.AuthorID = "" }, "the author"},
		{"project", func(f *utp.CallCard) { f.Project = "a.b" }, "the project"},
		{"no time", func(f *utp.CallCard) { f.CreatedAt = time.Time{} }, "metadata.created_at"},
		{"no tool", func(f *utp.CallCard) { f.ToolName = "" }, "content.tool_name"},
		{"arguments are not an object", func(f *utp.CallCard) { f.Arguments = []byte(`[]`) }, "content.arguments"},
		{"arguments are malformed", func(f *utp.CallCard) { f.Arguments = []byte(`{"a":`) }, "content"},
		{"a name twice", func(f *utp.CallCard) { f.Arguments = []byte(`{"a":1,"a":2}`) }, "content"},
		{"subject", func(f *utp.CallCard) { f.TargetSubject = "x" }, "content.target_subject"},
		{"no turn", func(f *utp.CallCard) { f.Lineage.TurnID = "" }, "metadata.agent_turn_id"},
		{"no step", func(f *utp.CallCard) { f.Lineage.StepID = "" }, "metadata.step_id"},
		{"parent step", func(f *utp.CallCard) { f.Lineage.ParentStepID = "\n" }, "metadata.parent_step_id"},
		{"trace", func(f *utp.CallCard) { f.Lineage.TraceID = "1" }, "metadata.trace_id"},
		{"list is not UTF-8", func(f *utp.CallCard) { f.FixedApplied = []string{"\xff"} }, "metadata"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := callCard()
			tt.change(&f)
			_, err := utp.NewToolCall(f)
			if wrong, ok := errors.AsType[*utp.CardError](err); !ok || wrong.Field != tt.field {
				t.Errorf("got %v, want a fault of %s", err, tt.field)
			}
		})
	}
}

func TestDecodeCardRefuses(t *testing.T) {
	t.Parallel()
	call, result := string(golden(t, "tool_call.json")), string(golden(t, "tool_result.json"))
	asCall := func(c utp.Card) error { _, err := utp.DecodeToolCall(c); return err }
	asResult := func(c utp.Card) error { _, err := utp.DecodeToolResult(c); return err }
	tests := []struct {
		name, text, from, to string
		read                 func(utp.Card) error
		code                 utp.Code
	}{
		{"no JSON", "{", "", "", asCall, utp.CodeBadRequest},
		{"a result read as a call", result, "", "", asCall, utp.CodeInvalidCardType},
		{"a call read as a result", call, "", "", asResult, utp.CodeInvalidCardType},
		{"content type", call, `"ToolCallContent"`, `"TextContent"`, asCall, utp.CodeInvalidCardType},
		{"no content type", call, `"__type__"`, `"type"`, asCall, utp.CodeBadRequest},
		{"content is not an object", call, `"content": {`, `"content": [], "x": {`, asCall, utp.CodeBadRequest},
		{"arguments are text", call, `"arguments": {`, `"arguments": "x", "y": {`, asCall, utp.CodeBadRequest},
		{"no tool name", call, `"tool_name": "files.delete"`, `"tool_name": ""`, asCall, utp.CodeBadRequest},
		{"a bad subject", call, `"cg.v1r4.`, `"xx.v1r4.`, asCall, utp.CodeBadRequest},
		{"tenant differs", call, `"project_id": "home"`, `"project_id": "work"`, asCall, utp.CodeBadRequest},
		{"call differs", call, "\"created_at\": \"2026-11-20T15:17:37.523565+00:00\",\n    \"tool_call_id\": \"tc_", "\"created_at\": \"2026-11-20T15:17:37.523565+00:00\",\n    \"tool_call_id\": \"tx_", asCall, utp.CodeToolCallIDMismatch},
		{"no call", call, `"tool_call_id": "tc_0191a7c9000070008000000000000002",` + "\n  \"content\"", `"content"`, asCall, utp.CodeBadRequest},
		{"time without offset", call, "37.523565+00:00", "37.523565", asCall, utp.CodeBadRequest},
		{"dispatch time", call, "38.000000+00:00", "38", asCall, utp.CodeBadRequest},
		{"no function name", result, `"function_name": "files.delete"`, `"function_name": ""`, asResult, utp.CodeBadRequest},
		{"status is a number", result, `"status": "success"`, `"status": 1`, asResult, utp.CodeBadRequest},
		{"no author", result, `"author_id": "tool.files"`, `"author_id": ""`, asResult, utp.CodeBadRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.from != "" && strings.Count(tt.text, tt.from) != 1 {
				t.Fatalf("%q is not there once", tt.from)
			}
			card, err := utp.DecodeCard([]byte(strings.Replace(tt.text, tt.from, tt.to, 1)))
			if err == nil {
				err = tt.read(card)
			}
			if wrong, ok := errors.AsType[*utp.CardError](err); !ok || wrong.Code() != tt.code {
				t.Errorf("got %v, want %s", err, tt.code)
			}
		})
	}
}

func TestCardValidate(t *testing.T) {
	t.Parallel()
	card, err := utp.NewToolCall(callCard())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		field  string
		change func(*utp.Card)
	}{
		{"metadata.type", func(c *utp.Card) { c.Type = utp.CardToolResult }},
		{"metadata.project_id", func(c *utp.Card) { c.Project = "work" }},
		{"metadata.author_id", func(c *utp.Card) { c.AuthorID = "eve" }},
		{"metadata.created_at", func(c *utp.Card) { c.CreatedAt = c.CreatedAt.Add(time.Second) }},
		{"the call", func(c *utp.Card) { c.ToolCallID = "\x00" }},
		{"metadata", func(c *utp.Card) { c.Metadata = nil }},
		{"content", func(c *utp.Card) { c.Content = nil }},
	}
	for _, tt := range tests {
		c := card
		tt.change(&c)
		if wrong, ok := errors.AsType[*utp.CardError](c.Validate()); !ok || wrong.Field != tt.field {
			t.Errorf("%s: %v", tt.field, c.Validate())
		}
		if _, err := utp.EncodeCard(c); err == nil {
			t.Errorf("%s: it is encoded", tt.field)
		}
	}
}
