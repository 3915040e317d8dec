package instance

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/datadir"
)

// TestKeep: each time holds until it is said again, also when only the other one is, so that
// nothing is erased earlier than somebody has said; what is refused is not noted.
func TestKeep(t *testing.T) {
	t.Parallel()
	d := &datadir.Dir{Path: t.TempDir()}
	for _, row := range []struct {
		said              Retention
		content, receipts time.Duration
		refused           bool
	}{
		{said: Retention{}},
		{said: Retention{Receipts: "1000d"}, receipts: 1000 * day},
		{said: Retention{Content: "10d"}, content: 10 * day, receipts: 1000 * day},
		{said: Retention{Content: "2000d"}, refused: true},
		{said: Retention{}, content: 10 * day, receipts: 1000 * day},
		{said: Retention{Content: "2000d", Receipts: "forever"}, content: 2000 * day, receipts: -1},
		{said: Retention{}, content: 2000 * day, receipts: -1},
	} {
		content, receipts, err := Options{Retention: row.said}.retention(d)
		if (err != nil) != row.refused || err == nil && (content != row.content || receipts != row.receipts) {
			t.Errorf("%+v: %s and %s, %v; want %s and %s", row.said, content, receipts, err, row.content, row.receipts)
		}
	}
}
