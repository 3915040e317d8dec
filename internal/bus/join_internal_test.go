package bus

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestJoinLog: that the bus is not there yet is logged at once, then ever more rarely with the time that has passed, and
// that it is there; for a bus that is there at once nothing is.
func TestJoinLog(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	(&absence{log: log}).over(began)
	if text.Len() > 0 {
		t.Errorf("a bus that is there is logged as %s", &text)
	}
	a := absence{log: log, url: "nats://127.0.0.1:4222"}
	for passed := time.Duration(0); passed < 40*time.Minute; passed += lastPause {
		a.noted(began.Add(passed), ErrDisconnected)
	}
	a.over(began.Add(40 * time.Minute))
	var got []string
	for line := range strings.Lines(text.String()) {
		_, after, _ := strings.Cut(line, " after=")
		after, _, _ = strings.Cut(strings.TrimSpace(after), " ")
		got = append(got, after)
	}
	if want := []string{"", "30s", "1m0s", "2m0s", "4m0s", "8m0s", "16m0s", "26m0s", "36m0s", "40m0s"}; !slices.Equal(got, want) {
		t.Errorf("it is logged after %q, expected %q\n%s", got, want, &text)
	}
	for _, part := range []string{"The bus is not there yet", "The bus is still not there", "The bus is there."} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q is not logged", part)
		}
	}
}
