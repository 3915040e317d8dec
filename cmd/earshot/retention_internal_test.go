package main

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/datadir"
)

// TestKeep: each time holds until it is said anew, also when only the other one is, so that
// nothing is erased earlier than somebody has said; what is refused is not noted.
func TestKeep(t *testing.T) {
	t.Parallel()
	d := &datadir.Dir{Path: t.TempDir()}
	for _, row := range []struct {
		said              retention
		content, receipts time.Duration
		refused           bool
	}{
		{said: retention{}},
		{said: retention{Receipts: "1000d"}, receipts: 1000 * day},
		{said: retention{Content: "10d"}, content: 10 * day, receipts: 1000 * day},
		{said: retention{Content: "2000d"}, refused: true},
		{said: retention{}, content: 10 * day, receipts: 1000 * day},
		{said: retention{Content: "2000d", Receipts: "forever"}, content: 2000 * day, receipts: -1},
		{said: retention{}, content: 2000 * day, receipts: -1},
	} {
		content, receipts, err := houseOptions{retention: row.said}.keep(d)
		if (err != nil) != row.refused || err == nil && (content != row.content || receipts != row.receipts) {
			t.Errorf("%+v: %s and %s, %v; want %s and %s", row.said, content, receipts, err, row.content, row.receipts)
		}
	}
}
