package outgoing_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/outbox"
	"github.com/earshot-dev/earshot/internal/kernel/outgoing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func messages() *outgoing.Tx {
	return outgoing.In(turn.Timestamp{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, &turn.State{
		Turn: "turn_00000000000000000000000000000001", Session: "sess_00000000000000000000000000000001",
		Project: "default", Channel: "public", Agent: "tidy", Depth: 2, Stop: &turn.Stop{Reason: "enough"},
	}, ids.New(rand.Reader))
}

func call(class utp.Class) turn.Call {
	return turn.Call{
		ID: "tc_1", Card: "card_1", Step: "step_1", Tool: "box.add", Target: "box", Class: class, Consent: &turn.Consent{Generation: "run 1"},
	}
}

func subject(t *testing.T) utp.Subject {
	t.Helper()
	s, err := utp.ToolCommand("default", "public", "box", "add")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func one(t *testing.T, m *outgoing.Tx, err error) store.Outgoing {
	t.Helper()
	if err != nil || len(m.Rows()) != 1 {
		t.Fatalf("found %d messages, %v; expected one", len(m.Rows()), err)
	}
	return m.Rows()[0]
}

// TestStart: a command that is the start of its call leaves while it may start only, and once where it cannot be repeated;
// what was agreed to in one run of the runtime does not leave in another.
func TestStart(t *testing.T) {
	t.Parallel()
	for class, once := range map[utp.Class]bool{utp.Read: false, utp.Reversible: true, utp.Irreversible: true} {
		m := messages()
		row := one(t, m, m.Start(call(class), subject(t)))
		if row.Header[outbox.NotAfter] == nil || (row.Header[outbox.Once] != nil) != once || (row.Header[outbox.ConsentGeneration] != nil) != (class == utp.Irreversible) {
			t.Errorf("%s: found the headers %v", class, row.Header)
		}
		if row.Call != "tc_1" || row.Session != "sess_00000000000000000000000000000001" {
			t.Errorf("%s: it is of %s in %s", class, row.Call, row.Session)
		}
	}
	m := messages()
	row := one(t, m, m.Command(call(utp.Irreversible), subject(t)))
	if row.Header[outbox.NotAfter] != nil || row.Header[outbox.Once] != nil {
		t.Errorf("a command that is asked to start has the headers %v", row.Header)
	}
}

// TestHeader: each message says what it belongs to, and has a span of its own in the trace of its turn.
func TestHeader(t *testing.T) {
	t.Parallel()
	m := messages()
	for range 2 {
		if err := m.Command(call(utp.Read), subject(t)); err != nil {
			t.Fatal(err)
		}
	}
	spans := map[string]bool{}
	for _, row := range m.Rows() {
		h, err := utp.DecodeHeader(row.Header)
		if err != nil || h.TurnID != "turn_00000000000000000000000000000001" || h.ToolCallID != "tc_1" || h.StepID != "step_1" || h.TurnEpoch != 1 || h.RecursionDepth != 2 {
			t.Errorf("found %+v, %v", h, err)
		}
		spans[h.Traceparent] = true
	}
	if len(spans) != 2 {
		t.Errorf("found the spans %v, expected two", spans)
	}
}

// TestThirdParty: a third-party service would read a notice as a command; so it gets none.
func TestThirdParty(t *testing.T) {
	t.Parallel()
	for _, foreign := range []bool{false, true} {
		m, c := messages(), call(utp.Reversible)
		c.ThirdParty = foreign
		if err := m.Notice(c, utp.SuffixReconcile); err != nil {
			t.Fatal(err)
		}
		if err := m.Cancel(c); err != nil {
			t.Fatal(err)
		}
		if sent := len(m.Rows()); sent != 2 && !foreign || sent != 0 && foreign {
			t.Errorf("third-party %t: found %d messages", foreign, sent)
		}
	}
}

// TestWakeup: a wakeup is of the turn, and of none of its calls.
func TestWakeup(t *testing.T) {
	t.Parallel()
	m := messages()
	row := one(t, m, m.Wakeup())
	h, err := utp.DecodeHeader(row.Header)
	if err != nil || h.ToolCallID != "" || row.Call != "" || h.AgentID != "tidy" || row.Header[utp.HeaderRecursionDepth] != nil {
		t.Errorf("found %+v, %v", row.Header, err)
	}
}
