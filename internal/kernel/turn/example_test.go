package turn_test

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// The caller plays the effects back to the machine and saves them with the state.
func Example() {
	now := turn.Timestamp{Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Boot: "b"}
	state := turn.State{Turn: "turn_1", Status: turn.Queued}
	step := func(in turn.Input) {
		next, effects, err := turn.Step(state, now, in)
		if err != nil {
			fmt.Println("refused:", err)
			return
		}
		state = next
		for _, e := range effects {
			if note, ok := e.(turn.Note); ok {
				fmt.Println(note.Kind)
			}
		}
	}
	remove := turn.Call{ID: "tc_1", Tool: "files.delete", Target: "files", Class: utp.Irreversible, Decision: turn.Ask}

	step(turn.Claim{Worker: "w", Lease: time.Minute})
	step(turn.Request{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}, Step: 1, Calls: []turn.Call{remove}})
	step(turn.QuestionAsked{Call: "tc_1", Number: 1, Digest: "d"})
	step(turn.Start{Call: "tc_1", Owner: "o", Target: "files"}) // a forged command: nothing was dispatched
	step(turn.Answered{Question: 1, Accept: true, By: "ada"})
	step(turn.Noticed{Question: 1}) // now the person can take it back
	now = now.Add(turn.DefaultUndo)
	step(turn.Tick{Checks: []turn.Check{{Call: "tc_1", Digest: "d"}}})
	step(turn.Start{Call: "tc_1", Owner: "o", Target: "files", Check: turn.Check{Call: "tc_1", Digest: "d"}})
	fmt.Println(state.Calls[0].State)
	// Output:
	// turn.began
	// turn.thinking
	// question.asked
	// refused: stale: the call has not been dispatched
	// call.accepted
	// call.invoked
	// started
}
