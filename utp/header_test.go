package utp_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/utp"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func fullContext() utp.Context {
	return utp.Context{
		ProjectID: "home", ChannelID: "public", AgentID: "tidy", TurnID: "turn_1", TurnEpoch: 2, StepID: "step_1",
		ToolCallID: "tc_1", ParentAgentID: "pa", ParentTurnID: "pt", ParentStepID: "ps", RecursionDepth: 1,
		Traceparent: traceparent, Tracestate: "v=1", ParentTraceparent: traceparent,
	}
}

// TestEncodeHeader pins the exact case, which peers demand (UTP, "Headers").
func TestEncodeHeader(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 15, 17, 37, 523_999_999, time.UTC)
	got, err := utp.EncodeHeader(fullContext(), utp.Stamp{At: at})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"CG-Project-Id": {"home"}, "CG-Channel-Id": {"public"}, "CG-Agent-Id": {"tidy"}, "CG-Turn-Id": {"turn_1"},
		"CG-Turn-Epoch": {"2"}, "CG-Step-Id": {"step_1"}, "CG-Tool-Call-Id": {"tc_1"}, "CG-Parent-Agent-Id": {"pa"},
		"CG-Parent-Turn-Id": {"pt"}, "CG-Parent-Step-Id": {"ps"}, "CG-Recursion-Depth": {"1"},
		"traceparent": {traceparent}, "tracestate": {"v=1"}, "CG-Parent-Traceparent": {traceparent},
		"CG-Timestamp": {"1795187857523"}, "CG-Version": {"v1r4"}, "CG-Msg-Type": {"dict"}, "CG-Sender": {"earshot"},
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	back, err := utp.DecodeHeader(got)
	if err != nil || back != fullContext() {
		t.Errorf("decoded %+v, %v", back, err)
	}
}

func TestEncodeHeaderLeavesOut(t *testing.T) {
	t.Parallel()
	got, err := utp.EncodeHeader(utp.Context{AgentID: "tidy"}, utp.Stamp{At: time.UnixMilli(1), MsgType: "Wakeup", Sender: "kernel"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"CG-Agent-Id": {"tidy"}, "CG-Recursion-Depth": {"0"}, "CG-Timestamp": {"1"}, "CG-Version": {"v1r4"},
		"CG-Msg-Type": {"Wakeup"}, "CG-Sender": {"kernel"},
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestEncodeHeaderRefuses(t *testing.T) {
	t.Parallel()
	stamp := utp.Stamp{At: time.UnixMilli(1)}
	tests := []struct {
		name   string
		change func(*utp.Context, *utp.Stamp)
		header string
	}{
		{"no time", func(_ *utp.Context, s *utp.Stamp) { s.At = time.Time{} }, utp.HeaderTimestamp},
		{"depth not known", func(c *utp.Context, _ *utp.Stamp) { c.DepthAbsent = true }, utp.HeaderRecursionDepth},
		{"negative depth", func(c *utp.Context, _ *utp.Stamp) { c.RecursionDepth = -1 }, utp.HeaderRecursionDepth},
		{"negative epoch", func(c *utp.Context, _ *utp.Stamp) { c.TurnEpoch = -1 }, utp.HeaderTurnEpoch},
		{"line break", func(c *utp.Context, _ *utp.Stamp) { c.AgentID = "a\r\nX: y" }, utp.HeaderAgentID},
		{"not UTF-8", func(c *utp.Context, _ *utp.Stamp) { c.TurnID = "\xff" }, utp.HeaderTurnID},
		{"space at the end", func(c *utp.Context, _ *utp.Stamp) { c.TurnID = "t " }, utp.HeaderTurnID},
		{"long id", func(c *utp.Context, _ *utp.Stamp) { c.StepID = strings.Repeat("x", 257) }, utp.HeaderStepID},
		{"dot in project", func(c *utp.Context, _ *utp.Stamp) { c.ProjectID = "a.b" }, utp.HeaderProjectID},
		{"trace", func(c *utp.Context, _ *utp.Stamp) { c.Traceparent = "00-1-2-3" }, utp.HeaderTraceparent},
		{"parent trace", func(c *utp.Context, _ *utp.Stamp) { c.ParentTraceparent = "x" }, utp.HeaderParentTraceparent},
		{"trace state", func(c *utp.Context, _ *utp.Stamp) { c.Tracestate = "a\nb" }, utp.HeaderTracestate},
		{"sender", func(_ *utp.Context, s *utp.Stamp) { s.Sender = "a\nb" }, utp.HeaderSender},
		{"type", func(_ *utp.Context, s *utp.Stamp) { s.MsgType = "a\x00b" }, utp.HeaderMsgType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, s := fullContext(), stamp
			tt.change(&c, &s)
			_, err := utp.EncodeHeader(c, s)
			if wrong, ok := errors.AsType[*utp.HeaderError](err); !ok || wrong.Name != tt.header {
				t.Errorf("got %v, want a fault of %s", err, tt.header)
			}
		})
	}
}

// TestDecodeHeader covers U-11 and U-12: any case, but one value.
func TestDecodeHeader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header map[string][]string
		want   utp.Context
		bad    string // the header named by the error
	}{
		{"empty", nil, utp.Context{DepthAbsent: true}, ""},
		{"lower case", map[string][]string{"cg-agent-id": {"a"}, "cg-recursion-depth": {"2"}}, utp.Context{AgentID: "a", RecursionDepth: 2}, ""},
		{"documented spelling", map[string][]string{"CG-Channel-ID": {"c"}, "CG-Turn-ID": {"t"}}, utp.Context{ChannelID: "c", TurnID: "t", DepthAbsent: true}, ""},
		{"two spellings, one value", map[string][]string{"CG-Turn-ID": {"t"}, "CG-Turn-Id": {"t"}}, utp.Context{TurnID: "t", DepthAbsent: true}, ""},
		{"trace is lowered", map[string][]string{"Traceparent": {strings.ToUpper(traceparent)}}, utp.Context{Traceparent: traceparent, DepthAbsent: true}, ""},
		{"blank is absent", map[string][]string{"CG-Agent-Id": {" "}, "CG-Recursion-Depth": {""}}, utp.Context{DepthAbsent: true}, ""},
		{"unknown is ignored", map[string][]string{"CG-L0-Ack-Reply": {"x"}, "Nats-Msg-Id": {"y"}}, utp.Context{DepthAbsent: true}, ""},
		{"two spellings, two values", map[string][]string{"CG-Turn-ID": {"t"}, "CG-Turn-Id": {"u"}}, utp.Context{}, utp.HeaderTurnID},
		{"one spelling, two values", map[string][]string{"CG-Agent-Id": {"a", "b"}}, utp.Context{}, utp.HeaderAgentID},
		{"another version", map[string][]string{"CG-Version": {"v2"}}, utp.Context{}, utp.HeaderVersion},
		{"epoch is not a number", map[string][]string{"CG-Turn-Epoch": {"one"}}, utp.Context{}, utp.HeaderTurnEpoch},
		{"epoch with a sign", map[string][]string{"CG-Turn-Epoch": {"+1"}}, utp.Context{}, utp.HeaderTurnEpoch},
		{"depth below 0", map[string][]string{"CG-Recursion-Depth": {"-1"}}, utp.Context{}, utp.HeaderRecursionDepth},
		{"zero trace", map[string][]string{"traceparent": {"00-00000000000000000000000000000000-b7ad6b7169203331-01"}}, utp.Context{}, utp.HeaderTraceparent},
		{"wildcard project", map[string][]string{"CG-Project-Id": {"*"}}, utp.Context{}, utp.HeaderProjectID},
		{"control character", map[string][]string{"CG-Agent-Id": {"a\x01"}}, utp.Context{}, utp.HeaderAgentID},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := utp.DecodeHeader(tt.header)
			if tt.bad == "" {
				if err != nil || got != tt.want {
					t.Fatalf("got %+v, %v; want %+v", got, err, tt.want)
				}
				return
			}
			if wrong, ok := errors.AsType[*utp.HeaderError](err); !ok || wrong.Name != tt.bad || wrong.Code() != utp.CodeBadRequest {
				t.Fatalf("got %v, want a fault of %s", err, tt.bad)
			}
		})
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringMatching(`[A-Za-z0-9_-]{0,12}`)
		id := rapid.StringMatching(`([a-z:./é][a-zA-Z ]{0,5}[a-z])?`)
		c := utp.Context{
			ProjectID: token.Draw(t, "project"), ChannelID: token.Draw(t, "channel"), AgentID: id.Draw(t, "agent"),
			TurnID: id.Draw(t, "turn"), StepID: id.Draw(t, "step"), ToolCallID: id.Draw(t, "call"),
			TurnEpoch: rapid.IntRange(0, 1<<30).Draw(t, "epoch"), RecursionDepth: rapid.IntRange(0, 99).Draw(t, "depth"),
		}
		header, err := utp.EncodeHeader(c, utp.Stamp{At: time.UnixMilli(1)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := utp.DecodeHeader(header); err != nil || got != c {
			t.Fatalf("got %+v, %v; want %+v", got, err, c)
		}
	})
}

// TestCheckCommand covers U-13: a command of ours carries all of it.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	if err := fullContext().CheckCommand(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		header string
		remove func(*utp.Context)
	}{
		{utp.HeaderProjectID, func(c *utp.Context) { c.ProjectID = "" }},
		{utp.HeaderChannelID, func(c *utp.Context) { c.ChannelID = "" }},
		{utp.HeaderAgentID, func(c *utp.Context) { c.AgentID = "" }},
		{utp.HeaderTurnID, func(c *utp.Context) { c.TurnID = "" }},
		{utp.HeaderTurnEpoch, func(c *utp.Context) { c.TurnEpoch = 0 }},
		{utp.HeaderStepID, func(c *utp.Context) { c.StepID = "" }},
		{utp.HeaderToolCallID, func(c *utp.Context) { c.ToolCallID = "" }},
		{utp.HeaderTraceparent, func(c *utp.Context) { c.Traceparent = "" }},
		{utp.HeaderRecursionDepth, func(c *utp.Context) { c.DepthAbsent = true }},
	}
	for _, tt := range tests {
		c := fullContext()
		tt.remove(&c)
		if wrong, ok := errors.AsType[*utp.HeaderError](c.CheckCommand()); !ok || wrong.Name != tt.header {
			t.Errorf("without %s: %v", tt.header, c.CheckCommand())
		}
	}
}

func TestContextAt(t *testing.T) {
	t.Parallel()
	s, err := utp.ToolCommand("home", "public", "files", "delete")
	if err != nil {
		t.Fatal(err)
	}
	got, err := utp.Context{AgentID: "a"}.At(s)
	if err != nil || got.ProjectID != "home" || got.ChannelID != "public" || got.AgentID != "a" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := fullContext().At(s); err != nil {
		t.Error(err)
	}
	if _, err := (utp.Context{ProjectID: "work"}).At(s); err == nil {
		t.Error("another project passes")
	}
	if _, err := (utp.Context{ChannelID: "ops"}).At(s); err == nil {
		t.Error("another channel passes")
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	made := utp.NewTraceparent([16]byte{0: 0xab, 15: 1}, [8]byte{7: 2})
	if normal, id, err := utp.ParseTraceparent(made); err != nil || normal != made || id != "ab000000000000000000000000000001" {
		t.Errorf("made %s: %s, %s, %v", made, normal, id, err)
	}
	for _, bad := range []string{
		"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", traceparent + "-01", "0-" + traceparent[3:],
		strings.Replace(traceparent, "a", "g", 1), strings.Replace(traceparent, "0af7651916cd43dd8448eb211c80319c", strings.Repeat("0", 32), 1),
	} {
		if _, _, err := utp.ParseTraceparent(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
	for _, text := range []string{"0af7651916cd43dd8448eb211c80319c", "0AF76519-16CD-43DD-8448-EB211C80319C"} {
		if id, err := utp.ParseTraceID(text); err != nil || id != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%q: %q, %v", text, id, err)
		}
	}
	for _, bad := range []string{"", "0af7", strings.Repeat("0", 32), "0af7651916cd43dd8448eb211c80319cx", "0af765191-6cd-43dd-8448-eb211c80319c"} {
		if _, err := utp.ParseTraceID(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
