package utp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// Committed seeds lie in testdata/fuzz; what stands here adds the golden files.

func FuzzParseSubject(f *testing.F) {
	f.Add("cg.v1r4.home.public.cmd.tool.files.delete")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := utp.ParseSubject(text)
		if err == nil && s.String() != text {
			t.Errorf("%q formats as %q", text, s)
		}
		if err == nil && strings.ContainsAny(text, "*> \r\n\x00") {
			t.Errorf("%q passes", text)
		}
	})
}

func FuzzRenderTarget(f *testing.F) {
	f.Add("cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.{agent_id}", "home", "public", "tidy")
	f.Fuzz(func(t *testing.T, template, project, channel, agent string) {
		s, err := utp.RenderTarget(template, utp.TargetValues{Project: project, Channel: channel, Agent: agent})
		if err == nil && (s.Project != project || s.Channel != channel || !s.IsToolCommand() || s.Validate() != nil) {
			t.Errorf("%q renders as %q", template, s)
		}
	})
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add("CG-Agent-Id", "a", "cg-agent-id", "a", "3")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2, epoch string) {
		header := map[string][]string{name1: {value1}, name2: {value2}, utp.HeaderTurnEpoch: {epoch}}
		c, err := utp.DecodeHeader(header)
		if err != nil {
			return
		}
		c.DepthAbsent = false
		again, err := utp.EncodeHeader(c, utp.Stamp{At: time.UnixMilli(1)})
		if err != nil {
			t.Fatalf("%v decodes to %+v, which is not encoded: %v", header, c, err)
		}
		if back, err := utp.DecodeHeader(again); err != nil || back != c {
			t.Errorf("%+v reads back as %+v, %v", c, back, err)
		}
	})
}

func FuzzParseTraceparent(f *testing.F) {
	f.Add(traceparent)
	f.Fuzz(func(t *testing.T, text string) {
		normal, id, err := utp.ParseTraceparent(text)
		if err != nil {
			return
		}
		if again, _, err := utp.ParseTraceparent(normal); err != nil || again != normal || !strings.Contains(normal, id) {
			t.Errorf("%q: %q, %q, %v", text, normal, id, err)
		}
	})
}

func FuzzDecodeCommand(f *testing.F) {
	f.Add([]byte(`{"tool_name":"t","after_execution":"suspend","tool_call_card_id":"c","turn_epoch":3}`), "tc_1")
	f.Fuzz(func(t *testing.T, raw []byte, call string) {
		header := utp.Context{ToolCallID: call}
		c, merged, err := utp.DecodeCommand(raw, header)
		if err != nil {
			if merged != header {
				t.Errorf("%s: the error is answered under %+v", raw, merged)
			}
			return
		}
		if call != "" && merged.ToolCallID != call {
			t.Errorf("%s: the payload's call %q beats the header's", raw, merged.ToolCallID)
		}
		if c.ToolName == "" || c.AfterExecution == "" {
			return
		}
		again, err := utp.EncodeCommand(c)
		if err != nil {
			t.Fatalf("%+v is not encoded: %v", c, err)
		}
		if back, _, err := utp.DecodeCommand(again, header); err != nil || back != c {
			t.Errorf("%+v reads back as %+v, %v", c, back, err)
		}
	})
}

func FuzzDecodeReport(f *testing.F) {
	f.Add([]byte(`{"status":"success","after_execution":"suspend","tool_result_card_id":"r"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, _, err := utp.DecodeReport(raw, utp.Context{})
		if err != nil || r.AfterExecution == "" {
			return
		}
		again, err := utp.EncodeReport(r)
		if err != nil {
			t.Fatalf("%+v is not encoded: %v", r, err)
		}
		if back, _, err := utp.DecodeReport(again, utp.Context{}); err != nil || back != r {
			t.Errorf("%+v reads back as %+v, %v", r, back, err)
		}
	})
}

func FuzzDecodeCard(f *testing.F) {
	for _, name := range []string{"tool_call.json", "tool_result.json", "tool_result_failed.json"} {
		f.Add(seed(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := utp.DecodeCard(raw)
		if err != nil {
			return
		}
		again, err := utp.EncodeCard(c)
		if err != nil {
			t.Fatalf("%s decodes, and is not encoded: %v", raw, err)
		}
		back, err := utp.DecodeCard(again)
		if err != nil || back.ID != c.ID || back.Type != c.Type || !back.CreatedAt.Equal(c.CreatedAt) {
			t.Fatalf("%s reads back as %+v, %v", again, back, err)
		}
		if call, err := utp.DecodeToolCall(c); err == nil && call.ToolCallID != c.ToolCallID {
			t.Errorf("%s: call %q", raw, call.ToolCallID)
		}
		result, err := utp.DecodeToolResult(c)
		if err == nil && (!result.Status.Valid() || !result.AfterExecution.Valid() || (result.Error == nil) != (result.Status == utp.StatusSuccess)) {
			t.Errorf("%s: %+v", raw, result)
		}
	})
}

func seed(f *testing.F, name string) []byte {
	f.Helper()
	raw, err := os.ReadFile("testdata/golden/" + name)
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

func FuzzNormalizeError(f *testing.F) {
	f.Add([]byte(`{"code":"busy","message":"m"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := utp.NormalizeError(raw, utp.CodeInternalError, utp.SourceTool)
		if e != nil && (e.Code == "" || e.Message == "" || e.Source == "") {
			t.Errorf("%q: %+v", raw, e)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":1.50,"a":["\u00e9",{"z":-0,"y":1e2}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		once, err := utp.Canonical(raw)
		if !bytes.Equal(raw, before) {
			t.Fatalf("%q was changed to %q", before, raw)
		}
		if err != nil {
			return
		}
		twice, err := utp.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q: once %q, twice %q, %v", raw, once, twice, err)
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%q passes, and another parser says %v", raw, err)
		}
		if want := plainCanonical(v); string(once) != want {
			t.Errorf("%q: got %q, want %q", raw, once, want)
		}
	})
}

func FuzzResolve(f *testing.F) {
	f.Add([]byte(`{"args":{"defaults":{"a":1},"fixed":{"b":2}},"envs":{"c":"C"}}`), []byte(`{"b":1,"c":2,"d":3}`), "e")
	f.Fuzz(func(t *testing.T, options, args []byte, name string) {
		o, err := utp.ParseOptions(options)
		if err != nil {
			return
		}
		before := bytes.Clone(args)
		got, err := utp.Resolve(args, o)
		if !bytes.Equal(args, before) {
			t.Fatalf("%q was changed to %q", before, args)
		}
		if err != nil {
			return
		}
		if !json.Valid(got.Args) {
			t.Fatalf("%q with %q becomes %q", args, options, got.Args)
		}
		again, err := utp.Resolve(got.Args, o)
		if err != nil || len(again.Defaults) > 0 || len(again.Fixed) != len(got.Fixed) {
			t.Errorf("%q with %q: again %+v, %v", args, options, again, err)
		}
		set, err := utp.SetMember(got.Args, name, []byte(`{"$secret":"r"}`))
		if err != nil {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(set, &members); err != nil || string(members[name]) != `{"$secret":"r"}` {
			t.Errorf("%q of %q: %q, %v", name, got.Args, set, err)
		}
	})
}

func FuzzEffectiveAfter(f *testing.F) {
	f.Add([]byte(`{"__cg_control":{"after_execution":"terminate"}}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		if got := utp.EffectiveAfter(result); !got.Valid() {
			t.Errorf("%q: %q", result, got)
		}
	})
}
