package terminal_test

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// The machine hears a question, is told yes, and says "Recorded" only after the
// other side has said so.
func Example() {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	machine := terminal.New(terminal.Settings{Width: 60})

	show := func(effects []terminal.Effect) {
		for _, effect := range effects {
			switch e := effect.(type) {
			case terminal.Print:
				for _, line := range e.Lines {
					fmt.Println(line)
				}
			case terminal.Send:
				fmt.Printf("(sends %T number %d)\n", e.Request, e.ID)
			case terminal.Echo, terminal.Flush, terminal.InputEnded:
			}
		}
	}

	show(machine.Event(now, aaep.Event{
		ID: "evt_1", SessionID: "sess_1", Time: now, Payload: aaep.AwaitingConfirmation{
			Action: "Delete 2 files.", Consequence: "They are gone for good.", ReplyToken: "rpl_1",
			TimeoutSeconds: 300, DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskHigh, Irreversible: true,
		},
	}))
	show(machine.Line(now, "Accept"))
	show(machine.Result(now, terminal.Result{ID: 1}))

	// Output:
	// Question 1: Delete 2 files.
	// What happens: They are gone for good.
	// This cannot be undone.
	// Answer by 09:05, in 5 minutes. Without an answer it is not
	//   done.
	// Type accept, reject, more time, list, why or stop, then
	//   press Enter.
	// Understood: accept question 1.
	// (sends terminal.Answer number 1)
	// Recorded: question 1 is accepted.
}
