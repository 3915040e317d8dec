package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
)

// TestOlderChain: a chain that was written before receipts had terms is whole as it was; testdata
// holds what a program of then answered.
func TestOlderChain(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/before-terms.json")
	if err != nil {
		t.Fatal(err)
	}
	var older api.AuditAnswer
	if err := json.Unmarshal(raw, &older); err != nil {
		t.Fatal(err)
	}
	if flaws, report := verified(t, audit.Verifier{}, older.Entries, api.AuditUnchained{}); flaws != "" || report.Answers != 3 || report.Receipts != 2 {
		t.Errorf("%q, %+v", flaws, report)
	}
	older.Entries[0].Receipt.Terms.Arguments = "5e"
	if flaws, _ := verified(t, audit.Verifier{}, older.Entries, api.AuditUnchained{}); flaws != "1 altered" {
		t.Errorf("terms that were put in later: %q", flaws)
	}
}

// TestCommitmentToTerms: the commitment changes with each of the terms, and no text can be moved
// from one to the other.
func TestCommitmentToTerms(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, terms := range map[string]api.ReceiptTerms{
		"none": {}, "consent": {Consent: "x"}, "arguments": {Arguments: "x"}, "definition": {Definition: "x"}, "policy": {Policy: "x"},
		"credential": {Credential: "x"}, "seen": {Seen: "x"}, "event": {Event: "x"}, "covered": {Covered: "x"}, "response": {Response: "x"},
		"two": {Policy: "x", Credential: "y"}, "moved": {Policy: "xcredential=y"}, "all": {Consent: "a", Arguments: "b", Definition: "c", Policy: "d", Credential: "e", Seen: "f", Event: "g"},
	} {
		r := *firstReceipt(1)
		r.Terms = terms
		sum := audit.Commitment(r)
		if before, twice := seen[sum]; twice {
			t.Errorf("%s has the commitment of %s", name, before)
		}
		seen[sum] = name
	}
}

// TestCommitmentToActs: the commitment changes with each part of an act. One without a description has the commitment that
// it had before there were any.
func TestCommitmentToActs(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, act := range map[string]api.AuditAct{
		"none": {}, "act": {Act: "x"}, "at": {At: time.UnixMicro(1)}, "session": {Session: "x"}, "call": {Call: "x"}, "fence": {Fence: 1},
		"subject": {Subject: "x"}, "detail": {Detail: "x"}, "digest": {Digest: "x"}, "description": {Description: "x"}, "by": {By: "x"}, "salt": {Salt: "x"},
	} {
		sum := audit.ActCommitment(act)
		if before, twice := seen[sum]; twice {
			t.Errorf("%s has the commitment of %s", name, before)
		}
		seen[sum] = name
	}
	text := "earshot-audit-act-1" + "1:s,6:review,1:0,0:,0:,1:0,4:burn,4:read,1:d,3:ann,"
	sum := sha256.Sum256([]byte(text))
	act := api.AuditAct{Salt: "s", Act: api.ActReview, At: time.UnixMicro(0), Subject: "burn", Detail: "read", Digest: "d", By: "ann"}
	if got := audit.ActCommitment(act); got != hex.EncodeToString(sum[:]) {
		t.Errorf("the commitment is %s; want that of %s", got, text)
	}
}
