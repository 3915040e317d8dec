package aaep_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

// placed are the names of all known members.
var placed = map[string]aaep.Known{
	"type": aaep.KnownType, "event_id": aaep.KnownEventID, "session_id": aaep.KnownSessionID, "sequence_number": aaep.KnownSequenceNumber,
	"timestamp": aaep.KnownTimestamp, "producer": aaep.KnownProducer, "extensions": aaep.KnownExtensions,
	"from_state": aaep.KnownFromState, "to_state": aaep.KnownToState,
	"tool": aaep.KnownTool, "tool_call_id": aaep.KnownToolCallID, "irreversible": aaep.KnownIrreversible, "risk_level": aaep.KnownRiskLevel,
	"reply_token": aaep.KnownReplyToken, "action": aaep.KnownAction, "default_decision": aaep.KnownDefaultDecision,
	"timeout_seconds": aaep.KnownTimeoutSeconds, "allowed_replies": aaep.KnownAllowedReplies, "extra_context": aaep.KnownExtraContext,
	"output_id": aaep.KnownOutputID, "chunk": aaep.KnownChunk, "coalesce_hint": aaep.KnownCoalesceHint, "position": aaep.KnownPosition, "complete": aaep.KnownComplete,
}

// TestPlaces: the known members are the same as a walk over all members finds, whether
// the document has been judged before or not, and whatever its type has to say of them.
func TestPlaces(t *testing.T) {
	t.Parallel()
	var raws []string
	for _, m := range aaep.Messages() {
		raws = append(raws, m.Example)
		for _, change := range []string{
			`{"tool":"files.scan","chunk":"a","position":3e2,"complete":true,`, // strays, in most of them
			`{"session_id":"sess_other","type":"aaep:agent.state.changed",`,    // twice, so without a value
			`{"Type":"x","tool_call_id":null,"timestamps":"2026-05-24T14:22:11Z",`,
		} {
			raws = append(raws, strings.Replace(m.Example, "{", change, 1))
		}
		raws = append(raws, strings.Replace(m.Example, `"aaep:`, `"acme:`, 1))
	}
	for _, when := range []string{"2026-05-24T14:22:11+07:30", "2026-02-30T14:22:11Z", "2026-05-24T14:22:11.1234567891Z", "2026-05-24T14:22:11.1234Z", "soon", ""} {
		raws = append(raws, `{"type":"aaep:agent.progress.updated","timestamp":"`+when+`"}`)
	}
	raws = append(raws, ``, `[]`, `"x"`, `{`, `{}`, `{"producer":5,"timestamp":{}}`)
	validator := &aaep.Validator{}
	for _, raw := range raws {
		samePlaces(t, raw, aaep.Read([]byte(raw)))
		for _, mode := range []aaep.Mode{aaep.ModeProducer, aaep.ModeConsumer, aaep.ModeEnvelope} {
			d := validator.Read([]byte(raw))
			validator.Judge(d, mode)
			samePlaces(t, raw, d)
		}
	}
	if (aaep.Document{}).KnownMembers().Member(aaep.KnownType).Exists() {
		t.Error("nothing has a type")
	}
}

// samePlaces holds the known members against those of a walk.
func samePlaces(t *testing.T, raw string, d aaep.Document) {
	t.Helper()
	walked := map[string]aaep.Member{}
	for m := d.Members(); m.Next(); {
		walked[string(m.Name())] = m.Member
	}
	places := d.KnownMembers()
	for name, k := range placed {
		got := places.Member(k)
		want, there := walked[name]
		if got.Exists() != there {
			t.Errorf("%s exists: %t, want %t, in\n%s", name, got.Exists(), there, raw)
			continue
		}
		n, whole := got.Whole()
		when, timed := got.Time()
		if !there {
			if got.Bytes() != nil || got.True() || whole || timed || got.Text("agent_id") != nil {
				t.Errorf("%s is absent and has a value in\n%s", name, raw)
			}
			continue
		}
		wantN, wantWhole := want.Whole()
		wantWhen, wantTimed := aaep.ParseTime(want.Bytes())
		if !bytes.Equal(got.Bytes(), want.Bytes()) || got.True() != want.True() || n != wantN || whole != wantWhole || timed != wantTimed || !when.Equal(wantWhen) {
			t.Errorf("%s is %q, %t, %d %t, %s %t in\n%s", name, got.Bytes(), got.True(), n, whole, when, timed, raw)
		}
		agent := []byte(nil)
		for m := want.Inside(); m.Next(); {
			if string(m.Name()) == "agent_id" {
				agent = m.Bytes()
			}
		}
		if !bytes.Equal(got.Text("agent_id"), agent) {
			t.Errorf("%s.agent_id is %q, want %q, in\n%s", name, got.Text("agent_id"), agent, raw)
		}
	}
}
