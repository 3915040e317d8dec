package audit_test

import (
	"os"
	"testing"

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
