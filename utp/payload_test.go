package utp_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/utp"
)

// payloadCase is one case of the golden files.
type payloadCase struct {
	Name    string            `json:"name"`
	Header  map[string]string `json:"header"`
	Payload string            `json:"payload"`

	Tool        string             `json:"tool"`
	After       utp.AfterExecution `json:"after"`
	Status      utp.Status         `json:"status"`
	Card        string             `json:"card"`
	Agent       string             `json:"agent"`
	Turn        string             `json:"turn"`
	Epoch       int                `json:"epoch"`
	Step        string             `json:"step"`
	Call        string             `json:"call"`
	Depth       int                `json:"depth"`
	DepthAbsent bool               `json:"depth_absent"`
	Traceparent string             `json:"traceparent"`

	Code  utp.Code `json:"code"`
	Field string   `json:"field"`
}

func payloadCases(t *testing.T, name string) []payloadCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []payloadCase `json:"cases"`
	}
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("reading %s: %v, %d cases", name, err, len(file.Cases))
	}
	return file.Cases
}

func (c payloadCase) header(t *testing.T) utp.Context {
	t.Helper()
	header := map[string][]string{}
	for name, value := range c.Header {
		header[name] = []string{value}
	}
	got, err := utp.DecodeHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (c payloadCase) context() utp.Context {
	return utp.Context{
		AgentID: c.Agent, TurnID: c.Turn, TurnEpoch: c.Epoch, StepID: c.Step, ToolCallID: c.Call,
		RecursionDepth: c.Depth, DepthAbsent: c.DepthAbsent, Traceparent: c.Traceparent,
	}
}

// checkError compares an error with the case's; it reports whether one was expected.
func (c payloadCase) checkError(t *testing.T, err error) bool {
	t.Helper()
	if c.Code == "" {
		if err != nil {
			t.Fatalf("got %v", err)
		}
		return false
	}
	wrong, ok := errors.AsType[*utp.PayloadError](err)
	if !ok || wrong.Code() != c.Code || wrong.Field != c.Field {
		t.Fatalf("got %v, want %s in %q", err, c.Code, c.Field)
	}
	return true
}

func TestDecodeCommand(t *testing.T) {
	t.Parallel()
	for _, c := range payloadCases(t, "commands.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			header := c.header(t)
			got, merged, err := utp.DecodeCommand([]byte(c.Payload), header)
			if c.checkError(t, err) {
				if merged != header {
					t.Errorf("the error is answered under %+v, want the headers' identity %+v", merged, header)
				}
				return
			}
			want := utp.Command{ToolName: c.Tool, AfterExecution: c.After, ToolCallCardID: c.Card}
			if got != want || merged != c.context() {
				t.Errorf("got %+v in %+v\nwant %+v in %+v", got, merged, want, c.context())
			}
		})
	}
}

func TestDecodeReport(t *testing.T) {
	t.Parallel()
	for _, c := range payloadCases(t, "reports.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			header := c.header(t)
			got, merged, err := utp.DecodeReport([]byte(c.Payload), header)
			if c.checkError(t, err) && c.Card == "" {
				if merged != header {
					t.Errorf("the error is answered under %+v, want %+v", merged, header)
				}
				return
			}
			want := utp.Report{AfterExecution: c.After, Status: c.Status, ToolResultCardID: c.Card}
			if got != want || merged != c.context() {
				t.Errorf("got %+v in %+v\nwant %+v in %+v", got, merged, want, c.context())
			}
		})
	}
}

// TestEncodePayloads pins the exact bytes: peers refuse any other key.
func TestEncodePayloads(t *testing.T) {
	t.Parallel()
	command := utp.Command{ToolName: "files.delete", AfterExecution: utp.Suspend, ToolCallCardID: "0191a7c9"}
	got, err := utp.EncodeCommand(command)
	if want := `{"tool_name":"files.delete","after_execution":"suspend","tool_call_card_id":"0191a7c9"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	report := utp.Report{AfterExecution: utp.Terminate, Status: utp.StatusPartial, ToolResultCardID: "r1"}
	got, err = utp.EncodeReport(report)
	if want := `{"after_execution":"terminate","status":"partial","tool_result_card_id":"r1"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestEncodePayloadsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []utp.Command{
		{AfterExecution: utp.Suspend, ToolCallCardID: "c"},
		{ToolName: "t", ToolCallCardID: "c"},
		{ToolName: "t", AfterExecution: "pause", ToolCallCardID: "c"},
		{ToolName: "t", AfterExecution: utp.Suspend},
		{ToolName: "t", AfterExecution: utp.Suspend, ToolCallCardID: "\xff"},
	} {
		if out, err := utp.EncodeCommand(c); err == nil {
			t.Errorf("%+v passes as %s", c, out)
		}
	}
	for _, r := range []utp.Report{
		{Status: utp.StatusFailed, ToolResultCardID: "r"},
		{AfterExecution: utp.Suspend, ToolResultCardID: "r"},
		{AfterExecution: utp.Suspend, Status: "ok", ToolResultCardID: "r"},
		{AfterExecution: utp.Suspend, Status: utp.StatusFailed},
	} {
		if out, err := utp.EncodeReport(r); err == nil {
			t.Errorf("%+v passes as %s", r, out)
		}
	}
}

func TestPayloadTooLarge(t *testing.T) {
	t.Parallel()
	raw := `{"tool_call_card_id":"c","x":"` + strings.Repeat("y", utp.MessageLimit) + `"}`
	_, _, err := utp.DecodeCommand([]byte(raw), utp.Context{})
	if wrong, ok := errors.AsType[*utp.PayloadError](err); !ok || wrong.Code() != utp.CodeTooLarge {
		t.Errorf("got %v, want too_large", err)
	}
}

// TestEffectiveAfter covers U-22 and U-23.
func TestEffectiveAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, result string
		candidates   []utp.AfterExecution
		want         utp.AfterExecution
	}{
		{"nothing said", `null`, nil, utp.Suspend},
		{"first valid candidate", `{}`, []utp.AfterExecution{"", "later", utp.Terminate, utp.Suspend}, utp.Terminate},
		{"override up", `{"__cg_control":{"after_execution":"terminate"}}`, []utp.AfterExecution{utp.Suspend}, utp.Terminate},
		{"override down", `{"__cg_control":{"after_execution":"suspend"}}`, []utp.AfterExecution{utp.Terminate}, utp.Suspend},
		{"trimmed", `{"__cg_control":{"after_execution":" terminate\n"}}`, nil, utp.Terminate},
		{"escaped", `{"__cg_control":{"after_execution":"\u0074erminate"}}`, nil, utp.Terminate},
		{"other case is ignored", `{"__cg_control":{"after_execution":"Terminate"}}`, nil, utp.Suspend},
		{"other type is ignored", `{"__cg_control":{"after_execution":["terminate"]}}`, nil, utp.Suspend},
		{"control is not an object", `{"__cg_control":"terminate"}`, nil, utp.Suspend},
		{"not at the top", `{"a":{"__cg_control":{"after_execution":"terminate"}}}`, nil, utp.Suspend},
		{"in an array", `[{"__cg_control":{"after_execution":"terminate"}}]`, nil, utp.Suspend},
		{"malformed", `{"__cg_control":{"after_execution":"terminate"}`, nil, utp.Suspend},
		{"absent", ``, []utp.AfterExecution{utp.Terminate}, utp.Terminate},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := utp.EffectiveAfter([]byte(tt.result), tt.candidates...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
