package listing_test

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/listing"
)

// The tree of turns reads well aloud: each line begins with its place.
func ExampleTree() {
	p := listing.Printer{Time: func(at time.Time) string { return at.Format("15:04") }}
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	row := func(id, parent, agent string) api.SessionRow {
		return api.SessionRow{Turn: id, Parent: parent, Agent: agent, Owner: "ada", Status: "running", Created: at}
	}
	rows := []api.SessionRow{
		row("turn_1", "", "chat"), row("turn_2", "turn_0", "tidy"), row("turn_3", "turn_1", "clerk"), row("turn_4", "turn_3", "scout"), row("turn_5", "turn_1", "clerk"),
	}
	for _, line := range p.TreeLines(listing.Tree(rows)) {
		fmt.Println(line)
	}
	// Output:
	// 1 turn_1: running, chat of ada, 10:00.
	//   1.1 turn_3: running, clerk of ada, 10:00.
	//     1.1.1 turn_4: running, scout of ada, 10:00.
	//   1.2 turn_5: running, clerk of ada, 10:00.
	// 2 turn_2: running, tidy of ada, 10:00.
}
