package narrate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/utp"
)

// A kernel tells what happened, and saves the rows with the state that comes back.
func Example() {
	narrator, err := narrate.New(narrate.Options{AgentVersion: "1.0.0"})
	if err != nil {
		panic(err)
	}
	telling := kernel.Notification{
		At:   time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Rand: rand.NewChaCha8([32]byte{}),
		Turn: turn.State{Session: "sess_1", Agent: "tidy", Owner: "anna"},
	}
	var state jsontext.Value
	tell := func(n turn.Note) []store.Event {
		telling.Note = n
		told, err := narrator.Narrate(state, telling)
		if err != nil {
			panic(err)
		}
		state = told.State
		return told.Events
	}

	telling.Request = "free some space"
	rows := tell(turn.Note{Kind: turn.NoteBegan})
	telling.Call = turn.Call{ID: "tc_1", Tool: "files.delete", Class: utp.Irreversible, Risk: utp.RiskHigh}
	telling.Tool = store.Tool{Reviewed: true, Definition: utp.Definition{Options: jsontext.Value(`{"consent": {
		"action": "Delete {n, plural, one {# file} other {# files}} in {root}.",
		"consequence": "This frees {bytes}. It cannot be undone.",
		"facts": {"n": {"count": "/delete/*"}, "root": {"text": "/root"}, "bytes": {"value": "/size"}}
	}}`)}}
	telling.Args = jsontext.Value(`{"root":"/home/anna","delete":["a","b"],"size":12345678}`)
	telling.Question = kernel.QuestionFacts{
		Number: 1, Token: "rpl_1", Timeout: 5 * time.Minute, Deadline: telling.At.Add(5 * time.Minute),
	}
	rows = append(rows, tell(turn.Note{Kind: turn.NoteAsked, Call: "tc_1"})...)

	for _, row := range rows {
		text, _ := aaep.Read(row.Body).Text("summary_normal")
		text = strings.NewReplacer("\u2068", "", "\u2069", "").Replace(text) // isolates
		fmt.Printf("%s: %s\n", strings.TrimPrefix(row.Type, "aaep:agent."), text)
	}
	// Output:
	// session.started: tidy has started on this request: “free some space”
	// state.changed: Waiting for your answer to question 1.
	// awaiting.confirmation: Question 1. Delete 2 files in /home/anna. This frees 12.3 MB (12,345,678 bytes). It cannot be undone. This is for the request “free some space”. Say accept or reject. If nobody answers within 5 minutes, it is not done.
}

// Facts are found in one pass over the arguments.
func ExampleFacts_Find() {
	facts, err := narrate.ParseFacts(jsontext.Value(`{
		"items": {"count": "/sets/*/delete/*"},
		"bytes": {"sum": "/sets/*/size", "times": "/sets/*/delete"}
	}`))
	if err != nil {
		panic(err)
	}
	found := facts.Find(jsontext.Value(`{"sets":[{"size":1000,"delete":["b","c"]},{"size":7,"delete":["e"]}]}`))
	fmt.Println(*found["items"].Count, *found["bytes"].Bytes)
	// Output: 3 2007
}
