package subscriber_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/conform/subscriber"
)

// A subscriber that asks for a word of its own is judged, here for the first moment only.
func Example() {
	f := newFake()
	f.request = strings.Replace(rightRequest, `"subscriber_id"`, `"colour":"red","subscriber_id"`, 1)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	verdicts, err := subscriber.Judge(ctx, subscriber.Options{
		For: 200 * time.Millisecond,
		Ready: func(url string) { // start the subscriber here, with this address
			go func() {
				defer close(ended)
				f.run(ctx, url, new(http.Client))
			}()
		},
	})
	stop()
	if err != nil {
		panic(err) // a sentence that says what to do
	}
	<-ended
	for _, v := range verdicts.Verdicts {
		if v.State == report.Broken {
			fmt.Println(v.Rule, v.Title)
			fmt.Println(v.Findings[0])
		}
	}
	fmt.Println("passed:", verdicts.Passed(false))
	// Output:
	// HS-06 a request has no further members
	// line 1 of "start", /colour: found the unknown member "colour", expected none
	// passed: false
}
