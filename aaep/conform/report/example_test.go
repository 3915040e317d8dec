package report_test

import (
	"fmt"
	"os"

	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// An exam has seen one rule kept, and another one broken.
func Example() {
	rules := []conform.Rule{
		{ID: "HS-01", Level: conform.LevelMust, Spec: "§5.2.1", Title: "type of a subscription.request"},
		{ID: "CONF-31", Level: conform.LevelMust, Spec: "§6.3.1", Title: "the token comes back as it was"},
	}
	evidence := report.NewEvidence(rules)
	evidence.Saw("HS-01")
	evidence.Note(evidence.Violation("CONF-31", "found rpl_2, expected rpl_1"), report.Finding{Peer: "main", Line: 3}, false)
	r := report.Report{
		Judges: report.Subscriber, URL: "http://127.0.0.1:8080", Level: 2,
		Verdicts: evidence.Verdicts(2, func(conform.Rule) (int, bool) { return 1, true }),
	}
	if err := r.WriteText(os.Stdout, false); err != nil {
		panic(err) // standard output is closed
	}
	fmt.Println("passed:", r.Passed(false))
	// Output:
	// Judged the subscriber at http://127.0.0.1:8080 for 0s; sessions: 0.
	//
	// Level 1, MUST
	//   HS-01 kept: type of a subscription.request (§5.2.1)
	//   CONF-31 broken: the token comes back as it was (§6.3.1)
	//     line 3 of "main": found rpl_2, expected rpl_1
	//
	// Level 2: kept 1, broken 1, advice not followed 0, known 0, not exercised 0.
	// passed: false
}
