package postgres_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/incarnation"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// stuck is a subject that nothing can be published to.
const stuck = "stuck"

var errGone = errors.New("the kernel is gone")

// town is two kernels on one ledger, each with a pool of its own, and the services and workers
// that ask them in turns.
type town struct {
	t *testing.T

	count    incarnation.Copy
	active   int           // turns that an agent may have under way
	restored bool          // the last kernel found that the ledger had gone back
	burning  chan struct{} // what has an effect waits for its end, where there is one
	// clock is that of the next kernel; nil is the one that a kernel has by itself.
	clock func(*postgres.Store) kernel.Clock
	// wrap is put around the ledger of the next kernel; nil is nothing.
	wrap func(store.Ledger) store.Ledger

	mu      sync.Mutex
	kernels []*kernel.Kernel // those that live
	asked   int
	tools   []func(tool.Message)
	bells   []func(turn string)
	effects map[string]int
}

// house is one kernel; it publishes as long as it lives.
type house struct {
	*town

	ctx context.Context //nolint:containedctx // The kernel's life.
}

func (h house) Publish(_ context.Context, subject string, header map[string][]string, payload []byte) error {
	if h.ctx.Err() != nil {
		return errGone
	}
	h.mu.Lock()
	tools, bells := slices.Clone(h.tools), slices.Clone(h.bells)
	h.mu.Unlock()
	switch {
	case subject == stuck:
		return errGone
	case strings.Contains(subject, ".cmd.tool."):
		for _, hear := range tools { // every replica: one of them may start it
			hear(tool.Message{Subject: subject, Header: header, Payload: payload})
		}
	case !strings.HasPrefix(subject, "earshot."):
		for _, ring := range bells {
			ring(strings.Join(header[utp.HeaderTurnID], ""))
		}
	}
	return nil
}

// open starts a kernel and returns how to kill it.
func (w *town) open(dsn string) (kill func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	rules, err := rulebook.NewRules(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	ledger := open(w.t, dsn)
	var clock kernel.Clock
	if w.clock != nil {
		clock = w.clock(ledger)
	}
	wrap := w.wrap
	if wrap == nil {
		wrap = func(l store.Ledger) store.Ledger { return l }
	}
	k, err := kernel.New(kernel.Options{
		Store: wrap(ledger), Clock: clock, Bus: house{w, ctx}, Policy: rules, Narrator: narrator, Poll: 100 * time.Millisecond, Incarnation: w.count,
		MaxActive:  func(string) int { return w.active },
		Generation: func() string { return "one of the two has always been there" },
	})
	if err == nil {
		w.restored, err = k.Recover(ctx)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.kernels = append(w.kernels, k)
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Run(ctx)
	}()
	kill = sync.OnceFunc(func() {
		w.mu.Lock()
		w.kernels = slices.DeleteFunc(w.kernels, func(other *kernel.Kernel) bool { return other == k })
		w.mu.Unlock()
		cancel()
		<-done
	})
	w.t.Cleanup(kill)
	return kill
}

// peer asks the kernels that live, in turns.
type peer struct {
	*town

	kernel.Caller
}

func (p peer) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	p.mu.Lock()
	p.asked++
	k := p.kernels[p.asked%len(p.kernels)]
	p.mu.Unlock()
	return k.Handle(ctx, p.Caller, op, request), nil
}

func (p peer) Wakeups(_ context.Context, ring func(turn string)) (func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bells = append(p.bells, ring)
	return func() {}, nil
}

func (p peer) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	var under sync.WaitGroup
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools = append(p.tools, func(m tool.Message) {
		if ctx.Err() == nil {
			under.Go(func() { handle(ctx, m) })
		}
	})
	return under.Wait, nil
}

// ask asks as a hub.
func (w *town) ask(op string, request, into any) {
	w.t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}}.Request(w.t.Context(), op, raw)
	if err == nil {
		err = api.DecodeAnswer(answer, into)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", op, err)
	}
}

func classes() map[string]utp.Class {
	return map[string]utp.Class{"look": utp.Read, "put": utp.Idempotent, "burn": utp.Irreversible}
}

// serve starts one replica of the service.
func (w *town) serve(ctx context.Context, owned *sync.WaitGroup) {
	w.t.Helper()
	var tools []tool.Tool
	for name, class := range classes() {
		tools = append(tools, tool.Tool{
			Definition: utp.Definition{
				Tool: name, Description: "Does it.", Parameters: jsontext.Value(`{"type":"object"}`), AfterExecution: utp.Suspend,
				Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.fire.run", Class: class, Risk: utp.RiskLow,
			},
			Run: func(_ context.Context, c *tool.Call) (tool.Result, error) {
				w.mu.Lock()
				w.effects[c.ID]++
				w.mu.Unlock()
				if w.burning != nil && name != "look" {
					<-w.burning
				}
				return tool.Result{Value: "done"}, nil
			},
		})
	}
	sdk, err := tool.New(tool.Options{Conn: peer{w, kernel.Caller{Kind: kernel.ToolCaller, Name: "fire"}}, Tools: tools})
	if err != nil {
		w.t.Fatal(err)
	}
	owned.Go(func() { _ = sdk.Run(ctx) })
}

// plan looks, burns and looks again.
type plan struct{ seen int }

func (p *plan) Observe(worker.Result) error { p.seen++; return nil }

func (p *plan) Next() (worker.Decision, error) {
	steps := []string{"look", "burn", "look"}
	if p.seen < len(steps) {
		return worker.Decision{Calls: []worker.Call{{Key: steps[p.seen], Tool: steps[p.seen], Args: struct{}{}}}}, nil
	}
	return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
}

// TestTwoKernelsOneLedger: turns that are begun at one kernel are claimed, asked about, ticked
// and ended through the other when the first is killed. Nothing is lost, nothing is done twice.
func TestTwoKernelsOneLedger(t *testing.T) {
	t.Parallel()
	const turns = 6
	dsn := nowhere(t)
	w := &town{t: t, effects: map[string]int{}}
	kill := w.open(dsn)
	ledger := open(t, dsn)
	ctx, stop := context.WithCancel(t.Context())
	var owned sync.WaitGroup
	defer owned.Wait()
	defer stop()
	for range 2 {
		w.serve(ctx, &owned)
	}
	w.reviewed(ledger)
	var begun []api.EnqueueAnswer
	for range turns {
		var a api.EnqueueAnswer
		w.ask(api.OpEnqueue, api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`)}, &a)
		begun = append(begun, a)
	}
	w.open(dsn)
	for range 2 {
		sdk, err := worker.New(worker.Options{
			Conn: peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}, Turns: 2, Poll: 50 * time.Millisecond,
			Agent: worker.Agent{Name: "tidy", Plan: func(context.Context, jsontext.Value) (worker.Planner, error) { return &plan{}, nil }},
		})
		if err != nil {
			t.Fatal(err)
		}
		owned.Go(func() { _ = sdk.Run(ctx) })
	}
	answered := map[int]bool{}
	w.await(ledger, func(ended int) bool {
		var page api.QuestionsAnswer
		w.ask(api.OpQuestions, api.QuestionsRequest{}, &page)
		for _, q := range page.Questions {
			if !answered[q.Number] {
				answered[q.Number] = true
				w.yes(q)
			}
		}
		if len(answered) >= turns/2 {
			kill() // its accepted calls wait for their undo time
		}
		return ended == turns
	})
	w.judge(ledger, begun)
}

// yes accepts a question, and says that its surface was told.
func (w *town) yes(q api.QuestionRow) {
	w.t.Helper()
	r := api.ReplyRequest{Question: q.Number, Decision: "accept", By: "ada", Surface: "test"}
	w.ask(api.OpAnswer, r, nil)
	r.Decision = ""
	w.ask(api.OpNoticed, r, nil)
}

// reviewed waits for the tools and is the operator who looks at them.
func (w *town) reviewed(ledger store.Ledger) {
	w.t.Helper()
	classes := classes()
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		w.poll(func() bool {
			var found store.Tool
			err := ledger.View(w.t.Context(), func(tx store.Tx) (err error) {
				found, err = store.OneRow(tx.Tools(store.ToolFilter{Names: []string{name}}))
				return err
			})
			return err == nil && w.kernels[0].Admin().Review(w.t.Context(), name, found.Digest, classes[name], utp.RiskLow) == nil
		})
	}
}

// poll looks again and again; who is asked are other processes, as it were.
func (w *town) poll(holds func() bool) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-w.t.Context().Done():
			w.t.Fatal("waited in vain")
		}
	}
}

func (w *town) await(ledger store.Ledger, enough func(ended int) bool) {
	w.t.Helper()
	w.poll(func() bool {
		var rows []store.TurnRow
		err := ledger.View(w.t.Context(), func(tx store.Tx) (err error) {
			rows, err = tx.Turns(store.TurnFilter{Statuses: []turn.Status{turn.Ended}})
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
		return enough(len(rows))
	})
}

func (w *town) judge(ledger store.Ledger, begun []api.EnqueueAnswer) {
	w.t.Helper()
	w.mu.Lock()
	for call, n := range w.effects {
		if n != 1 {
			w.t.Errorf("%s was done %d times", call, n)
		}
	}
	w.mu.Unlock()
	for _, a := range begun {
		err := ledger.View(w.t.Context(), func(tx store.Tx) error {
			rec, err := tx.Turn(store.TurnRef{Turn: a.Turn})
			if err != nil {
				return err
			}
			if end := rec.State.End; end == nil || end.Status != utp.StatusSuccess {
				w.t.Errorf("%s ended %+v", a.Turn, end)
			}
			rows, err := tx.Results(a.Turn, 0, 9)
			if len(rows) != 3 {
				w.t.Errorf("%s has %d results; want three", a.Turn, len(rows))
			}
			return err
		})
		if err != nil {
			w.t.Error(err)
		}
	}
}
