package listing_test

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/listing"
)

// What others have written acts on no terminal.
func Example() {
	p := listing.Printer{
		Line:     func(line string) { fmt.Println(line) },
		Field:    func(label, value string) { fmt.Println(label + ": " + value) },
		Document: func(label string, value jsontext.Value) { fmt.Println(label, string(value)) },
		Time:     func(at time.Time) string { return at.Format("15:04") },
	}
	p.Dead(api.DeadDetail{
		ID: 3, Session: "sess_1", Reason: "nobody listens\x1b[2J", Died: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC),
		Subject: "earshot.notice", Payload: []byte{0xff},
	})
	// Output:
	// 3: a notice, in sess_1, put aside 10:00: nobody listens<U+001B>[2J.
	// Subject: earshot.notice
	// Payload: 1 bytes that are not text.
}
