package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/worker"
)

// beside is the count that is kept beside the ledger.
type beside struct {
	mu sync.Mutex
	n  int64
}

func (b *beside) Load() (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n, nil
}

func (b *beside) Store(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n = max(b.n, n)
	return nil
}

// TestDumpPutBack (call protocol, "Crash and fault table"): a dump is made while a call
// with an effect runs and a message waits to leave. Put back after the work went on, the ledger
// is known by the count beside it to be older: the call is unknown and put to a person, the
// message is put aside, and nothing is done again.
func TestDumpPutBack(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	count := &beside{}
	w := &town{t: t, effects: map[string]int{}, count: count, burning: make(chan struct{})}
	kill := w.open(dsn)
	if w.restored {
		t.Fatal("a new ledger is taken for an old one")
	}
	ledger := open(t, dsn)
	ctx, stop := context.WithCancel(t.Context())
	var owned sync.WaitGroup
	defer owned.Wait()
	defer stop()
	w.serve(ctx, &owned)
	w.reviewed(ledger)
	var idle, a api.EnqueueAnswer
	w.ask(api.OpEnqueue, api.EnqueueRequest{Agent: "nobody", Args: jsontext.Value(`{}`)}, &idle)
	w.ask(api.OpEnqueue, api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`)}, &a)
	err := ledger.Update(t.Context(), func(tx store.Tx) error {
		return tx.Save(store.Batch{Outbox: []store.Outgoing{{Session: idle.Session, Subject: stuck, Payload: []byte("{}")}}})
	})
	must(t, err)
	sdk, err := worker.New(worker.Options{
		Conn: peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}, Turns: 1, Poll: 50 * time.Millisecond,
		Agent: worker.Agent{Name: "tidy", Plan: func(context.Context, jsontext.Value) (worker.Planner, error) { return &plan{}, nil }},
	})
	must(t, err)
	owned.Go(func() { _ = sdk.Run(ctx) })
	w.accepts()
	burnt := w.callIs(ledger, a.Turn, turn.Started)
	file, err := server.Dump(t.Context(), dsn)
	must(t, err)

	close(w.burning)
	w.await(ledger, func(ended int) bool { return ended == 1 })
	w.ask(api.OpEnqueue, api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`)}, nil)
	w.accepts()
	w.await(ledger, func(ended int) bool { return ended == 2 })
	stop()
	owned.Wait()
	kill()

	back, err := server.Restore(t.Context(), file, dsn)
	must(t, err)
	again := open(t, back)
	kill = w.open(back)
	defer kill()
	if !w.restored {
		t.Error("nobody sees that the ledger is older than its count")
	}
	if c := w.callIs(again, a.Turn, turn.Unknown); c.ID != burnt.ID || w.effects[c.ID] != 1 {
		t.Errorf("%s is unknown, and %s was under way; it was done %d times", c.ID, burnt.ID, w.effects[c.ID])
	}
	var page api.QuestionsAnswer
	w.ask(api.OpQuestions, api.QuestionsRequest{}, &page)
	if len(page.Questions) != 1 || page.Questions[0].Call != burnt.ID || page.Questions[0].Kind != "clarification" {
		t.Errorf("asked is %+v; want what became of %s", page.Questions, burnt.ID)
	}
	var dead api.DeadAnswer
	w.ask(api.OpDead, api.DeadRequest{}, &dead)
	if len(dead.Dead) != 1 || dead.Dead[0].Subject != stuck {
		t.Errorf("put aside are %+v; want the one message that waited", dead.Dead)
	}
}

// accepts answers the next question with yes.
func (w *town) accepts() {
	w.t.Helper()
	w.poll(func() bool {
		var page api.QuestionsAnswer
		w.ask(api.OpQuestions, api.QuestionsRequest{}, &page)
		for _, q := range page.Questions {
			w.yes(q)
		}
		return len(page.Questions) > 0
	})
}

// callIs waits until the call of a turn's present step is in a state.
func (w *town) callIs(ledger store.Ledger, turnID string, state turn.CallState) turn.Call {
	w.t.Helper()
	var found turn.Call
	w.poll(func() bool {
		err := ledger.View(w.t.Context(), func(tx store.Tx) error {
			rec, err := tx.Turn(store.TurnRef{Turn: turnID})
			for _, c := range rec.State.Calls {
				if found = c; c.Tool == "burn" && c.State == state {
					return err
				}
			}
			found = turn.Call{}
			return err
		})
		must(w.t, err)
		return found.ID != ""
	})
	return found
}
