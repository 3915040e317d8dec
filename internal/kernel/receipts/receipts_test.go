package receipts_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/receipts"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// collected is what a transaction on a turn with one call proves later, and how often it was counted.
type collected struct {
	store.Batch

	counts int
}

func collect(t *testing.T, c turn.Call, do func(*receipts.Tx) error) (out collected) {
	t.Helper()
	tx := receipts.In(receipts.Options{
		Record: &store.Record{
			State:     turn.State{Session: "sess_1", Calls: []turn.Call{c}},
			Questions: []consent.Question{{Number: 1, Shown: "shown"}},
		},
		Now: turn.Timestamp{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, IDs: ids.New(rand.Reader),
		Act:   func(a api.AuditAct) (api.AuditAct, error) { return a, nil },
		Count: func() error { out.counts++; return nil },
	})
	tx.Answer = receipts.Answer{Credential: "cred_1", Language: "es", Seen: api.SeenShown}
	if err := do(tx); err != nil {
		t.Fatal(err)
	}
	tx.Into(&out.Batch)
	return out
}

func call(class utp.Class) turn.Call {
	return turn.Call{ID: "tc_1", Kind: turn.ToolCall, Class: class, Question: 1, Digest: "digest", Arguments: "arguments", Owner: "process", Target: "box"}
}

// TestReceipt: only an accept is a consent; a no and an undo name what they refuse, and an answer to nothing that is done
// is bound to nothing.
func TestReceipt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		decision          string
		kind              turn.CallKind
		consents          int
		consentOf, seenAs string
	}{
		{string(consent.Accept), turn.ToolCall, 1, "digest", string(api.SeenShown)},
		{string(consent.Reject), turn.ToolCall, 0, "digest", ""},
		{turn.Undone, turn.ToolCall, 0, "digest", ""},
		{api.DecidedByNobody, turn.ToolCall, 0, "", ""},
		{string(consent.Accept), turn.PermissionCall, 1, "digest", string(api.SeenShown)},
	} {
		c := call(utp.Irreversible)
		c.Kind = test.kind
		out := collect(t, c, func(tx *receipts.Tx) error {
			return tx.Receipt(turn.Receipt{Call: "tc_1", Decision: test.decision, By: "ada"})
		})
		if len(out.Receipts) != 1 || len(out.Consents) != test.consents || out.counts != 1 {
			t.Fatalf("%s: found %d receipts and %d consents, counted %d times", test.decision, len(out.Receipts), len(out.Consents), out.counts)
		}
		r := out.Receipts[0]
		if r.Terms.Consent != test.consentOf || string(r.Terms.Seen) != test.seenAs || r.Terms.Credential != "cred_1" || r.Language != "es" || r.Shown != "shown" || r.Salt == "" {
			t.Errorf("%s: found %+v", test.decision, r)
		}
	}
}

// TestGrant: each start is recorded; one with an effect is an act of the audit chain, and counted, so that a restored ledger
// is found out.
func TestGrant(t *testing.T) {
	t.Parallel()
	for class, acts := range map[utp.Class]int{utp.Read: 0, utp.Reversible: 1, utp.Irreversible: 1} {
		out := collect(t, call(class), func(tx *receipts.Tx) error { return tx.Grant(turn.Grant{Call: "tc_1", Fence: 2}) })
		if len(out.Grants) != 1 || len(out.Acts) != acts || out.counts != acts {
			t.Errorf("%s: found %d grants and %d acts, counted %d times", class, len(out.Grants), len(out.Acts), out.counts)
		}
	}
}

// TestCountFails: where the count cannot be written, the answer is not recorded either: the error ends the transaction.
func TestCountFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is full")
	tx := receipts.In(receipts.Options{
		Record: &store.Record{State: turn.State{Calls: []turn.Call{call(utp.Irreversible)}}}, IDs: ids.New(rand.Reader),
		Act: func(a api.AuditAct) (api.AuditAct, error) { return a, nil }, Count: func() error { return broken },
	})
	if err := tx.Receipt(turn.Receipt{Call: "tc_1", Decision: string(consent.Accept)}); !errors.Is(err, broken) {
		t.Errorf("found %v", err)
	}
	if err := tx.Grant(turn.Grant{Call: "tc_1"}); !errors.Is(err, broken) {
		t.Errorf("found %v", err)
	}
}
