package announce_test

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// A question is put, its time is nearly over, and somebody else answers it.
func Example() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ours := func(members string) map[string]jsontext.Value {
		return map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(members)}
	}
	asked := aaep.Event{
		ID: "evt_1", SessionID: "sess_1", Time: noon, Extensions: ours(`{"question":2,"bytes":48000}`),
		Payload: aaep.AwaitingConfirmation{
			Action: "Delete 3 duplicate files.", Irreversible: true, DefaultDecision: aaep.DecisionReject, TimeoutSeconds: 300,
		},
	}
	answered := aaep.Event{
		ID: "evt_2", SessionID: "sess_1", Time: noon.Add(290 * time.Second),
		Extensions: ours(`{"question":2,"resolution":"accepted","by":"ada","surface":"terminal"}`),
		Payload:    aaep.StateChanged{FromState: aaep.StateAwaitingInput, ToState: aaep.StateDeciding},
	}
	say := func(list []announce.Announcement) {
		for _, n := range list {
			fmt.Printf("%s, %s %d: %s\n", n.Priority, n.Kind, n.Question, n.Text)
		}
	}

	a := announce.New(announce.Preferences{Person: "ben", Zone: time.UTC, Surface: announce.Surface{Name: "terminal", Controls: announce.ControlsWords}})
	say(a.Event(noon, asked, 1))
	say(a.Tick(a.Wake()))
	say(a.Event(answered.Time, answered, 2))
	say(a.Event(answered.Time, answered, 2)) // delivered again
	// Output:
	// assertive, question 2: Question 2: Delete 3 duplicate files, 48 kB, cannot be undone. Answer by 12:05.
	// assertive, warning 2: 30 seconds left to answer question 2. Without an answer it is not done. Type more time to get more.
	// assertive, resolution 2: Question 2 was accepted by ada in the terminal.
}
