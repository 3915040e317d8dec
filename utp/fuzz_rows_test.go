package utp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// The decoders of what lies in tables, and of what the kernel answers. As for the others,
// committed seeds lie in testdata/fuzz.

func FuzzDecodeContent(f *testing.F) {
	f.Add([]byte(`{"__type__":"TextContent","text":"t"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := utp.DecodeContent(raw)
		if err != nil {
			return
		}
		once, err := utp.EncodeContent(c)
		if err != nil {
			t.Fatalf("%s decodes, and is not encoded: %v", raw, err)
		}
		back, err := utp.DecodeContent(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := utp.EncodeContent(back); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("once %s, twice %s, %v", once, twice, err)
		}
	})
}

func FuzzDecodeInboxRow(f *testing.F) {
	var file struct {
		Good json.RawMessage `json:"good"`
	}
	if err := json.Unmarshal(seed(f, "inbox.json"), &file); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(file.Good))
	f.Fuzz(func(t *testing.T, raw []byte) {
		row, err := utp.DecodeInboxRow(raw)
		if err != nil {
			return
		}
		if err := row.Context.CheckCommand(); err != nil {
			t.Errorf("%s passes without %v", raw, err)
		}
		if !row.Report.AfterExecution.Valid() { // left out: it is the card's to say
			return
		}
		again, err := utp.EncodeInboxRow(row)
		if err != nil {
			t.Fatalf("%s decodes, and is not encoded: %v", raw, err)
		}
		if back, err := utp.DecodeInboxRow(again); err != nil || back != row {
			t.Errorf("%+v reads back as %+v, %v", row, back, err)
		}
	})
}

func FuzzDecodeBox(f *testing.F) {
	f.Add([]byte(`{"box_id":"0192f0c7-a2b3-7c4d-8e5f-60718293a4b5","tenant_id":"p","card_ids":["a","a"],"parent_ids":null,"updated_at":"2026-11-20T15:17:37Z"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := utp.DecodeBox(raw)
		if err != nil {
			return
		}
		once, err := utp.EncodeBox(b)
		if err != nil {
			t.Fatalf("%s decodes, and is not encoded: %v", raw, err)
		}
		back, err := utp.DecodeBox(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := utp.EncodeBox(back); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("once %s, twice %s, %v", once, twice, err)
		}
	})
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add("s", "CG-Agent-Id", "a", []byte("\xff"))
	f.Fuzz(func(t *testing.T, subject, name, value string, payload []byte) {
		raw := utp.EncodeMessage(utp.Message{Subject: subject, Header: map[string][]string{name: {value}}, Payload: payload})
		got, err := utp.DecodeMessage(raw)
		if err != nil || !bytes.Equal(got.Payload, payload) {
			t.Fatalf("%s: %+v, %v", raw, got, err)
		}
		if again := utp.EncodeMessage(got); !bytes.Equal(again, raw) {
			t.Errorf("once %s, twice %s", raw, again)
		}
		if card := utp.NamedCard(payload); card != "" && !json.Valid(payload) {
			t.Errorf("%q names %q", payload, card)
		}
	})
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add([]byte(`{"ok":{"a":1}}`))
	f.Add([]byte(`{"error":{"code":"busy","message":"m","safe_to_retry":true}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var value any
		err := api.DecodeAnswer(raw, &value)
		fault, is := errors.AsType[*api.Fault](err)
		if !is {
			return
		}
		again, is := errors.AsType[*api.Fault](api.DecodeAnswer(api.EncodeAnswer(nil, fault), nil))
		if !is || again.Code != fault.Code || again.Message != fault.Message || again.Retry != fault.Retry {
			t.Errorf("%+v reads back as %+v", fault, again)
		}
	})
}

func FuzzDefinition(f *testing.F) {
	f.Add([]byte(`{"tool_name":"t","description":"d","parameters":{},"target_subject":"cg.v1r4.{project_id}.{channel_id}.cmd.tool.x.y","after_execution":"suspend","class":"read","risk":"low","options":{"enforcement":"broker-only"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d utp.Definition
		if json.Unmarshal(raw, &d) != nil || d.Validate() != nil {
			return
		}
		digest, err := d.Digest()
		if err != nil || len(digest) != 64 || !d.Enforcement().Valid() {
			t.Errorf("%s passes: %q, %v, %s", raw, digest, err, d.Enforcement())
		}
		if _, err := utp.RenderTarget(d.Target, utp.TargetValues{Project: "p", Channel: "c", Agent: "a"}); err != nil {
			t.Errorf("%s passes with the target %q: %v", raw, d.Target, err)
		}
	})
}

func FuzzParseTraceID(f *testing.F) {
	f.Add("0af76519-16cd-43dd-8448-eb211c80319c")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := utp.ParseTraceID(text)
		if err != nil {
			return
		}
		if again, err := utp.ParseTraceID(id); err != nil || again != id || len(id) != 32 {
			t.Errorf("%q: %q, %q, %v", text, id, again, err)
		}
	})
}
