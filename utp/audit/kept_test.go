package audit_test

import (
	"testing"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/audit"
)

// TestKept: what is kept beside a receipt is compared as far as its turn is kept, and only for a
// receipt that the chain vouches for.
func TestKept(t *testing.T) {
	t.Parallel()
	whole := utp.AuditKept{
		Turn: utp.AuditTurnWhole, Arguments: "a", Consented: "c", Shown: "5e", Call: "c", Definition: "d", Consent: "c", Question: true,
	}
	erased := utp.AuditKept{Turn: utp.AuditTurnErased, Call: "c", Definition: "d", Consent: "c", Question: true}
	for name, tt := range map[string]struct {
		kept  utp.AuditKept
		alter func(k *utp.AuditKept)
		flaws string
	}{
		"whole":                     {whole, func(*utp.AuditKept) {}, ""},
		"other arguments":           {whole, func(k *utp.AuditKept) { k.Arguments, k.Consented = "b", "e" }, "1 arguments"},
		"no arguments":              {whole, func(k *utp.AuditKept) { k.Arguments, k.Consented = "", "" }, "1 arguments"},
		"another consent":           {whole, func(k *utp.AuditKept) { k.Consented = "e" }, "1 bound"},
		"another call":              {whole, func(k *utp.AuditKept) { k.Call = "e" }, "1 bound"},
		"another definition":        {whole, func(k *utp.AuditKept) { k.Definition = "e" }, "1 bound"},
		"another event":             {whole, func(k *utp.AuditKept) { k.Shown = "5f" }, "1 shown"},
		"no question":               {whole, func(k *utp.AuditKept) { k.Question = false }, "1 unasked"},
		"another yes":               {whole, func(k *utp.AuditKept) { k.Consent = "e" }, "1 unagreed"},
		"no start":                  {whole, func(k *utp.AuditKept) { k.Unstarted = true }, "1 unstarted"},
		"no turn":                   {utp.AuditKept{Turn: utp.AuditTurnGone}, func(*utp.AuditKept) {}, "1 orphaned"},
		"erased":                    {erased, func(*utp.AuditKept) {}, ""},
		"erased, another call":      {erased, func(k *utp.AuditKept) { k.Call = "" }, "1 bound"},
		"erased, no yes":            {erased, func(k *utp.AuditKept) { k.Consent = "" }, "1 unagreed"},
		"imported":                  {utp.AuditKept{Turn: utp.AuditTurnImported, Arguments: "a"}, func(*utp.AuditKept) {}, ""},
		"imported, not all is here": {utp.AuditKept{Turn: utp.AuditTurnImported}, func(*utp.AuditKept) {}, ""},
		"imported, other arguments": {utp.AuditKept{Turn: utp.AuditTurnImported, Arguments: "b"}, func(*utp.AuditKept) {}, "1 arguments"},
	} {
		r := *firstReceipt(1)
		r.Terms = utp.ReceiptTerms{Consent: "c", Arguments: "a", Definition: "d", Policy: "p", Event: "evt_1"}
		var c chain
		c.add(utp.AuditEntry{Kind: audit.Answer, Commitment: audit.Commitment(r), Receipt: &r, Kept: &tt.kept})
		tt.alter(c[0].Kept)
		if flaws, report := verified(t, audit.Verifier{}, c, utp.AuditUnchained{}); flaws != tt.flaws || report.Compared != 1 {
			t.Errorf("%s: %q, want %q (%+v)", name, flaws, tt.flaws, report)
		}
		c[0].Receipt.Decision = "reject"
		if flaws, _ := verified(t, audit.Verifier{}, c, utp.AuditUnchained{}); flaws != "1 altered" {
			t.Errorf("%s, of an altered receipt: %q", name, flaws)
		}
	}
}
