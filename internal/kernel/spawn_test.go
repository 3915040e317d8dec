package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestSpawn: a worker starts a turn within its own, once for a correlation id. It may not for another's turn, a lost
// epoch, another agent without leave, the operator's agent, or without an id.
func TestSpawn(t *testing.T) {
	inWorld(t, func(w *world) { w.unended, w.starts = true, []string{"clerk", api.OperatorAgent} }, func(t *testing.T, w *world) {
		root, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Owner: "bob", Deadline: 600})
		if err != nil {
			t.Fatal(err)
		}
		at := w.claims("wrk_1").WorkerRequest("wrk_1")
		good := api.SpawnRequest{Worker: &at, Agent: "clerk", Args: jsontext.Value(`{}`), Correlation: "child-1", Request: "file it"}
		spawn := func(kind, name string, q api.SpawnRequest) (a api.EnqueueAnswer, err error) {
			err = w.as(kind, name, api.OpSpawn, q, &a)
			return a, err
		}
		child, err := spawn(kernel.AgentCaller, agentName, good)
		if err != nil {
			t.Fatal(err)
		}
		if s := w.turn(child.Turn); s.Owner != "bob" || s.Parent != root.Turn || s.Depth != 1 || s.Agent != "clerk" || s.Deadline.IsZero() || s.Correlation != "child-1" {
			t.Errorf("the child is %+v", s)
		}
		if got, want := w.turn(child.Turn).Within, (turn.Within{Session: root.Session, Name: w.turn(root.Turn).Name, Spawner: agentName, Agent: agentName}); got != want {
			t.Errorf("it is within %+v; want %+v", got, want)
		}
		if again, err := spawn(kernel.AgentCaller, agentName, good); err != nil || again.Turn != child.Turn || !again.Repeated {
			t.Errorf("again: %+v, %v", again, err)
		}
		w.begin() // another parent
		other := w.claims("wrk_2").WorkerRequest("wrk_2")
		twin := good
		twin.Worker = &other
		if a, err := spawn(kernel.AgentCaller, agentName, twin); err != nil || a.Turn == child.Turn || a.Repeated {
			t.Errorf("the same id within another turn: %+v, %v", a, err)
		}
		stale := at
		stale.Epoch--
		for what, tt := range map[string]struct {
			kind, name string
			change     func(*api.SpawnRequest)
			code       utp.Code
		}{
			"another request":     {kernel.AgentCaller, agentName, func(q *api.SpawnRequest) { q.Correlation = "child-1"; q.Request = "other" }, utp.CodeConflict},
			"another's turn":      {kernel.AgentCaller, "clerk", func(*api.SpawnRequest) {}, utp.CodeAuthFailed},
			"a lost epoch":        {kernel.AgentCaller, agentName, func(q *api.SpawnRequest) { q.Worker = &stale }, utp.CodeStale},
			"another agent":       {kernel.AgentCaller, agentName, func(q *api.SpawnRequest) { q.Agent = "chat" }, utp.CodeAuthFailed},
			"the operator":        {kernel.AgentCaller, agentName, func(q *api.SpawnRequest) { q.Agent = api.OperatorAgent }, utp.CodeAuthFailed},
			"no id":               {kernel.AgentCaller, agentName, func(q *api.SpawnRequest) { q.Correlation = "" }, utp.CodeBadRequest},
			"nothing to be in":    {kernel.AgentCaller, agentName, func(q *api.SpawnRequest) { q.Worker = nil }, utp.CodeBadRequest},
			"an agent and a call": {kernel.AgentCaller, agentName, func(q *api.SpawnRequest) { q.Call = &api.OwnerRequest{Call: "tc_1", Owner: "o"} }, utp.CodeBadRequest},
			"a service's worker":  {kernel.ToolCaller, agentName, func(*api.SpawnRequest) {}, utp.CodeBadRequest},
			"a hub":               {kernel.HubCaller, person, func(*api.SpawnRequest) {}, utp.CodeAuthFailed},
		} {
			q := good
			q.Correlation = "child-2"
			tt.change(&q)
			_, err := spawn(tt.kind, tt.name, q)
			t.Log(what)
			wantFault(t, err, tt.code)
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "4" {
			t.Errorf("%s turns; want 4", n)
		}
	})
}

// TestSpawnLimit: a turn may have 64 open turns within it; once one has ended there is room for another.
func TestSpawnLimit(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		root := w.begin()
		ask := func(parent string) (api.EnqueueAnswer, error) {
			return w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Parent: parent})
		}
		var child api.EnqueueAnswer
		for range 64 {
			var err error
			if child, err = ask(root.Turn); err != nil {
				t.Fatal(err)
			}
		}
		_, err := ask(root.Turn)
		wantFault(t, err, utp.CodeTooManyTurns)
		if _, err := ask(child.Turn); err != nil {
			t.Errorf("within another turn: %v", err)
		}
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: child.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(root.Turn); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

// TestSpawnPlaces: a turn is not started within turns that hold all places of its agent, directly or through another
// agent: it would wait for them, and they for it.
func TestSpawnPlaces(t *testing.T) {
	inWorld(t, func(w *world) { w.unended, w.active = true, 2 }, func(t *testing.T, w *world) {
		within := func(agent, parent string) (api.EnqueueAnswer, error) {
			return w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agent, Args: jsontext.Value(`{}`), Parent: parent})
		}
		started := func(agent, parent string) string {
			t.Helper()
			a, err := within(agent, parent)
			if err != nil {
				t.Fatal(err)
			}
			return a.Turn
		}
		root := w.begin()
		child := started(agentName, root.Turn)
		other := started("clerk", child)
		_, err := within(agentName, other)
		wantFault(t, err, utp.CodeTooManyTurns)
		if err == nil || !strings.Contains(err.Error(), "--max-active") {
			t.Errorf("it does not say what to do: %v", err)
		}
		started(agentName, root.Turn) // it waits for the first child, which can end
		at := w.claims("wrk_1").WorkerRequest("wrk_1")
		if err := w.as(kernel.AgentCaller, agentName, api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess}, nil); err != nil {
			t.Fatal(err)
		}
		started(agentName, other) // one above has ended
	})
}

// TestSpawnFromCall: a service starts a turn while it runs a call, and no longer once the call has ended. The consent to
// that call lets nothing begin in the new turn: it is asked about for itself.
func TestSpawnFromCall(t *testing.T) {
	inWorld(t, func(w *world) { w.starts = []string{agentName} }, func(t *testing.T, w *world) {
		work := w.gate()
		w.effects.at("begun", work.pass)
		w.work(one(burn))
		root := w.begin()
		w.say(w.asked(), "accept")
		c := w.reaches(root.Turn, turn.Started)
		q := api.SpawnRequest{Call: &api.OwnerRequest{Call: c.ID, Owner: c.Owner, Fence: c.Fence}, Agent: agentName, Args: jsontext.Value(`{}`), Correlation: "next"}
		wrong := *q.Call
		wrong.Owner = "another"
		var child api.EnqueueAnswer
		wantFault(t, w.as(kernel.ToolCaller, "others", api.OpSpawn, q, nil), utp.CodeAuthFailed)
		bad := q
		bad.Call, bad.Correlation = &wrong, "bad"
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpSpawn, bad, nil), utp.CodeStale)
		if err := w.as(kernel.ToolCaller, target, api.OpSpawn, q, &child); err != nil {
			t.Fatal(err)
		}
		work.open()
		w.succeeded(root.Turn)
		bad.Call = q.Call
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpSpawn, bad, nil), utp.CodeStale)
		w.effectsAre(1)
		question := w.asked() // in the child, which its worker has taken
		if question.Session != child.Session {
			t.Errorf("the question is of %s; want %s", question.Session, child.Session)
		}
		w.say(question, "reject")
		w.over(child.Turn)
		w.effectsAre(1)
	})
}

// TestPlannerEnqueues: a planner starts a turn of its own agent, once for a correlation id.
func TestPlannerEnqueues(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		started := make(chan api.EnqueueAnswer, 8)
		agent := w.bus.connect(kernel.AgentCaller, agentName)
		sdk, err := worker.New(worker.Options{Conn: agent, Agent: worker.Agent{Name: agentName, Plan: func(ctx context.Context, _ jsontext.Value) (worker.Planner, error) {
			if worker.TurnOf(ctx).Depth == 0 {
				a, err := worker.Enqueue(ctx, worker.Child{Agent: agentName, Args: jsontext.Value(`{}`), Correlation: "part-" + worker.TurnOf(ctx).ID})
				if err != nil {
					return nil, err
				}
				started <- a
			}
			return &planner{}, nil
		}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(w.ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = sdk.Run(ctx)
		}()
		root := w.begin()
		w.succeeded(root.Turn)
		child := <-started
		w.succeeded(child.Turn)
		if s := w.turn(child.Turn); s.Parent != root.Turn || s.Depth != 1 {
			t.Errorf("the child is %+v", s)
		}
		stop()
		<-done
		w.pass(time.Second)
	})
}

// TestStopReachesSpawned: a stop of a turn ends every open turn within it, however it was begun and however deep, for the
// same reason. A turn that has ended leaves those within it alone, and a stop there does not reach up.
func TestStopReachesSpawned(t *testing.T) {
	for _, tt := range []struct {
		name   string
		end    func(w *world, root, child api.EnqueueAnswer, at api.WorkerRequest)
		status [3]turn.Status // of the root, of the child, and of the turn within that
	}{
		{"a stop of the first", func(w *world, root, _ api.EnqueueAnswer, _ api.WorkerRequest) { w.stops(root) }, [3]turn.Status{turn.Ended, turn.Ended, turn.Ended}},
		{"a stop in the middle", func(w *world, _, child api.EnqueueAnswer, _ api.WorkerRequest) { w.stops(child) }, [3]turn.Status{turn.Running, turn.Ended, turn.Ended}},
		{"the end of the first", func(w *world, _, _ api.EnqueueAnswer, at api.WorkerRequest) {
			if err := w.as(kernel.AgentCaller, agentName, api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess}, nil); err != nil {
				w.t.Fatal(err)
			}
		}, [3]turn.Status{turn.Ended, turn.Running, turn.Queued}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.unended, w.starts = true, []string{clerk} }, func(t *testing.T, w *world) {
				root := w.begin()
				at := w.claims("wrk_1").WorkerRequest("wrk_1")
				var child, deeper api.EnqueueAnswer
				q := api.SpawnRequest{Worker: &at, Agent: clerk, Args: jsontext.Value(`{}`), Correlation: "child"}
				if err := w.as(kernel.AgentCaller, agentName, api.OpSpawn, q, &child); err != nil {
					t.Fatal(err)
				}
				below := w.clerkClaims("c1").WorkerRequest("c1")
				q.Worker = &below
				if err := w.as(kernel.AgentCaller, clerk, api.OpSpawn, q, &deeper); err != nil {
					t.Fatal(err)
				}
				tt.end(w, root, child, at)
				for i, a := range []api.EnqueueAnswer{root, child, deeper} {
					s := w.turn(a.Turn)
					if s.Status != tt.status[i] {
						t.Errorf("turn %d is %s; want %s", i, s.Status, tt.status[i])
					}
					if s.Status == turn.Ended && s.Stop != nil && (s.Stop.By != person || s.Stop.Reason != "enough") {
						t.Errorf("turn %d was stopped by %+v", i, s.Stop)
					}
					if s.Status != turn.Ended && i == 0 && len(s.Delegated) != 0 {
						t.Errorf("it still knows %v", s.Delegated)
					}
				}
			})
		})
	}
}
