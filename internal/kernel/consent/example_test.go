package consent_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
)

// A question is asked, more time is taken, and the second token is answered.
func Example() {
	asked := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	digest := strings.Repeat("ab", 32)

	question, err := consent.Ask(consent.Params{
		Number: 1, Kind: consent.Confirmation, SessionID: "sess_1", Token: "rpl_first",
		AskedAt: asked, Timeout: 300, Irreversible: true, Risk: consent.High, Digest: digest,
	})
	if err != nil {
		fmt.Println(err)

		return
	}

	question, outcome := question.Extend(asked.Add(4*time.Minute), "rpl_second")
	fmt.Println(outcome.Reason, question.Deadline().Format(time.TimeOnly))

	reply := consent.Reply{
		Kind: consent.Confirmation, Token: "rpl_first", Timestamp: asked.Add(time.Minute),
		Authenticated: true, Principal: "user:ada", Decision: consent.Accept,
	}
	_, outcome = question.Reply(asked.Add(5*time.Minute), reply)
	fmt.Println(outcome.Changed, outcome.Reason)

	reply.Token = "rpl_second"
	question, outcome = question.Reply(asked.Add(5*time.Minute), reply)
	fmt.Println(outcome.Changed, question.State, question.Authorizes(digest))

	// Output:
	// extended 09:10:00
	// false spent_token
	// true accepted true
}
