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
