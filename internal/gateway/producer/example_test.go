package producer_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/gateway/producer"
)

// A producer begins, asks, and goes on. One of its events gets lost.
func Example() {
	m := &producer.Machine{}
	show := func(number int64, payload aaep.Payload) {
		effects := m.Event(aaep.Event{ID: fmt.Sprint("evt_", number), SessionID: "sess_1", Sequence: &number, Producer: aaep.Producer{AgentID: "bank"}, Payload: payload})
		for _, e := range effects {
			switch e := e.(type) {
			case producer.Open:
				fmt.Println("open:", e.Label, e.Key)
				m.State.Session = "sess_here"
			case producer.Report:
				fmt.Println("report:", e.Key, e.Doing+e.Text+e.Observed, e.Missed)
			case producer.Confirm:
				fmt.Println("ask:", e.Tool, string(e.Input))
			case producer.End:
				fmt.Println("end:", e.Status, e.Summary)
			case producer.Clarify, producer.Withdraw:
				fmt.Printf("%T\n", e)
			}
		}
	}
	show(0, aaep.SessionStarted{SummaryNormal: "Paying the rent."})
	show(1, aaep.AwaitingConfirmation{Action: "Transfer $500.", Consequence: "It cannot be undone.", ReplyToken: "rpl_1", RiskLevel: aaep.RiskHigh, Irreversible: true}.About("transfer", "call_1"))
	show(4, aaep.SessionCompleted{SummaryNormal: "The rent is paid."})
	// Output:
	// open: bank ingest.sess_1
	// report: evt_0.1 Paying the rent. 0
	// ask: transfer {"action":"Transfer $500.","consequence":"It cannot be undone.","risk_level":"high","irreversible":true,"extra_context":{"tool":"transfer","tool_call_id":"call_1"}}
	// report: evt_4.missed  2
	// end: success The rent is paid.
}
