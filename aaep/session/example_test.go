package session_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// A whole session: each step tells the moves that it needs, and nothing irreversible
// can be invoked without the accept of that very call.
func ExampleEmitter() {
	clock := time.Date(2026, 5, 24, 14, 22, 11, 0, time.UTC)
	s := session.New(session.Options{SessionID: "sess_1", Producer: aaep.Producer{AgentID: "tidy"}, Language: "en"})
	e := session.NewEmitter(s, session.EmitterOptions{
		Now: func() time.Time { return clock }, Rand: rand.Reader,
		Emit: func(event aaep.Event) error {
			fmt.Println(strings.TrimPrefix(event.Type(), "aaep:agent."))
			return nil
		},
	})
	must := func(err error) {
		if err != nil {
			fmt.Println(err)
		}
	}

	must(e.Start(aaep.SessionStarted{SummaryNormal: "Tidying up."}))
	asked, err := e.Confirm("files.delete", aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They cannot be brought back.", SummaryNormal: "Delete 3 files?",
		RiskLevel: aaep.RiskHigh, Irreversible: true,
	})
	must(err)
	_, err = asked.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."}) // nobody has answered yet
	must(err)
	must(asked.Resolve(aaep.ResolutionAccepted, aaep.StateChanged{SummaryNormal: "You accepted."}))
	tool, err := asked.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."})
	must(err)
	must(tool.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted 3 files."}))
	text := e.Output(session.TextOptions{Boundary: aaep.BoundarySentence})
	_, err = fmt.Fprint(text, "The 3 duplicates are deleted. One copy of each is left")
	must(err)
	must(e.Complete(aaep.SessionCompleted{SummaryNormal: "Done."})) // says the rest of the text first
	// Output:
	// session.started
	// state.changed
	// awaiting.confirmation
	// session: no_consent (SEQ-22): the question about files.delete was not answered accept, or its consent is used; Settle it first
	// state.changed
	// tool.invoked
	// tool.completed
	// state.changed
	// output.streaming
	// output.streaming
	// session.completed
}

// Judging a file of one message on each line, first each by itself and then all in
// their order.
func ExampleChecker() {
	const file = `{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-24T14:22:11.000Z","producer":{"agent_id":"tidy"},"localization_hints":{"primary_language":"en"},"summary_normal":"Tidying up."}
{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.tool.invoked","event_id":"evt_2","session_id":"sess_1","timestamp":"2026-05-24T14:22:12.000Z","producer":{"agent_id":"tidy"},"localization_hints":{"primary_language":"en"},"tool":"files.delete","summary_normal":"Deleting.","irreversible":true,"tool_call_id":"call_1"}
`
	checker := session.NewChecker()
	lines := bufio.NewScanner(bytes.NewBufferString(file))
	for n := 1; lines.Scan(); n++ {
		document := aaep.Read(lines.Bytes())
		found := append(document.Validate(aaep.ModeProducer), checker.CheckDocument(document)...)
		for _, v := range aaep.Errors(found) {
			fmt.Printf("line %d: %s: %s\n", n, v.Rule, v.Message)
		}
	}
	for _, left := range checker.CloseEach() {
		for _, v := range left.Violations {
			fmt.Printf("end: %s: %s\n", v.Rule, v.Message)
		}
	}
	// Output:
	// line 2: SEQ-22: found an irreversible invocation that nobody was asked about, expected a confirmation answered accept before
	// end: SEQ-03: session sess_1 has no terminal event, expected exactly one at its end
	// end: SEQ-16: session sess_1: the call call_1 of files.delete (message 2) was never completed, expected exactly one tool.completed, with the status timeout where it was given up
}

// A stream that was sent on a subscription is judged by its terms: what they keep back
// is not missed.
func ExampleNewStreamChecker() {
	terms := &aaep.Capabilities{EventFilters: &aaep.EventFilters{Exclude: []string{"aaep:agent.tool.*"}}}
	checker := session.NewStreamChecker(session.Stream{Terms: terms})
	for _, event := range []string{
		`{"type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1"}`,
		`{"type":"aaep:agent.tool.invoked","event_id":"evt_2","session_id":"sess_1","tool":"files.scan","tool_call_id":"call_1"}`,
		`{"type":"aaep:agent.state.changed","event_id":"evt_3","session_id":"sess_1","from_state":"idle","to_state":"thinking"}`,
		`{"type":"aaep:agent.session.completed","event_id":"evt_4","session_id":"sess_1","tool_invocations_count":5}`,
	} {
		for _, v := range checker.Check([]byte(event)) {
			fmt.Println(v)
		}
	}
	// Output: BP-11 error at /type: found aaep:agent.tool.invoked, which the filters of this subscription keep back
}

// A session alone builds one event at a time, for a program that keeps its state
// elsewhere, between two transactions for example.
func ExampleSession() {
	now := time.Date(2026, 5, 24, 14, 22, 11, 0, time.UTC)
	s := session.New(session.Options{SessionID: "sess_1", Producer: aaep.Producer{AgentID: "tidy"}, Language: "en"})
	started, err := s.Start(now, rand.Reader, aaep.SessionStarted{SummaryNormal: "Tidying up."})
	fmt.Println(started.Type(), err)

	s = session.Restore(s.State()) // stored in between, as JSON
	_, err = s.ToolInvoked(now, rand.Reader, aaep.ToolInvoked{Tool: "files.scan", ToolCallID: "call_1", SummaryNormal: "Scanning."})
	fmt.Println(err)
	moved, err := s.Move(now, rand.Reader, aaep.StateCallingTool, aaep.StateChanged{SummaryNormal: "Using files.scan."})
	fmt.Println(moved[0].Type(), err)
	invoked, err := s.ToolInvoked(now, rand.Reader, aaep.ToolInvoked{Tool: "files.scan", ToolCallID: "call_1", SummaryNormal: "Scanning."})
	fmt.Println(invoked.Type(), err)
	// Output:
	// aaep:agent.session.started <nil>
	// session: wrong_state (SEQ-21): found the state "idle", expected calling_tool; call Move first
	// aaep:agent.state.changed <nil>
	// aaep:agent.tool.invoked <nil>
}
