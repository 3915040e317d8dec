package listing_test

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/utp"
)

// What others have written acts on no terminal.
func Example() {
	p := listing.Printer{
		Line:     func(line string) { fmt.Println(line) },
		Field:    func(label, value string) { fmt.Println(label + ": " + value) },
		Document: func(label string, value jsontext.Value) { fmt.Println(label, string(value)) },
		Time:     func(at time.Time) string { return at.Format("15:04") },
	}
	p.Dead(api.DeadDetail{
		ID: 3, Session: "sess_1", Reason: "nobody listens\x1b[2J", Died: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC),
		Subject: "earshot.notice", Payload: []byte{0xff},
	})
	// Output:
	// 3: a notice, in sess_1, put aside 10:00: nobody listens<U+001B>[2J.
	// Subject: earshot.notice
	// Payload: 1 bytes that are not text.
}

// A session's line says since when nothing was heard from its program.
func ExamplePrinter_SessionLine() {
	p := listing.Printer{Time: func(at time.Time) string { return at.Format("15:04") }}
	s := api.Session{ID: "sess_1", Agent: "claude", Name: "claude, photos", Owner: "ada", Status: "running", Created: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	fmt.Println(p.SessionLine(s))
	s.QuietSince = s.Created.Add(2 * time.Hour)
	fmt.Println(p.SessionLine(s))
	s.Status, s.QuietSince, s.Request, s.Summary = "ended", time.Time{}, "Tidy my pictures", api.SummaryUndone
	fmt.Println(p.SessionLine(s))
	s.Request, s.Summary = "Is it tidy?", "Deleted 15 files."
	fmt.Println(p.SessionLine(s))
	s.Request, s.Summary = "", "hangup" // as the ledger has it
	fmt.Println(p.SessionLine(s))
	// Output:
	// sess_1: running, claude, photos of ada, 10:00.
	// sess_1: running, claude, photos of ada, 10:00. Quiet since 12:00.
	// sess_1: ended, claude, photos of ada, 10:00. Tidy my pictures. Taken back, and stopped.
	// sess_1: ended, claude, photos of ada, 10:00. Is it tidy? Deleted 15 files.
	// sess_1: ended, claude, photos of ada, 10:00. Stopped.
}

// A turn's line says what it waits for.
func ExamplePrinter_TurnLine() {
	p := listing.Printer{Time: func(at time.Time) string { return at.Format("15:04") }}
	row := api.SessionRow{Turn: "turn_2", Agent: "tidy", Owner: "ada", Status: "queued", Created: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	for _, w := range []api.Wait{
		{For: api.WaitWorker, Agent: "tidy"},
		{For: api.WaitTurn, Turn: "turn_1"},
		{For: api.WaitPerson, Person: "ada", Question: 3, Tool: "files.delete"},
		{For: api.WaitUndo, Question: 3, Tool: "files.delete"},
		{For: api.WaitTool, Tool: "files.scan", Call: "tc_1"},
		{For: api.WaitTurn, Turn: "turn_3", Tool: "ask_expert", Call: "tc_1"},
	} {
		row.Waits = []api.Wait{w}
		fmt.Println(p.TurnLine(row))
	}
	fmt.Println(p.TurnLine(api.SessionRow{
		Turn: "turn_2", Agent: "claude", Owner: "ada", Status: "running", Created: row.Created, QuietSince: row.Created.Add(2 * time.Hour),
	}))
	fmt.Println(p.TurnLine(api.SessionRow{Turn: "turn_2", Agent: "tidy", Owner: "ada", Status: "ended", Created: row.Created, Summary: "terminated"}))
	// Output:
	// turn_2: queued, tidy of ada, 10:00. Waits for a worker of tidy.
	// turn_2: queued, tidy of ada, 10:00. Waits for its place, after turn_1.
	// turn_2: queued, tidy of ada, 10:00. Waits for ada to answer question 3.
	// turn_2: queued, tidy of ada, 10:00. Waits for the end of the undo time of question 3.
	// turn_2: queued, tidy of ada, 10:00. Waits for the tool files.scan, call tc_1.
	// turn_2: queued, tidy of ada, 10:00. Waits for turn_3, which it has asked with ask_expert.
	// turn_2: running, claude of ada, 10:00. Quiet since 12:00.
	// turn_2: ended, tidy of ada, 10:00. Stopped.
}

// How a turn and its calls ended is said in words; the name of the signal that stopped it is not one.
func ExamplePrinter_Turn() {
	p := listing.Printer{
		Line: func(line string) { fmt.Println(line) },
		Field: func(label, value string) {
			if value != "" {
				fmt.Println(label + ": " + value)
			}
		},
		Document: func(string, jsontext.Value) {},
		Since:    func(string, time.Time) {},
	}
	p.Turn(api.TurnDetail{
		Turn: "turn_1", Status: "ended", End: &api.SessionEnd{Status: utp.StatusCanceled, Code: utp.CodeStopped}, Message: "hangup",
		Calls: []api.CallDetail{{
			ID: "tc_1", Tool: "files.delete", Class: utp.Irreversible, Risk: utp.RiskHigh, State: "closed",
			Status: utp.StatusCanceled, Code: utp.CodeConsentDeclined,
		}},
	})
	p.Turn(api.TurnDetail{
		Turn: "turn_2", Status: "ended", End: &api.SessionEnd{Status: utp.StatusCanceled, Code: utp.CodeStopped}, Message: "not these files",
	})
	// Output:
	// Turn: turn_1
	// Status: ended
	// Ended: stopped
	// Call 1: files.delete, irreversible, high risk, closed: canceled, the person said no. tc_1.
	// Turn: turn_2
	// Status: ended
	// Ended: stopped
	// Message: not these files
}
