package session_test

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// A session builds its events in legal order; a checker agrees.
func Example() {
	now := time.Date(2026, 5, 24, 14, 22, 11, 0, time.UTC)
	s := session.New(session.Options{SessionID: "sess_1", Producer: aaep.Producer{AgentID: "tidy"}, Language: "en"})
	checker := session.NewChecker()
	show := func(event aaep.Event, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Type(), len(checker.CheckEvent(event)))
	}

	show(s.Start(now, rand.Reader, aaep.SessionStarted{SummaryNormal: "Tidying up."}))
	moved, err := s.Move(now, rand.Reader, aaep.StateAwaitingInput, aaep.StateChanged{SummaryNormal: "Waiting for you."})
	show(moved[0], err)
	question := aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They cannot be brought back.", SummaryNormal: "Delete 3 files?",
		TimeoutSeconds: 300, DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskHigh, Irreversible: true,
	}
	show(s.Confirm(now, rand.Reader, question.About("files.delete", "call_1")))

	deleting := aaep.ToolInvoked{Tool: "files.delete", ToolCallID: "call_1", Irreversible: true, SummaryNormal: "Deleting."}
	show(s.ToolInvoked(now, rand.Reader, deleting)) // nobody has answered yet

	if err := s.Granted("call_1"); err != nil { // a person said yes
		fmt.Println(err)
	}
	moved, err = s.Move(now, rand.Reader, aaep.StateCallingTool, aaep.StateChanged{SummaryNormal: "You accepted."})
	show(moved[0], err)
	fmt.Println(moved[0].Extension(aaep.PrefixEarshot, "resolution"))
	show(s.ToolInvoked(now, rand.Reader, deleting))
	// Output:
	// aaep:agent.session.started 0
	// aaep:agent.state.changed 0
	// aaep:agent.awaiting.confirmation 0
	// session: no_consent (SEQ-22): the call call_1 is irreversible and nobody accepted it; ask first
	// aaep:agent.state.changed 0
	// accepted
	// aaep:agent.tool.invoked 0
}
