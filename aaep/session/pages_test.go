package session_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// A recording in which something was deleted that nobody was asked about.
func Example_judging() {
	checker := session.NewChecker()
	for _, raw := range []string{
		`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1",
			"timestamp":"2026-05-24T14:22:11Z","producer":{"agent_id":"tidy"},"summary_normal":"Tidying up."}`,
		`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.tool.invoked","event_id":"evt_2","session_id":"sess_1",
			"timestamp":"2026-05-24T14:22:12Z","producer":{"agent_id":"tidy"},"summary_normal":"Deleting.","tool":"files.delete","irreversible":true}`,
	} {
		for _, v := range aaep.Errors(checker.Check([]byte(raw))) {
			fmt.Println(v.Rule, v.Severity)
		}
	}
	for _, v := range checker.Close() { // the stream is over
		fmt.Println(v.Rule, v.Severity)
	}
	// Output:
	// SEQ-22 error
	// SEQ-03 error
	// SEQ-16 error
}
