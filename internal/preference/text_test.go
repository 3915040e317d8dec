package preference_test

import (
	"strings"
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

// TestAnswerTime: a time is read as people write it, and what is refused says what it can be.
func TestAnswerTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"15m": 900, "15 minutes": 900, " 15 Min ": 900, "1 hour and 30 minutes": 5400, "1 hr, 30 mins": 5400, "90 seconds": 90, "1h30m": 5400, "2 Hours": 7200,
		"default": 0, "Unlimited": 86_400,
	} {
		if got, err := preference.AnswerTime(text, true); err != nil || *got != want {
			t.Errorf("%q: %v %v; want %d", text, got, err, want)
		}
	}
	for text, why := range map[string]string{
		"20": "has no unit", "soon": "it can be 30s to 24h", "5 seconds": "it can be 30s to 24h", "3 days": "it can be 30s to 24h", "minutes": "it can be 30s to 24h",
		"and": "it can be 30s to 24h", "": "it can be 30s to 24h",
	} {
		if got, err := preference.AnswerTime(text, true); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v %v; want %q", text, got, err, why)
		}
	}
}
