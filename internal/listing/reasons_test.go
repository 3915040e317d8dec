package listing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/utp"
)

// TestSameReasons: an operator reads why something failed in the words that the person hears, but where the person is spoken to, or a whole
// turn is meant instead of one call.
func TestSameReasons(t *testing.T) {
	t.Parallel()
	differ := []utp.Code{
		utp.CodeAuthFailed, utp.CodeChangedSinceReview, utp.CodeConsentDeclined, utp.CodeConsentRetryExhausted, utp.CodeToolTimeout,
	}
	heard, compared := narrate.English().Messages, 0
	for _, code := range utp.Codes() {
		message, is := heard["why."+string(code)]
		if !is {
			continue
		}
		compared++
		want := "failed, " + strings.TrimSuffix(message.Normal, ".")
		if got := wording.Outcome(utp.StatusFailed, code, ""); (got == want) == slices.Contains(differ, code) {
			t.Errorf("%s: an operator reads %q, a person hears %q", code, got, want)
		}
	}
	if compared < 15 {
		t.Errorf("only %d reasons are heard", compared)
	}
}
