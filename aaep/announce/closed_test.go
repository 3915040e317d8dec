package announce_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// TestClosed: anyone who is late is told who was first, where, what was decided and when.
func TestClosed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC)
	zone := time.FixedZone("here", 3600)
	for want, c := range map[string]announce.Closed{
		"Too late: the time to answer question 3 ended at 13:05:00. Nothing was done.": {Question: 3, Resolution: aaep.ResolutionExpired, At: at},
		"Question 3 was accepted by bob on the page, at 13:05:00. Your answer came after that and did not count.": {
			Question: 3, Resolution: aaep.ResolutionAccepted, By: "bob", Surface: "page", At: at,
		},
		"Question 3 was rejected by “b<U+202E>ob” at phone, at 13:05:00. Your answer came after that and did not count.": {
			Question: 3, Resolution: aaep.ResolutionRejected, By: "b\u202eob", Surface: "phone", At: at,
		},
		"Question 3 was answered by bob in the terminal, at 13:05:00. Your answer came after that and did not count.": {
			Question: 3, Resolution: aaep.ResolutionAnswered, By: "bob", Surface: "terminal", At: at,
		},
		"Question 3 is no longer asked, since 13:05:00. Your answer came after that and did not count.": {
			Question: 3, Resolution: aaep.ResolutionWithdrawn, At: at,
		},
		"A question has ended, at 13:05:00. Your answer came after that and did not count.": {Resolution: "odd", At: at},
	} {
		if got := c.Text(at.Add(time.Second), zone); got != want {
			t.Errorf("%+v:\n got %q\nwant %q", c, got, want)
		}
	}
}
