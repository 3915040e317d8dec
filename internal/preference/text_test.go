package preference_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/preference"
)

// TestText: what is written is read as the same time.
func TestText(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int]string{0: "default", 8: "8s", 90: "1m30s", 600: "10m", 900: "15m", 3600: "1h", 4200: "1h10m", 3601: "1h0m1s", 36_000: "10h", 86_400: "unlimited"} {
		text := preference.Text(seconds)
		if text != want {
			t.Errorf("%d seconds are %q, not %q", seconds, text, want)
		}
		if seconds != 8 {
			if n, err := preference.AnswerTime(text, true); err != nil || *n != seconds {
				t.Errorf("%q is read as %v: %v", text, n, err)
			}
		}
	}
}
