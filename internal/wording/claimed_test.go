package wording_test

import (
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/utp"
)

// TestClaimed: what a service says of its tool, and what a review takes where neither the operator nor
// the service names anything: the worst.
func TestClaimed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		class utp.Class
		risk  utp.Risk
		said  string
		takes utp.Class
		at    utp.Risk
	}{
		{utp.Read, utp.RiskLow, "read, low risk", utp.Read, utp.RiskLow},
		{"", "", "neither a class nor a risk, so the review alone decides", utp.Irreversible, utp.RiskHigh},
		{utp.Read, "", "read, and no risk", utp.Read, utp.RiskHigh},
		{"", utp.RiskMedium, "no class, medium risk", utp.Irreversible, utp.RiskMedium},
	} {
		d := api.ToolDetail{Definition: utp.Definition{Class: tt.class, Risk: tt.risk}}
		if got := wording.Claimed(d.Definition); got != tt.said {
			t.Errorf("%q, %q: %s; want %s", tt.class, tt.risk, got, tt.said)
		}
		if class, risk := wording.ClassOr("", d), wording.RiskOr("", d); class != tt.takes || risk != tt.at {
			t.Errorf("%q, %q: a review takes %s, %s", tt.class, tt.risk, class, risk)
		}
		if class, risk := wording.ClassOr("idempotent", d), wording.RiskOr("low", d); class != utp.Idempotent || risk != utp.RiskLow {
			t.Errorf("%q, %q: named, a review takes %s, %s", tt.class, tt.risk, class, risk)
		}
	}
}
