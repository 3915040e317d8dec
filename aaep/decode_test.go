package aaep_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// TestWholeEventsRoundTrip: decoding, encoding and decoding again gives the same
// event, and the same bytes, for a whole and a bare event of every type.
func TestWholeEventsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, m := range aaep.Messages() {
		if !m.Event {
			continue
		}
		for _, message := range []edit{whole(t, m), bare(t, m), with(whole(t, m), m.Fields[slices.IndexFunc(m.Fields, readableRow)].Name+"_yo", "Ó ń ronú.")} {
			event, err := aaep.DecodeEvent(encode(t, message))
			if err != nil {
				t.Fatal(err)
			}
			if event.Type() != m.Type {
				t.Errorf("type = %s, want %s", event.Type(), m.Type)
			}
			raw, err := event.Encode()
			if err != nil {
				t.Fatalf("%s: %v", m.Type, err)
			}
			for _, v := range aaep.Validate(raw, aaep.ModeProducer) {
				if v.Rule == "ENV-58" {
					t.Errorf("%s: %s", m.Type, v)
				}
			}
			again, err := aaep.DecodeEvent(raw)
			if err != nil {
				t.Fatal(err)
			}
			event.Version, event.Verbosity, event.Urgency = again.Version, again.Verbosity, again.Urgency // filled in
			if !reflect.DeepEqual(event, again) {
				t.Errorf("%s:\n%+v\n%+v", m.Type, event, again)
			}
			if repeated, err := again.Encode(); err != nil || !bytes.Equal(raw, repeated) {
				t.Errorf("%s: not the same bytes:\n%s\n%s", m.Type, raw, repeated)
			}
		}
	}
}

func readableRow(f aaep.Field) bool { return f.Readable }

// TestPayloadOrder: payload members stand in the order of their table, between
// correlation_id and extensions (ENV-58).
func TestPayloadOrder(t *testing.T) {
	t.Parallel()
	event := aaep.Event{
		ID: "evt_1", SessionID: "sess_1", Time: time.Now(), Producer: aaep.Producer{AgentID: "tidy"}, CorrelationID: "c",
		Payload: aaep.ToolCompleted{Tool: "scan", Status: aaep.ToolSuccess, SummaryNormal: "Ran.", ToolCallID: "call_1", DurationMS: new(int64(0))},
	}
	event, err := event.Extend(aaep.PrefixEarshot, "question", 7)
	if err != nil {
		t.Fatal(err)
	}
	if event, err = event.Extend(aaep.PrefixUTP, "status", "partial"); err != nil {
		t.Fatal(err)
	}
	raw, err := event.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `"correlation_id":"c","tool":"scan","status":"success","summary_normal":"Ran.","tool_call_id":"call_1","duration_ms":0,"extensions":{"earshot":{"question":7},"utp":{"status":"partial"}}}`
	if !strings.HasSuffix(string(raw), want) {
		t.Errorf("got %s", raw)
	}
	if !strings.HasPrefix(string(raw), `{"@context":["https://aaep-protocol.org/context/v1","https://github.com/earshot-dev/earshot/ns/v1"],"aaep_version":"1.0.0","type":`) {
		t.Errorf("got %s", raw)
	}
	if got := event.Extension(aaep.PrefixUTP, "status"); got != "partial" {
		t.Errorf("extension = %q", got)
	}
	if event.Extension("x", "y") != "" || event.Extension(aaep.PrefixEarshot, "question") != "" {
		t.Error("an extension that is not text reads as text")
	}
}

// TestEncodeRefuses: an event that breaks a rule does not leave, and the error names
// the rule.
func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	good := aaep.Event{
		ID: "evt_1", SessionID: "sess_1", Time: time.Now(), Producer: aaep.Producer{AgentID: "tidy"},
		Payload: aaep.StateChanged{FromState: "idle", ToState: "thinking"},
	}
	cases := map[string]func(e *aaep.Event){
		"ENV-18": func(e *aaep.Event) { e.ID = "" },
		"ENV-21": func(e *aaep.Event) { e.SessionID = "x" },
		"ENV-24": func(e *aaep.Event) { e.Time = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC) },
		"ENV-29": func(e *aaep.Event) { e.Producer = aaep.Producer{} },
		"ENV-35": func(e *aaep.Event) { e.Urgency = "loud" },
		"ENV-41": func(e *aaep.Event) { e.Extensions = map[string]jsontext.Value{"earshot": jsontext.Value("1")} },
		"ENV-42": func(e *aaep.Event) { e.Extensions = map[string]jsontext.Value{"medai": jsontext.Value("{}")} },
		"ENV-47": func(e *aaep.Event) { e.Variants = map[string]string{"mood": "good"} },
		"ENV-60": func(e *aaep.Event) { e.Variants = map[string]string{"to_state": "idle"} },
		"ERR-01": func(e *aaep.Event) {
			e.Urgency, e.Payload = aaep.UrgencyNormal, aaep.SessionErrored{SummaryNormal: "x", ErrorCategory: aaep.ErrorUnknown}
		},
		"STATE-01": func(e *aaep.Event) { e.Payload = aaep.StateChanged{ToState: "x"} },
		"CONFM-15": func(e *aaep.Event) {
			e.Payload = aaep.AwaitingConfirmation{Action: "x", Consequence: "y", ReplyToken: "rpl_1", TimeoutSeconds: 60, DefaultDecision: aaep.DecisionAccept, RiskLevel: aaep.RiskHigh, Irreversible: true}
		},
	}
	for rule, spoil := range cases {
		e := good
		spoil(&e)
		_, err := e.Encode()
		refused, ok := errors.AsType[*aaep.Error](err)
		if !ok || refused.Code != aaep.CodeBadEvent || refused.SafeToRetry() || !names(refused.Violations, asError, rule) {
			t.Errorf("%s: got %v", rule, err)
		}
	}
	for name, spoil := range map[string]func(e *aaep.Event){
		"no payload": func(e *aaep.Event) { e.Payload = nil },
		"not UTF-8":  func(e *aaep.Event) { e.Payload = aaep.StateChanged{FromState: "idle", ToState: "\xff"} },
		"not JSON":   func(e *aaep.Event) { e.Extensions = map[string]jsontext.Value{"earshot": jsontext.Value("{")} },
	} {
		e := good
		spoil(&e)
		if _, err := e.Encode(); err == nil {
			t.Errorf("%s is encoded", name)
		}
	}
	if _, err := good.Encode(); err != nil {
		t.Error(err)
	}
}

// TestTimeFormat shows the traps of package time: trimmed zeros, commas, rounding.
func TestTimeFormat(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 3600)
	for want, when := range map[string]time.Time{
		"2026-05-24T14:22:11.300Z": time.Date(2026, 5, 24, 14, 22, 11, 300e6, time.UTC),
		"2026-05-24T14:22:11.000Z": time.Date(2026, 5, 24, 15, 22, 11, 0, zone),
		"2026-05-24T14:22:11.999Z": time.Date(2026, 5, 24, 14, 22, 11, 999_999_999, time.UTC),
	} {
		if got := aaep.FormatTime(when); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for text, ok := range map[string]bool{
		"2026-05-24T14:22:11Z": true, "2026-05-24T14:22:11.1Z": true, "2026-05-24T14:22:11.123456789+14:00": true,
		"2026-05-24T14:22:11,5Z": false, "2026-05-24T14:22:11.1234567890Z": false, "2026-05-24T14:22Z": false, "2026-02-30T14:22:11Z": false, "": false,
	} {
		if _, got := aaep.ParseTime(text); got != ok {
			t.Errorf("ParseTime(%q) = %t, want %t", text, got, ok)
		}
	}
}

// TestDecodeEvent shows what reads otherwise than it is written.
func TestDecodeEvent(t *testing.T) {
	t.Parallel()
	head := `{"@context":"https://aaep-protocol.org/context/v1","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-24T15:22:11.342+01:00","producer":{"agent_id":"tidy"},`
	decode := func(rest string) aaep.Event {
		t.Helper()
		event, err := aaep.DecodeEvent([]byte(head + rest))
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	confirmation := decode(`"type":"https://aaep-protocol.org/types/agent.awaiting.confirmation","action":"a","consequence":"b","reply_token":"rpl_1","timeout_seconds":3e2,"default_decision":"reject","reversibility":"irreversible","irreversible":false}`)
	payload, ok := confirmation.Payload.(aaep.AwaitingConfirmation)
	if !ok || confirmation.Urgency != aaep.UrgencyCritical || !payload.Irreversible || payload.TimeoutSeconds != 300 { // C-05, C-16, C-18, C-21
		t.Errorf("got %+v", confirmation)
	}
	if want := time.Date(2026, 5, 24, 14, 22, 11, 342e6, time.UTC); !confirmation.Time.Equal(want) {
		t.Errorf("time = %v, want %v", confirmation.Time, want)
	}
	unknown := decode(`"type":"medai:seen","mood":{"a":[1]},"extensions":{"x":{"y":1}}}`)
	other, ok := unknown.Payload.(aaep.Other)
	if !ok || other.Type != "medai:seen" || string(other.Members["mood"]) != `{"a":[1]}` || len(other.Members) != 1 || string(unknown.Extensions["x"]) != `{"y":1}` {
		t.Errorf("got %+v", unknown)
	}
	for _, e := range []aaep.Event{{}, {Payload: aaep.StateChanged{}}, unknown} {
		if e.IsTerminal() {
			t.Errorf("%s is terminal", e.Type())
		}
	}
	if !decode(`"type":"aaep:agent.session.cancelled","cancelled_by":"user","summary_normal":"x"}`).IsTerminal() {
		t.Error("cancelled is not terminal")
	}
	if _, err := aaep.DecodeEvent([]byte(goodReply)); err == nil {
		t.Error("a reply reads as an event")
	}
}

const goodReply = `{"type":"confirmation.reply","reply_token":"rpl_1","decision":"accept","subscription_id":"sub_1","timestamp":"2026-05-24T14:22:11Z"}`

// TestDecodeReplies: a reply is read only when it can be read in one way.
func TestDecodeReplies(t *testing.T) {
	t.Parallel()
	reply, err := aaep.DecodeConfirmationReply([]byte(strings.Replace(goodReply, `"}`, `","decided_by":"me","modified_action":{}}`, 1)))
	if err != nil || reply.Decision != aaep.DecisionAccept || reply.ReplyToken != "rpl_1" || reply.SubscriptionID != "sub_1" || reply.DecidedBy != "me" || reply.ModifiedAction == nil {
		t.Errorf("got %+v, %v", reply, err)
	}
	for _, raw := range []string{
		``, `null`, `[]`, goodReply + goodReply, "\xef\xbb\xbf" + goodReply,
		strings.Replace(goodReply, `"decision":"accept"`, `"decision":"reject","decision":"accept"`, 1),
		strings.Replace(goodReply, `"decision":"accept"`, `"decision":"reject","d\u0065cision":"accept"`, 1),
		strings.Replace(goodReply, `"decision"`, `"Decision"`, 1),
		strings.Replace(goodReply, `"decision":"accept"`, `"decision":"reject","DECISION":"accept"`, 1),
		strings.Replace(goodReply, `"decision":"accept"`, `"decision":"accept","mood":1`, 1),
		strings.Replace(goodReply, `"decision":"accept"`, `"decision":"accept","decided_by":null`, 1),
		strings.Replace(goodReply, `"accept"`, `"accept\u0000"`, 1),
		strings.Replace(goodReply, `rpl_1`, "rpl_1\xff", 1),
		strings.Replace(goodReply, `confirmation.reply`, `clarification.reply`, 1),
		strings.Replace(goodReply, `confirmation.reply`, `https://aaep-protocol.org/types/confirmation.reply`, 1),
	} {
		got, err := aaep.DecodeConfirmationReply([]byte(raw))
		refused, ok := errors.AsType[*aaep.Error](err)
		if !ok || refused.Code != aaep.CodeBadMessage || refused.SafeToRetry() || !reflect.DeepEqual(got, aaep.ConfirmationReply{}) {
			t.Errorf("%s: got %+v, %v", raw, got, err)
		}
	}
	extend, err := aaep.DecodeQuestionExtend([]byte(`{"type":"earshot:question.extend","reply_token":"rpl_1","subscription_id":"sub_1","timestamp":"2026-05-24T14:22:11Z"}`))
	if err != nil || extend.ReplyToken != "rpl_1" || extend.Timestamp.IsZero() {
		t.Errorf("got %+v, %v", extend, err)
	}
	if _, err := aaep.DecodeQuestionExtend([]byte(goodReply)); err == nil {
		t.Error("an accept reads as a request for more time")
	}
}

// TestResponses: the answer to a question keeps its JSON type (CLA-03).
func TestResponses(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]aaep.Response{
		`"67"`: aaep.TextResponse("67"), `67`: aaep.NumberResponse(67), `true`: aaep.YesNoResponse(true), `false`: aaep.YesNoResponse(false), `"a\"b"`: aaep.TextResponse(`a"b`),
	} {
		reply, err := aaep.DecodeClarificationReply([]byte(`{"type":"clarification.reply","reply_token":"rpl_1","subscription_id":"sub_1","timestamp":"2026-05-24T14:22:11Z","response":` + written + `}`))
		if err != nil || !reflect.DeepEqual(reply.Response, want) {
			t.Errorf("%s: got %+v, %v", written, reply.Response, err)
		}
		text, isText := reply.Response.Text()
		number, isNumber := reply.Response.Number()
		_, isYesNo := reply.Response.YesNo()
		if isText != strings.HasPrefix(written, `"`) || isNumber != (written == "67") || isYesNo != (written == "true" || written == "false") || isNumber && number != 67 || isText && text == "" {
			t.Errorf("%s reads as %q %t, %v %t, %t", written, text, isText, number, isNumber, isYesNo)
		}
		if raw, err := want.MarshalJSON(); err != nil || string(raw) != written {
			t.Errorf("%s is written as %s, %v", written, raw, err)
		}
	}
	if _, err := (aaep.Response{}).MarshalJSON(); err == nil {
		t.Error("an empty response is written")
	}
}

// seeds are events and replies, whole, bare and broken, for the fuzzers.
func seeds(f *testing.F) {
	f.Helper()
	for _, m := range aaep.Messages() {
		f.Add(encode(f, whole(f, m)))
		f.Add(encode(f, bare(f, m)))
		f.Add([]byte(m.Example))
	}
	for _, c := range slices.Concat(ruleCases, handshakeCases) {
		m, _ := aaep.Lookup(c.of)
		for _, e := range c.breaks {
			message := whole(f, m)
			for name, value := range e {
				put(message, name, value)
			}
			if raw := encode(f, message); len(raw) < 4096 {
				f.Add(raw)
			}
		}
	}
	paths, err := filepath.Glob("testdata/hostile/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no hostile texts: %v", err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
}

// FuzzValidate: no text makes the validator panic, and every finding is complete.
func FuzzValidate(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, mode := range []aaep.Mode{aaep.ModeProducer, aaep.ModeConsumer} {
			for _, v := range aaep.Validate(raw, mode) {
				if v.Rule == "" || v.Severity == "" || v.Message == "" || v.Spec == "" || !jsontext.Pointer(v.Path).IsValid() {
					t.Errorf("not complete: %+v", v)
				}
			}
		}
		_, err := aaep.DecodeConfirmationReply(raw)
		_, err2 := aaep.DecodeClarificationReply(raw)
		_, err3 := aaep.DecodeQuestionExtend(raw)
		if (err == nil || err2 == nil || err3 == nil) && len(aaep.Errors(aaep.Validate(raw, aaep.ModeProducer))) > 0 {
			t.Errorf("a reply with errors is read: %s", raw)
		}
	})
}

// FuzzDecodeEvent: no text makes the reader panic; it agrees with the validator; and
// what it reads, and can be written, reads the same again.
func FuzzDecodeEvent(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		event, err := aaep.DecodeEvent(raw)
		if err != nil {
			if _, ok := errors.AsType[*aaep.Error](err); !ok {
				t.Errorf("not an error of this package: %v", err)
			}
			return
		}
		if found := aaep.Errors(aaep.Validate(raw, aaep.ModeConsumer)); len(found) > 0 {
			t.Errorf("an event with errors is read:%s", list(found))
		}
		passed, err := event.Forward()
		if err != nil {
			t.Fatalf("what was read cannot be passed on: %v\n%s", err, raw)
		}
		further, err := aaep.DecodeEvent(passed)
		if err != nil {
			t.Fatalf("what was passed on cannot be read: %v\n%s", err, passed)
		}
		if repeated, err := further.Forward(); err != nil || !bytes.Equal(passed, repeated) {
			t.Errorf("passed on twice, %v:\n%s\n%s", err, passed, repeated)
		}
		written, err := event.Encode()
		if err != nil {
			return // a consumer bears more than a producer may send
		}
		again, err := aaep.DecodeEvent(written)
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, written)
		}
		if repeated, err := again.Encode(); err != nil || !bytes.Equal(written, repeated) {
			t.Errorf("not the same bytes: %v\n%s\n%s", err, written, repeated)
		}
	})
}
