package audit_test

import (
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
)

// TestKept: what is kept beside a receipt is compared as far as its turn is kept, and only for a
// receipt that the chain vouches for.
func TestKept(t *testing.T) {
	t.Parallel()
	whole := api.AuditEvidence{
		Turn: api.AuditTurnWhole, Arguments: "a", Consented: "c", Shown: "5e", Call: "c", Definition: "d", Consent: "c", Response: "r", Question: true,
	}
	erased := api.AuditEvidence{Turn: api.AuditTurnErased, Call: "c", Definition: "d", Consent: "c", Question: true}
	for name, tt := range map[string]struct {
		kept  api.AuditEvidence
		alter func(k *api.AuditEvidence)
		flaws string
	}{
		"whole":                     {whole, func(*api.AuditEvidence) {}, ""},
		"other arguments":           {whole, func(k *api.AuditEvidence) { k.Arguments, k.Consented = "b", "e" }, "1 arguments"},
		"no arguments":              {whole, func(k *api.AuditEvidence) { k.Arguments, k.Consented = "", "" }, "1 arguments"},
		"another consent":           {whole, func(k *api.AuditEvidence) { k.Consented = "e" }, "1 bound"},
		"another call":              {whole, func(k *api.AuditEvidence) { k.Call = "e" }, "1 bound"},
		"another definition":        {whole, func(k *api.AuditEvidence) { k.Definition = "e" }, "1 bound"},
		"another event":             {whole, func(k *api.AuditEvidence) { k.Shown = "5f" }, "1 shown"},
		"another answer":            {whole, func(k *api.AuditEvidence) { k.Response = "other" }, "1 outcome"},
		"no question":               {whole, func(k *api.AuditEvidence) { k.Question = false }, "1 unasked"},
		"another yes":               {whole, func(k *api.AuditEvidence) { k.Consent = "e" }, "1 unagreed"},
		"no start":                  {whole, func(k *api.AuditEvidence) { k.Unstarted = true }, "1 unstarted"},
		"no turn":                   {api.AuditEvidence{Turn: api.AuditTurnMissing}, func(*api.AuditEvidence) {}, "1 orphaned"},
		"erased":                    {erased, func(*api.AuditEvidence) {}, ""},
		"erased, another call":      {erased, func(k *api.AuditEvidence) { k.Call = "" }, "1 bound"},
		"erased, no yes":            {erased, func(k *api.AuditEvidence) { k.Consent = "" }, "1 unagreed"},
		"imported":                  {api.AuditEvidence{Turn: api.AuditTurnImported, Arguments: "a"}, func(*api.AuditEvidence) {}, ""},
		"imported, not all is here": {api.AuditEvidence{Turn: api.AuditTurnImported}, func(*api.AuditEvidence) {}, ""},
		"imported, other arguments": {api.AuditEvidence{Turn: api.AuditTurnImported, Arguments: "b"}, func(*api.AuditEvidence) {}, "1 arguments"},
	} {
		r := *firstReceipt(1)
		r.Terms = api.ReceiptTerms{Consent: "c", Arguments: "a", Definition: "d", Policy: "p", Response: "r", Event: "evt_1"}
		var c chain
		c.add(api.AuditEntry{Kind: audit.Answer, Commitment: audit.Commitment(r), Receipt: &r, Evidence: &tt.kept})
		tt.alter(c[0].Evidence)
		if flaws, report := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != tt.flaws || report.Compared != 1 {
			t.Errorf("%s: %q, want %q (%+v)", name, flaws, tt.flaws, report)
		}
		c[0].Receipt.Decision = "reject"
		if flaws, _ := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != "1 altered" {
			t.Errorf("%s, of an altered receipt: %q", name, flaws)
		}
	}
}
