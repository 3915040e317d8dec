package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/boottime"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/worker"
)

// machine is another machine's clock: since when it has been up, set by the test.
type machine struct {
	mu sync.Mutex
	up time.Duration
}

func (m *machine) boot() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return boottime.Now() + m.up
}

func (m *machine) jump(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.up += d
}

// apart is how far the store's time is from that of the database, which is this machine's.
func apart(s *postgres.Store) time.Duration { return time.Until(s.Now()).Abs() }

// tolerable is more than a busy machine takes for a way there and back, and far less than the tests
// put clocks apart.
const tolerable = 20 * time.Second

// TestNow: the time is the database's from the first connection on, however long the machine has
// been up; when its own clock has gone wrong, the next measurement or connection finds it.
func TestNow(t *testing.T) {
	t.Parallel()
	m := &machine{up: 5 * time.Minute}
	s := openWith(t, postgres.Options{DSN: nowhere(t) + "&application_name=clocked", Boot: m.boot})
	if off := apart(s); off > tolerable {
		t.Fatalf("after opening it is off by %s", off)
	}
	for name, again := range map[string]func() error{
		"a minute later": func() error { return postgres.Remeasure(t.Context(), s) },
		"a new connection": func() error {
			err := server.Do(t.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'clocked'`)
			if err != nil {
				return err
			}
			return s.View(t.Context(), func(tx store.Tx) error {
				_, err := tx.Turns(store.TurnFilter{})
				return err
			})
		},
	} {
		for _, d := range []time.Duration{time.Hour, -time.Hour} {
			m.jump(d)
			if off := apart(s); off < time.Hour-tolerable {
				t.Errorf("%s: its clock jumped by %s, and it is off by %s", name, d, off)
			}
			if err := again(); err != nil {
				t.Fatal(err)
			}
			if off := apart(s); off > tolerable {
				t.Errorf("%s: after a jump of %s it is off by %s still", name, d, off)
			}
		}
	}
}

// single is a plan of one call.
type single struct {
	tool string
	done bool
}

func (p *single) Observe(worker.Result) error { p.done = true; return nil }

func (p *single) Next() (worker.Decision, error) {
	if p.done {
		return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
	}
	return worker.Decision{Calls: []worker.Call{{Key: p.tool, Tool: p.tool, Args: struct{}{}}}}, nil
}

// TestKernelsOfDifferentTimes: two kernels on machines whose clocks are 5 minutes apart share the
// time of their database. A lease that one gives is no older for the other, so what may be repeated
// is not; and a yes that one takes is good at the other, so nobody is asked again.
func TestKernelsOfDifferentTimes(t *testing.T) {
	t.Parallel()
	t.Attr("counts", "effects, questions")
	dsn := nowhere(t)
	w := &town{t: t, effects: map[string]int{}, burning: make(chan struct{})}
	for name, up := range map[string]time.Duration{"one": time.Hour, "two": time.Hour + 5*time.Minute} {
		w.clock = func(s *postgres.Store) kernel.Clock {
			return kernel.Clock{Now: s.Now, SinceBoot: (&machine{up: up}).boot, Boot: name + "@" + name}
		}
		w.open(dsn)
	}
	store := open(t, dsn)
	ctx, stop := context.WithCancel(t.Context())
	var owned sync.WaitGroup
	defer owned.Wait()
	defer stop()
	release := sync.OnceFunc(func() { close(w.burning) })
	defer release()
	for range 2 {
		w.serve(ctx, &owned)
	}
	w.reviewed(store)
	sdk, err := worker.New(worker.Options{
		Conn: peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}, Turns: 2, Poll: 50 * time.Millisecond,
		Agent: worker.Agent{Name: "tidy", Plan: func(_ context.Context, args jsontext.Value) (worker.Planner, error) {
			return &single{tool: string(args[len(`{"tool":"`) : len(args)-len(`"}`)])}, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	owned.Go(func() { _ = sdk.Run(ctx) })
	answered := map[int]bool{}
	for n, which := range []string{"put", "burn"} { // that burns takes its time to be taken back
		w.ask(api.OpEnqueue, api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{"tool":"` + which + `"}`)}, new(api.EnqueueAnswer))
		w.poll(func() bool {
			w.accept(answered)
			return w.done() > n
		})
	}
	release()
	w.await(store, func(ended int) bool { w.accept(answered); return ended == 2 })
	if len(answered) != 2 || w.done() != 2 || len(w.effects) != 2 {
		t.Errorf("%d questions, effects %v; want one question and one effect of each call", len(answered), w.effects)
	}
}

// accept says yes to what is asked again.
func (w *town) accept(answered map[int]bool) {
	var page api.QuestionsAnswer
	w.ask(api.OpQuestions, api.QuestionsRequest{}, &page)
	for _, q := range page.Questions {
		if !answered[q.Number] {
			answered[q.Number] = true
			w.yes(q)
		}
	}
}

// done counts the effects.
func (w *town) done() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, times := range w.effects {
		n += times
	}
	return n
}
