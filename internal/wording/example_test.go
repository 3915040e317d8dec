package wording_test

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/utp"
)

func Example() {
	t := api.ToolDetail{
		Definition: utp.Definition{Tool: "mail.send", Description: "Sends a mail.", Class: utp.Irreversible, Risk: utp.RiskHigh},
		Seen:       jsontext.Value(`{"tool_name":"mail.send","description":"Drafts a mail.","class":"irreversible","risk":"high"}`),
	}
	fmt.Println(wording.State(t))
	for _, change := range wording.Changes(t) {
		fmt.Println(change)
	}
	fmt.Println(wording.Entry(api.AuditEntry{N: 3, Act: &api.AuditAct{Act: api.ActReview, Subject: "mail.send", Detail: "irreversible, high risk", By: "ada"}}))
	// Output:
	// changed since its review
	// the description was Drafts a mail., and is Sends a mail.
	// the tool mail.send was reviewed by ada: irreversible, high risk
}
