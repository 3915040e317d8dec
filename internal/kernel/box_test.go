package kernel_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// withBoxes begins a turn of a person with boxes.
func (w *world) withBoxes(owner string, boxes api.Boxes, fields ...string) api.EnqueueAnswer {
	w.t.Helper()
	a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{
		Agent: agentName, Args: jsontext.Value(`{}`), Request: "go on", Owner: owner, Boxes: boxes, ResultFields: fields,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.follow(a.Session)
	return a
}

// boxEntries lists the entries of a box.
func (w *world) boxEntries(owner, box string) []api.BoxEntry {
	w.t.Helper()
	a, err := operate[api.BoxesAnswer](w, api.OpBoxes, api.BoxesRequest{Owner: owner, Box: box})
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Entries
}

// TestBoxes (UTP, "Cards"): the results and the answer of a turn are in its output box, with the turn and the call that
// each comes from. The next turn reads them as its context, once however often it asks, and an operator sees who read.
func TestBoxes(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var read []string
		w.loop(func(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
			if len(t.Results) == 0 {
				read = nil
				for range 2 { // a worker that starts again reads again
					if t.Boxes.ContextBox == "" {
						break
					}
					if err := worker.Cards(ctx, t.Boxes.ContextBox, func(c utp.Card) error {
						read = append(read, c.Type+" "+c.AuthorID)
						return nil
					}); err != nil {
						return worker.Decision{}, err
					}
				}
				return worker.Decision{Calls: one(poller)}, nil
			}
			return worker.Decision{Answer: &worker.Answer{Summary: "Done.", Output: "All of it."}}, nil
		})
		first := w.withBoxes(person, api.Boxes{OutputBox: "b1"})
		w.succeeded(first.Turn)
		call := w.last(first.Turn)
		got := w.boxEntries(person, "b1")
		if len(got) != 2 || got[0].Turn != first.Turn || got[0].Call != call.ID || got[0].Card != call.Outcome.Card || got[0].Agent != agentName ||
			got[1].Call != "" || got[1].Turn != first.Turn {
			t.Fatalf("the box holds %+v, and the call was %s", got, call.ID)
		}
		second := w.withBoxes(person, api.Boxes{ContextBox: "b1", OutputBox: "b2"})
		w.succeeded(second.Turn)
		want := []string{"tool.result tool.lookup", "task.deliverable " + agentName}
		if len(read) != 4 || !slices.Equal(read[2:], read[:2]) || read[1] != want[1] {
			t.Errorf("the second turn has read %v, want twice %v", read, want)
		}
		if got = w.boxEntries(person, "b1"); len(got) != 3 || got[2].Use != api.BoxRead || got[2].Turn != second.Turn || got[2].Through != 2 {
			t.Errorf("afterwards the box has %+v", got)
		}
		third := w.withBoxes("bob", api.Boxes{ContextBox: "b1"})
		w.over(third.Turn)
		if len(read) != 0 || len(w.boxEntries(person, "b1")) != 3 {
			t.Errorf("the turn of another person has read %v", read)
		}
		list, err := operate[api.BoxesAnswer](w, api.OpBoxes, api.BoxesRequest{})
		if err != nil || len(list.Boxes) != 2 || list.Boxes[0].Cards != 2 || list.Boxes[1].Box != "b2" {
			t.Errorf("the list is %+v, %v", list, err)
		}
		byCard, err := operate[api.BoxesAnswer](w, api.OpBoxes, api.BoxesRequest{Card: call.Outcome.Card})
		if err != nil || len(byCard.Entries) != 1 || byCard.Entries[0].Turn != first.Turn {
			t.Errorf("the card is in %+v, %v", byCard, err)
		}
		_, err = operate[api.BoxesAnswer](w, api.OpBoxes, api.BoxesRequest{Owner: person, Box: "none"})
		wantFault(t, err, utp.CodeNotFound)
		_, err = operate[api.BoxesAnswer](w, api.OpBoxes, api.BoxesRequest{Box: "b1"})
		wantFault(t, err, utp.CodeBadRequest)
	})
}

// TestBoxesOfSpawned: a turn that an agent starts within its own gets boxes of that turn, and such as are empty. It does
// not reach other work of its owner by naming it, neither when it starts nor afterwards.
func TestBoxesOfSpawned(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		w.withBoxes(person, api.Boxes{OutputBox: "notes"})
		done := w.claims("wrk_0")
		w.answersWith(done, "wrk_0")
		w.withBoxes(person, api.Boxes{ContextBox: "mine", OutputBox: "out"})
		root := w.claims("wrk_1")
		at := root.WorkerRequest("wrk_1")
		spawn := func(correlation string, boxes api.Boxes) (a api.EnqueueAnswer, err error) {
			err = w.as(kernel.AgentCaller, agentName, api.OpSpawn, api.SpawnRequest{
				Worker: &at, Agent: agentName, Args: jsontext.Value(`{}`), Correlation: correlation, Boxes: boxes,
			}, &a)
			return a, err
		}
		for _, boxes := range []api.Boxes{{ContextBox: "notes"}, {OutputBox: "notes"}} {
			_, err := spawn("bad", boxes)
			wantFault(t, err, utp.CodeAuthFailed)
		}
		if _, err := spawn("c1", api.Boxes{ContextBox: "mine", OutputBox: "later"}); err != nil {
			t.Fatal(err)
		}
		child := w.claims("wrk_2")
		w.withBoxes(person, api.Boxes{OutputBox: "later"}) // a person's turn fills it first
		other := w.claims("wrk_3")
		w.answersWith(other, "wrk_3")
		read := func(worker string, a api.ClaimAnswer, box string) (got api.ReadBoxAnswer, err error) {
			err = w.as(kernel.AgentCaller, agentName, api.OpReadBox, api.ReadBoxRequest{WorkerRequest: a.WorkerRequest(worker), Box: box}, &got)
			return got, err
		}
		_, err := read("wrk_2", child, "later")
		wantFault(t, err, utp.CodeAuthFailed)
		w.answersWith(child, "wrk_2")
		if n := len(w.boxEntries(person, "later")); n != 1 {
			t.Errorf("%d entries; want that of the person's turn", n)
		}
		if _, err := spawn("c2", api.Boxes{OutputBox: "child"}); err != nil {
			t.Fatal(err)
		}
		w.answersWith(w.claims("wrk_4"), "wrk_4")
		if _, err := spawn("c3", api.Boxes{ContextBox: "child"}); err != nil {
			t.Fatal(err)
		}
		if got, err := read("wrk_5", w.claims("wrk_5"), "child"); err != nil || len(got.Cards) != 1 {
			t.Errorf("what another turn within it has left: %+v, %v", got, err)
		}
		_, err = read("wrk_1", root, "notes")
		wantFault(t, err, utp.CodeAuthFailed)
		stale := root
		stale.Epoch--
		_, err = read("wrk_1", stale, "mine")
		wantFault(t, err, utp.CodeStale)
		err = w.as(kernel.AgentCaller, "clerk", api.OpReadBox, api.ReadBoxRequest{WorkerRequest: at, Box: "mine"}, nil)
		wantFault(t, err, utp.CodeAuthFailed)
	})
}

// answersWith ends a claimed turn with a text.
func (w *world) answersWith(a api.ClaimAnswer, worker string) {
	w.t.Helper()
	err := w.as(kernel.AgentCaller, agentName, api.OpDeliver, api.DeliverRequest{
		WorkerRequest: a.WorkerRequest(worker), Status: utp.StatusSuccess, Summary: "Done.", Output: "All of it.",
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
}
