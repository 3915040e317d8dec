package producer_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/earshot-dev/earshot/aaep/conform/producer"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// A producer that deletes something and asks nobody is judged.
func Example() {
	p := newFake()
	p.before = append(p.before[:5:5], deleting, deleted, ending)
	server := httptest.NewServer(p)
	defer server.Close()
	judged, err := producer.Judge(context.Background(), producer.Options{URL: server.URL, Level: 2, Session: "sess_1", Fresh: true})
	if err != nil {
		panic(err) // a sentence that says what to do
	}
	for _, v := range judged.Verdicts {
		if v.State == report.Broken && strings.HasPrefix(v.Rule, "SEQ-") {
			fmt.Println(v.Rule, v.Title)
			fmt.Println(v.Findings[0])
		}
	}
	fmt.Println("passed:", judged.Passed(false))
	// Output:
	// SEQ-22 no irreversible call without a recorded yes
	// line 7 of "main", evt_6, /irreversible: found an irreversible invocation that nobody was asked about, expected a confirmation answered accept before
	// passed: false
}
