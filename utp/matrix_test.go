package utp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// TestLiveMatrix: what was seen of a v1r4 service, row by row, and what we make of it: more
// is accepted, nothing is guessed, and no fault is silent.
func TestLiveMatrix(t *testing.T) {
	t.Parallel()
	var file struct {
		Subject string                     `json:"subject"`
		Header  map[string]string          `json:"header"`
		Payload map[string]json.RawMessage `json:"payload"`
		Rows    []struct {
			Name    string                      `json:"name"`
			Header  map[string]*string          `json:"header"`
			Payload map[string]*json.RawMessage `json:"payload"`
			Code    utp.Code                    `json:"code"`
			Lacks   string                      `json:"lacks"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(golden(t, "matrix.json"), &file); err != nil || len(file.Rows) < 30 {
		t.Fatalf("%d rows, %v", len(file.Rows), err)
	}
	for _, row := range file.Rows {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			header := map[string][]string{}
			for name, value := range file.Header {
				header[name] = []string{value}
			}
			for name, value := range row.Header {
				if delete(header, name); value != nil {
					header[name] = []string{*value}
				}
			}
			payload := maps.Clone(file.Payload)
			for name, value := range row.Payload {
				if delete(payload, name); value != nil {
					payload[name] = *value
				}
			}
			raw, err := json.Marshal(payload)
			if err != nil {
				t.Fatal(err)
			}
			got, err := receive(file.Subject, header, raw)
			if row.Code != "" {
				var coded interface{ Code() utp.Code }
				if !errors.As(err, &coded) || coded.Code() != row.Code {
					t.Fatalf("got %v, want %s", err, row.Code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			lacking, _ := errors.AsType[*utp.HeaderError](got.CheckCommand())
			if lacking == nil && row.Lacks != "" || lacking != nil && lacking.Name != row.Lacks {
				t.Errorf("lacks %v, want %q", lacking, row.Lacks)
			}
		})
	}
}

// receive reads a command as a receiver does.
func receive(subject string, header map[string][]string, payload []byte) (utp.Context, error) {
	s, err := utp.ParseSubject(subject)
	if err != nil {
		return utp.Context{}, err
	}
	c, err := utp.DecodeHeader(header)
	if err != nil {
		return c, err
	}
	if c, err = c.At(s); err != nil {
		return c, err
	}
	_, c, err = utp.DecodeCommand(payload, c)
	return c, err
}

// TestStrictCommand: what we emit is the good command of the matrix, byte for byte.
func TestStrictCommand(t *testing.T) {
	t.Parallel()
	var file struct {
		Header  map[string]string `json:"header"`
		Payload jsontext.Value    `json:"payload"`
	}
	if err := json.Unmarshal(golden(t, "matrix.json"), &file); err != nil {
		t.Fatal(err)
	}
	header, err := utp.EncodeHeader(utp.Context{
		ProjectID: "home", ChannelID: "public", AgentID: "agent_a", TurnID: "turn_1", TurnEpoch: 3, StepID: "step_1", ToolCallID: "tc_1",
		RecursionDepth: 1, Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}, utp.Stamp{At: time.UnixMilli(1795187857523), Sender: "cg-nats-client"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range file.Header {
		if got := header[name]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	if len(header) != len(file.Header) {
		t.Errorf("headers %v", header)
	}
	payload, err := utp.EncodeCommand(utp.Command{ToolName: "words.count", AfterExecution: utp.Suspend, ToolCallCardID: "card_1"})
	if err != nil || string(payload) != compact(t, file.Payload) {
		t.Errorf("payload %s, %v", payload, err)
	}
}

// TestWakeup: a doorbell says who is rung for, and nothing of a single call.
func TestWakeup(t *testing.T) {
	t.Parallel()
	c := utp.Context{
		ProjectID: "home", ChannelID: "public", AgentID: "agent_a", TurnID: "turn_1", TurnEpoch: 3, StepID: "step_1", ToolCallID: "tc_1",
		ParentAgentID: "p", ParentTurnID: "q", ParentStepID: "r", RecursionDepth: 2, Traceparent: traceparent,
	}
	got, err := utp.EncodeWakeup(c, utp.Stamp{At: time.UnixMilli(1)})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"CG-Project-Id": "home", "CG-Channel-Id": "public", "CG-Agent-Id": "agent_a", "CG-Turn-Id": "turn_1", "CG-Turn-Epoch": "3",
		"traceparent": strings.ToLower(traceparent), "CG-Timestamp": "1", "CG-Version": "v1r4", "CG-Msg-Type": "dict", "CG-Sender": "earshot",
	}
	for name, values := range got {
		if want[name] != values[0] {
			t.Errorf("%s is %s", name, values[0])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	c.AgentID = ""
	if _, err := utp.EncodeWakeup(c, utp.Stamp{At: time.UnixMilli(1)}); err == nil {
		t.Error("a doorbell without an agent, which workers drop")
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	var file struct {
		Cases []struct {
			Name    string         `json:"name"`
			Content jsontext.Value `json:"content"`
			As      string         `json:"as"`
			Code    utp.Code       `json:"code"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(golden(t, "contents.json"), &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			content, err := utp.DecodeContent(c.Content)
			if c.Code != "" {
				if wrong, ok := errors.AsType[*utp.CardError](err); !ok || wrong.Code() != c.Code {
					t.Fatalf("got %v, want %s", err, c.Code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := c.As
			if want == "" {
				want = compact(t, c.Content)
			}
			if got, err := utp.EncodeContent(content); err != nil || string(got) != want {
				t.Errorf("got  %s, %v\nwant %s", got, err, want)
			}
		})
	}
	if _, err := utp.EncodeContent(utp.Data{}); err == nil {
		t.Error("data without data")
	}
}

func TestInboxRow(t *testing.T) {
	t.Parallel()
	var file struct {
		Good jsontext.Value `json:"good"`
		Bad  []struct {
			Name  string `json:"name"`
			From  string `json:"from"`
			To    string `json:"to"`
			Field string `json:"field"`
		} `json:"bad"`
	}
	if err := json.Unmarshal(golden(t, "inbox.json"), &file); err != nil || len(file.Bad) == 0 {
		t.Fatal(err)
	}
	good := compact(t, file.Good)
	row, err := utp.DecodeInboxRow([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := utp.EncodeInboxRow(row); err != nil || string(again) != good {
		t.Errorf("got  %s, %v\nwant %s", again, err, good)
	}
	stale := strings.Replace(good, `"CG-Turn-Epoch":"3"`, `"CG-Turn-Epoch":"0"`, 1)
	if row, err := utp.DecodeInboxRow([]byte(stale)); err != nil || row.Context.TurnEpoch != 3 {
		t.Errorf("a stale epoch in the headers: %+v, %v", row, err)
	}
	for _, b := range file.Bad {
		text := strings.Replace(good, b.From, b.To, 1)
		_, err := utp.DecodeInboxRow([]byte(text))
		header, isHeader := errors.AsType[*utp.HeaderError](err)
		payload, isPayload := errors.AsType[*utp.PayloadError](err)
		named := isHeader && header.Name == b.Field || isPayload && payload.Field == b.Field
		if text == good || !named {
			t.Errorf("%s: %v, want a fault of %s", b.Name, err, b.Field)
		}
	}
}

func TestBox(t *testing.T) {
	t.Parallel()
	const text = `{"box_id":"0192f0c7-a2b3-7c4d-8e5f-60718293a4b5","tenant_id":"home","card_ids":["a","b"],"parent_ids":[],"updated_at":"2026-11-20T15:17:37.523565+00:00"}`
	b, err := utp.DecodeBox([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := utp.EncodeBox(b); err != nil || string(again) != text {
		t.Errorf("got  %s, %v\nwant %s", again, err, text)
	}
	more := b.Append("b", "c", "a", "c")
	if got := strings.Join(more.Cards, " "); got != "a b c" || len(b.Cards) != 2 {
		t.Errorf("appended: %s, and before %v", got, b.Cards)
	}
	for name, change := range map[string][2]string{
		"id":      {"0192f0c7-", "0192f0c7"},
		"project": {`"home"`, `"a.b"`},
		"time":    {"+00:00", ""},
		"card":    {`"a"`, `""`},
		"parent":  {`"parent_ids":[]`, `"parent_ids":["\u0001"]`},
		"cards":   {`["a","b"]`, `"a"`},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		if _, err := utp.DecodeBox([]byte(changed)); err == nil || changed == text {
			t.Errorf("%s passes: %s", name, changed)
		}
	}
	if _, err := utp.EncodeBox(utp.Box{ID: b.ID, Project: "home"}); err == nil {
		t.Error("a box without a time")
	}
}

// TestMessage: what was on the wire is handed on as it was, whatever it was.
func TestMessage(t *testing.T) {
	t.Parallel()
	m := utp.Message{Subject: "s", Header: map[string][]string{"a": {"b", ""}}, Payload: []byte("\xff\x00{")}
	got, err := utp.DecodeMessage(utp.EncodeMessage(m))
	if err != nil || got.Subject != m.Subject || !bytes.Equal(got.Payload, m.Payload) || len(got.Header["a"]) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := utp.DecodeMessage([]byte(`{"subject":"s","more":1}`)); err == nil {
		t.Error("a message with an unknown member")
	}
	if got, err := utp.DecodeMessage(utp.EncodeMessage(utp.Message{Header: map[string][]string{"\xff": {"\xfe"}}})); err != nil || len(got.Header) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestNamedCard: of a command that is refused, the card may still tell the call.
func TestNamedCard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"args":{},"tool_call_card_id":"c"}`:               "c",
		`{"tool_call_card_id":"c","agent_id":7}`:            "c",
		`{"tool_call_card_id":7}`:                           "",
		`{"tool_call_card_id":" c"}`:                        "",
		`{"tool_call_card_id":"c","tool_call_card_id":"d"}`: "",
		`{"tool_call_card_id":"c"`:                          "",
		`[]`:                                                "",
		``:                                                  "",
		`{"x":"` + strings.Repeat("y", utp.MessageLimit) + `","tool_call_card_id":"c"}`: "",
	} {
		if got := utp.NamedCard([]byte(text)); got != want {
			t.Errorf("%.60s names %q, want %q", text, got, want)
		}
	}
}

func TestEnforcement(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]utp.Enforcement{
		``: utp.Enforced, `null`: utp.Enforced, `{}`: utp.Enforced, `{"enforcement":"enforced"}`: utp.Enforced,
		`{"enforcement":"broker-only"}`: utp.BrokerOnly, `{"enforcement":"advisory"}`: utp.Advisory,
		`{"enforcement":"none"}`: utp.Advisory, `[]`: utp.Advisory,
	} {
		d := utp.Definition{Options: jsontext.Value(options)}
		if got := d.Enforcement(); got != want {
			t.Errorf("%s is %s, want %s", options, got, want)
		}
	}
}
