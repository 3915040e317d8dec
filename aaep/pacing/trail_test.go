package pacing_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/pacing"
)

// Two sessions, of which the second overtook the first: after its event, the first is delivered again.
func ExampleTrail() {
	var t pacing.Trail
	t.Reach("sess_a", 4)
	t.Reach("sess_b", 0)
	t.Note(pacing.Delivery{Session: "sess_b", EventID: "evt_b1", First: 1, Last: 1})
	t.Reach("sess_b", 1)
	t.Note(pacing.Delivery{Session: "sess_a", EventID: "evt_a6", First: 5, Last: 6}) // two events that were merged
	t.Reach("sess_a", 6)
	fmt.Println(t.After("evt_b1"))
	fmt.Println(t.After("evt_a6")) // it is going to be delivered again
	// Output:
	// map[sess_a:4 sess_b:1] true
	// map[] false
}

// A session of which the first event was sent is numbered, and resumes after an event with the next number.
func ExampleTrail_Number() {
	var t pacing.Trail
	t.Reach("sess_a", 0)
	send := func(d pacing.Delivery) {
		d = t.Number(d)
		t.Note(d)
		fmt.Println(string(d.Raw))
	}
	send(pacing.Delivery{Session: "sess_a", EventID: "evt_1", First: 1, Last: 1, Raw: []byte(`{"event_id":"evt_1"}`), Begins: true})
	send(pacing.Delivery{Session: "sess_a", EventID: "evt_4", First: 2, Last: 4, Raw: []byte(`{"event_id":"evt_4"}`)}) // merged, or behind what was left out
	send(pacing.Delivery{Session: "sess_a", EventID: "evt_5", First: 5, Last: 5, Raw: []byte(`{"event_id":"evt_5"}`)})
	fmt.Println(t.After("evt_4"))
	send(pacing.Delivery{Session: "sess_a", EventID: "evt_5", First: 5, Last: 5, Raw: []byte(`{"event_id":"evt_5"}`)})
	// Output:
	// {"event_id":"evt_1","sequence_number":0}
	// {"event_id":"evt_4","sequence_number":1}
	// {"event_id":"evt_5","sequence_number":2}
	// map[sess_a:4] true
	// {"event_id":"evt_5","sequence_number":2}
}
