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
	whole := api.AuditKept{
		Turn: api.AuditTurnWhole, Arguments: "a", Consented: "c", Shown: "5e", Call: "c", Definition: "d", Consent: "c", Response: "r", Question: true,
	}
	erased := api.AuditKept{Turn: api.AuditTurnErased, Call: "c", Definition: "d", Consent: "c", Question: true}
	for name, tt := range map[string]struct {
		kept  api.AuditKept
		alter func(k *api.AuditKept)
		flaws string
	}{
		"whole":                     {whole, func(*api.AuditKept) {}, ""},
		"other arguments":           {whole, func(k *api.AuditKept) { k.Arguments, k.Consented = "b", "e" }, "1 arguments"},
		"no arguments":              {whole, func(k *api.AuditKept) { k.Arguments, k.Consented = "", "" }, "1 arguments"},
		"another consent":           {whole, func(k *api.AuditKept) { k.Consented = "e" }, "1 bound"},
		"another call":              {whole, func(k *api.AuditKept) { k.Call = "e" }, "1 bound"},
		"another definition":        {whole, func(k *api.AuditKept) { k.Definition = "e" }, "1 bound"},
		"another event":             {whole, func(k *api.AuditKept) { k.Shown = "5f" }, "1 shown"},
		"another answer":            {whole, func(k *api.AuditKept) { k.Response = "other" }, "1 outcome"},
		"no question":               {whole, func(k *api.AuditKept) { k.Question = false }, "1 unasked"},
		"another yes":               {whole, func(k *api.AuditKept) { k.Consent = "e" }, "1 unagreed"},
		"no start":                  {whole, func(k *api.AuditKept) { k.Unstarted = true }, "1 unstarted"},
		"no turn":                   {api.AuditKept{Turn: api.AuditTurnGone}, func(*api.AuditKept) {}, "1 orphaned"},
		"erased":                    {erased, func(*api.AuditKept) {}, ""},
		"erased, another call":      {erased, func(k *api.AuditKept) { k.Call = "" }, "1 bound"},
		"erased, no yes":            {erased, func(k *api.AuditKept) { k.Consent = "" }, "1 unagreed"},
		"imported":                  {api.AuditKept{Turn: api.AuditTurnImported, Arguments: "a"}, func(*api.AuditKept) {}, ""},
		"imported, not all is here": {api.AuditKept{Turn: api.AuditTurnImported}, func(*api.AuditKept) {}, ""},
		"imported, other arguments": {api.AuditKept{Turn: api.AuditTurnImported, Arguments: "b"}, func(*api.AuditKept) {}, "1 arguments"},
	} {
		r := *firstReceipt(1)
		r.Terms = api.ReceiptTerms{Consent: "c", Arguments: "a", Definition: "d", Policy: "p", Response: "r", Event: "evt_1"}
		var c chain
		c.add(api.AuditEntry{Kind: audit.Answer, Commitment: audit.Commitment(r), Receipt: &r, Kept: &tt.kept})
		tt.alter(c[0].Kept)
		if flaws, report := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != tt.flaws || report.Compared != 1 {
			t.Errorf("%s: %q, want %q (%+v)", name, flaws, tt.flaws, report)
		}
		c[0].Receipt.Decision = "reject"
		if flaws, _ := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != "1 altered" {
			t.Errorf("%s, of an altered receipt: %q", name, flaws)
		}
	}
}
