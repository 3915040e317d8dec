package kernel_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// delivers ends a claimed turn with success.
func (w *world) delivers(a api.ClaimAnswer, worker string) {
	w.t.Helper()
	q := api.DeliverRequest{WorkerRequest: a.WorkerRequest(worker), Status: utp.StatusSuccess}
	if err := w.as(kernel.AgentCaller, agentName, api.OpDeliver, q, nil); err != nil {
		w.t.Fatal(err)
	}
}

// TestEnqueueFifty: of 50 requests at once, each of them sent twice, none is lost and none doubled. The agent works on one
// at a time, in the order of the queue, whatever workers ask at once.
func TestEnqueueFifty(t *testing.T) {
	inWorld(t, func(w *world) { w.active = 1 }, func(t *testing.T, w *world) {
		t.Attr("counts", "turns")
		const most, workers = 50, 4
		var askers sync.WaitGroup
		for i := range 2 * most {
			askers.Go(func() {
				_, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Correlation: fmt.Sprint("order-", i/2)})
				if err != nil {
					t.Error(err)
				}
			})
		}
		askers.Wait()
		if n := w.cell(`SELECT count(*) FROM turns`); n != fmt.Sprint(most) {
			t.Fatalf("%s turns; want %d", n, most)
		}
		var began []string
		for range most {
			claims := make(chan api.ClaimAnswer, workers)
			for i := range workers {
				askers.Go(func() { claims <- w.claims(fmt.Sprint("wrk_", i)) })
			}
			askers.Wait()
			close(claims)
			got := map[string]api.ClaimAnswer{}
			for a := range claims {
				if a.Turn != "" {
					got[a.Turn] = a
				}
			}
			if len(got) != 1 {
				t.Fatalf("%d turns were claimed at once; want 1: %+v", len(got), got)
			}
			for id, a := range got {
				began = append(began, id)
				w.delivers(a, w.turn(id).Worker)
			}
		}
		if a := w.claims("wrk_0"); a.Turn != "" {
			t.Errorf("%s is left", a.Turn)
		}
		if !slices.IsSorted(began) || len(slices.Compact(slices.Clone(began))) != most {
			t.Errorf("they began in the order %v", began)
		}
	})
}

// TestQueueOrder: turns begin in the order in which they were asked for, also those of one millisecond and those from
// before a crash between the save and the wakeup. A turn whose worker is gone keeps its place.
func TestQueueOrder(t *testing.T) {
	inWorld(t, func(w *world) { w.active = 1 }, func(t *testing.T, w *world) {
		var asked []string
		ask := func(n int) {
			for range n {
				a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`)})
				if err != nil {
					t.Fatal(err)
				}
				asked = append(asked, a.Turn)
			}
		}
		ask(20)
		w.now.dieWhenReaching("enqueued")
		_, _ = w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`)}) // its answer is lost
		w.dies()
		asked = append(asked, w.cell(`SELECT max(turn_id) FROM turns`))
		w.restart()
		ask(3)
		if first := w.claims("wrk_dead"); first.Turn != asked[0] {
			t.Fatalf("%s began first; want %s", first.Turn, asked[0])
		}
		if second := w.claims("wrk_1"); second.Turn != "" {
			t.Fatalf("%s began beside it", second.Turn)
		}
		w.pass(time.Minute) // the lease
		for _, want := range asked {
			a := w.claims("wrk_1")
			if a.Turn != want {
				t.Fatalf("%s began; want %s", a.Turn, want)
			}
			w.delivers(a, "wrk_1")
		}
	})
}

// TestDispatchTimeout: a turn that no worker takes in time ends and says so; one behind another turn of its agent waits as
// long as it takes.
func TestDispatchTimeout(t *testing.T) {
	inWorld(t, func(w *world) { w.dispatch, w.active = 30*time.Second, 1 }, func(t *testing.T, w *world) {
		w.pass(31 * time.Second) // a worker may come as late after a start
		first := w.begin()
		claimed := w.claims("wrk_1")
		behind := w.begin()
		for range 20 {
			w.pass(10 * time.Second)
			if err := w.as(kernel.AgentCaller, agentName, api.OpRenew, claimed.WorkerRequest("wrk_1"), nil); err != nil {
				t.Fatal(err)
			}
		}
		if s := w.turn(behind.Turn); s.Status != turn.Queued {
			t.Fatalf("the turn behind another is %s: %+v", s.Status, s.End)
		}
		w.delivers(claimed, "wrk_1")
		ended := w.clock.now()
		s := w.over(behind.Turn)
		if s.End.Code != utp.CodeDispatchTimeout || s.End.Status != utp.StatusTimeout {
			t.Errorf("it ended %+v", s.End)
		}
		if took := w.clock.now().Sub(ended); took < 30*time.Second || took > 65*time.Second {
			t.Errorf("it ended %v after the agent was free", took)
		}
		if n := w.cell(`SELECT count(*) FROM events WHERE type LIKE '%session.errored'`); n != "1" {
			t.Errorf("%s ends were told; want one", n)
		}
		w.succeeded(first.Turn)
	})
}

// TestDispatchTimeoutAsleep: a turn that waits while the machine sleeps is not ended when it wakes: no worker had a chance
// to take it.
func TestDispatchTimeoutAsleep(t *testing.T) {
	inWorld(t, func(w *world) { w.dispatch = 30 * time.Second }, func(t *testing.T, w *world) {
		w.pass(31 * time.Second) // a worker may come as late after a start
		a := w.begin()
		w.pass(time.Second)
		w.clock.suspend(time.Hour)
		w.pass(29500 * time.Millisecond) // and the tick
		if s := w.turn(a.Turn); s.Status != turn.Queued {
			t.Fatalf("after the sleep the turn is %s: %+v", s.Status, s.End)
		}
		woke := w.clock.now()
		if s := w.over(a.Turn); s.End.Code != utp.CodeDispatchTimeout {
			t.Errorf("it ended %+v", s.End)
		}
		if took := w.clock.now().Sub(woke); took > 65*time.Second {
			t.Errorf("it ended %v after that", took)
		}
	})
}

// TestTurnDeadline: at its deadline a turn ends, its open question with it, and a yes that comes later finds nothing.
func TestTurnDeadline(t *testing.T) { deadlineEnds(t, 0) }

// TestTurnDeadlineAndExpiry: the time to answer is over in the same tick as the time of the turn.
func TestTurnDeadlineAndExpiry(t *testing.T) { deadlineEnds(t, 20) }

func deadlineEnds(t *testing.T, answer int) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{
			Agent: agentName, Args: jsontext.Value(`{}`), Request: "tidy up", Deadline: 20, Answer: answer,
		})
		if err != nil {
			t.Fatal(err)
		}
		w.follow(a.Session)
		q := w.asked()
		w.pass(21 * time.Second)
		s := w.turn(a.Turn)
		if s.Status != turn.Ended || s.End.Code != utp.CodeDeadlineExceeded || s.End.Status != utp.StatusTimeout {
			t.Fatalf("the turn is %s, %+v", s.Status, s.End)
		}
		if _, err := w.hub.Answer(w.ctx, api.ReplyRequest{Token: q.Token, Decision: "accept", By: person}); err == nil {
			t.Error("a yes after the deadline was taken")
		}
		w.effectsAre(0)
	})
}

// TestParent: a turn that another asks for is one agent deeper and ends no later. It is refused at the limit, and where
// the parent has ended or is somebody else's.
func TestParent(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		ask := func(parent, owner string, deadline int) (api.EnqueueAnswer, error) {
			return w.hub.Enqueue(w.ctx, api.EnqueueRequest{
				Agent: agentName, Args: jsontext.Value(`{}`), Owner: owner, Parent: parent, Deadline: deadline,
				Boxes: api.Boxes{Profile: "p1", ContextBox: "c1", OutputBox: "o1"},
			})
		}
		root, err := ask("", person, 60)
		if err != nil {
			t.Fatal(err)
		}
		if a := w.claims("wrk_1"); a.Boxes != (api.Boxes{Profile: "p1", ContextBox: "c1", OutputBox: "o1"}) || a.DeadlineMS < 59_000 || a.DeadlineMS > 60_000 {
			t.Errorf("the worker gets %+v and %d ms", a.Boxes, a.DeadlineMS)
		}
		_, err = ask(root.Turn, "bob", 0)
		wantFault(t, err, utp.CodeNotFound)
		_, err = ask("turn_none", person, 0)
		wantFault(t, err, utp.CodeNotFound)
		above := root.Turn
		for depth := 1; depth < turn.MaxDepth; depth++ {
			child, err := ask(above, person, 3600)
			if err != nil {
				t.Fatalf("%d deep: %v", depth, err)
			}
			if s := w.turn(child.Turn); s.Depth != depth || s.Parent != above || s.Deadline != w.turn(root.Turn).Deadline {
				t.Fatalf("the child has depth %d, parent %s, deadline %v", s.Depth, s.Parent, s.Deadline)
			}
			above = child.Turn
		}
		_, err = ask(above, person, 0)
		wantFault(t, err, utp.CodeRecursionDepthExceeded)
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: root.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		_, err = ask(root.Turn, person, 0)
		wantFault(t, err, utp.CodeTurnEnded)
		for _, bad := range []int{-1, api.MaxDeadline + 1} {
			_, err = ask("", person, bad)
			wantFault(t, err, utp.CodeBadRequest)
		}
	})
}

// TestOutsideTakesNoPlace: a session of a program outside, under the name of an agent with workers, keeps no turn of that
// agent waiting, neither for its place nor beyond its time.
func TestOutsideTakesNoPlace(t *testing.T) {
	inWorld(t, func(w *world) { w.dispatch, w.active, w.unended = 30*time.Second, 1, true }, func(t *testing.T, w *world) {
		w.pass(31 * time.Second) // a worker may come as late after a start
		if err := rpc.Ask(w.ctx, w.person, api.OpOpen, api.OpenRequest{Agent: agentName, Owner: person}, &api.OpenAnswer{}); err != nil {
			t.Fatal(err)
		}
		first := w.begin()
		rows, err := w.now.kernel.Admin().Sessions(w.ctx, api.SessionsRequest{Open: true, Newest: true, Waits: true})
		if err != nil || len(rows) != 2 || !slices.Equal(rows[0].Waits, []api.Wait{{For: api.WaitWorker, Agent: agentName}}) {
			t.Errorf("it waits for %+v, %v", rows, err)
		}
		if a := w.claims("wrk_1"); a.Turn != first.Turn {
			t.Fatalf("%q was claimed; want %s", a.Turn, first.Turn)
		} else {
			w.delivers(a, "wrk_1")
		}
		late := w.begin()
		w.pass(65 * time.Second)
		if s := w.turn(late.Turn); s.End == nil || s.End.Code != utp.CodeDispatchTimeout {
			t.Errorf("the turn that no worker took is %s, %+v", s.Status, s.End)
		}
	})
}

// TestWaits: a list says what each open turn waits for.
func TestWaits(t *testing.T) {
	inWorld(t, func(w *world) { w.active = 1 }, func(t *testing.T, w *world) {
		first := w.begin()
		second := w.begin()
		waits := func(id string) []api.Wait {
			t.Helper()
			rows, err := w.now.kernel.Admin().Sessions(w.ctx, api.SessionsRequest{Open: true, Waits: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if r.Turn == id {
					return r.Waits
				}
			}
			return nil
		}
		same := func(what string, got, want []api.Wait) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s: %+v; want %+v", what, got, want)
			}
		}
		same("no worker", waits(first.Turn), []api.Wait{{For: api.WaitWorker, Agent: agentName}})
		same("the next", waits(second.Turn), []api.Wait{{For: api.WaitTurn, Turn: first.Turn}})
		w.work(one(burn))
		q := w.asked()
		same("a person", waits(first.Turn), []api.Wait{{For: api.WaitPerson, Person: person, Question: q.Number, Tool: burn}})
		same("the next, still", waits(second.Turn), []api.Wait{{For: api.WaitTurn, Turn: first.Turn}})
		w.say(q, "reject")
		w.over(first.Turn)
		w.say(w.asked(), "reject")
		w.over(second.Turn)
	})
}
