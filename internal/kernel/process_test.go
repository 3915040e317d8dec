package kernel_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/worker"
)

var errDead = errors.New("the process is dead")

// clock is the machine's: the bubble's time, with steps of the wall clock, time spent
// suspended, and reboots.
type clock struct {
	mu         sync.Mutex
	began      time.Time
	wall, mono time.Duration // added to the bubble's
	boots      int
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.wall)
}

func (c *clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began) + c.mono
}

func (c *clock) boot() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(rune('a' + c.boots))
}

// step sets the wall clock.
func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += d
}

// suspend closes the lid: both clocks go on, timers do not.
func (c *clock) suspend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += d
	c.mono += d
}

// reboot starts the second clock again under another boot id.
func (c *clock) reboot() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.boots++
	c.mono = -time.Since(c.began)
}

// count is an incarnation outside the ledger.
type count struct {
	n      atomic.Int64
	broken atomic.Bool
}

func (c *count) Load() (int64, error) { return c.n.Load(), nil }

func (c *count) Store(n int64) error {
	if c.broken.Load() {
		return errDead
	}
	for {
		if old := c.n.Load(); n <= old || c.n.CompareAndSwap(old, n) {
			return nil
		}
	}
}

// process is a kernel with its store. Killing it leaves everything as it is on the
// disk: nothing is closed, and nothing that it does from then on has an effect.
type process struct {
	world  *world
	kernel *kernel.Kernel
	store  store.Ledger
	home   home
	path   string          // of the database's file; "" in memory
	ctx    context.Context //nolint:containedctx // The life of the process.
	cancel context.CancelFunc
	done   chan struct{}
	dead   atomic.Bool
	full   atomic.Bool  // the disk
	read   atomic.Bool  // somebody reads from the log for long
	blind  atomic.Bool  // it reads counters as they were before anyone counted
	slow   atomic.Int64 // how long the disk takes for a commit
	writes atomic.Int64 // how many transactions have written
	counts atomic.Int64 // how often an agent's open calls were counted
	rows   atomic.Int64 // how many rows were written by saving

	narrator kernel.Narrator
	restored bool

	mu        sync.Mutex
	dieAt     map[string]int // points, and how often they are to be passed before
	committed func()         // runs once after the next commit, before the answer
	outrun    func()         // runs once in place of the next commit, which it has won the race against
}

// die is a kill -9: from this instant on nothing leaves it and nothing is written.
func (p *process) die() {
	p.dead.Store(true)
	p.cancel()
}

func (p *process) reached(point string) {
	p.mu.Lock()
	n, armed := p.dieAt[point]
	if armed {
		p.dieAt[point] = n - 1
	}
	p.mu.Unlock()
	if armed && n == 1 {
		p.die()
	}
}

// fuse is the process's way to its store.
type fuse struct{ *process }

func (f fuse) Update(ctx context.Context, fn func(store.Tx) error) error {
	if f.dead.Load() {
		return errDead
	}
	wrote, lost := false, func() {}
	err := f.store.Update(ctx, func(tx store.Tx) error {
		seen := &saves{Tx: f.seen(tx), counts: &f.counts, rows: &f.rows}
		err := fn(seen)
		if wrote = seen.n > 0; err != nil {
			return err
		}
		switch {
		case f.dead.Load():
			return errDead
		case f.full.Load():
			return store.ErrFull
		case wrote && f.once(&f.outrun, &lost):
			return store.ErrConflict
		}
		return nil
	})
	lost()
	if err == nil && wrote {
		f.writes.Add(1)
	}
	if slow := time.Duration(f.slow.Load()); slow > 0 {
		<-time.After(slow)
	}
	hook := func() {}
	f.once(&f.committed, &hook)
	hook()
	return err
}

// once hands a hook out the first time, and reports whether there was one.
func (p *process) once(hook, into *func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *hook == nil {
		return false
	}
	*into, *hook = *hook, nil
	return true
}

// saves counts what a transaction saves, and how often it counts calls.
type saves struct {
	store.Tx

	n      int
	counts *atomic.Int64
	rows   *atomic.Int64
}

func (s *saves) OpenCalls(agent string, limit int) (int, error) {
	s.counts.Add(1)
	return s.Tx.OpenCalls(agent, limit)
}

func (s *saves) Save(b store.Batch) error {
	s.n++
	ledger, is := s.Tx.(*ledgersql.Tx)
	if !is {
		return s.Tx.Save(b)
	}
	before, err := changes(ledger)
	if err != nil {
		return err
	}
	if err := s.Tx.Save(b); err != nil {
		return err
	}
	after, err := changes(ledger)
	s.rows.Add(after - before)
	return err
}

// changes counts the rows that the connection of a transaction has written so far.
func changes(tx *ledgersql.Tx) (n int64, err error) {
	err = tx.Conn().QueryRow(`SELECT total_changes()`, nil, &n)
	return n, err
}

// Scrub implements kernel.Scrubber. Somebody may be reading from the log.
func (f fuse) Scrub(ctx context.Context) error {
	if f.read.Load() || f.dead.Load() {
		return errDead
	}
	if s, can := f.store.(store.Scrubber); can {
		return s.Scrub(ctx)
	}
	return nil
}

func (f fuse) View(ctx context.Context, fn func(store.Tx) error) error {
	if f.dead.Load() {
		return errDead
	}
	return f.store.View(ctx, func(tx store.Tx) error { return fn(f.seen(tx)) })
}

func (f fuse) seen(tx store.Tx) store.Tx {
	if f.blind.Load() {
		return uncounted{tx}
	}
	return tx
}

// uncounted reads counters as before the commits of others that are under way.
type uncounted struct{ store.Tx }

func (u uncounted) Count(counter string, add int64) (int64, error) {
	if add == 0 {
		return 0, nil
	}
	return u.Tx.Count(counter, add)
}

func (f fuse) Close() error { return nil }

// boot starts a kernel on the ledger that is there, as the program does: it looks
// whether the ledger went back in time, drives what is open, and serves.
func (w *world) boot(at home) *process {
	w.t.Helper()
	p := w.process(w.open(at), at)
	var err error
	if p.restored, err = p.kernel.Recover(p.ctx); err != nil {
		w.t.Fatal(err)
	}
	if w.unresumed {
		if err := p.kernel.SuspendOpenTurns(p.ctx); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, row := range p.open() {
		if w.unresumed {
			break
		}
		if err := p.kernel.Resume(p.ctx, row.Turn); err != nil {
			w.t.Fatal(err)
		}
	}
	p.run()
	w.bus.serve(p)
	w.now = p
	return p
}

// join starts another kernel on the ledger of the present one, as another machine would: it
// resumes nothing, and both answer what is asked, in turns.
func (w *world) join() *process {
	w.t.Helper()
	p := w.process(w.now.store, w.now.home)
	p.run()
	w.bus.join(p)
	return p
}

func (p *process) run() {
	go func() {
		defer close(p.done)
		p.kernel.Run(p.ctx)
	}()
}

// process makes a kernel on a store.
func (w *world) process(ledger store.Ledger, at home) *process {
	w.t.Helper()
	p := &process{world: w, store: ledger, home: at, path: at.file(), done: make(chan struct{}), dieAt: map[string]int{}}
	w.processes = append(w.processes, p)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	p.narrator = narrator
	policy, err := w.judges()
	if err != nil {
		w.t.Fatal(err)
	}
	p.kernel, err = kernel.New(kernel.Options{
		Passkeys: kernel.Passkeys{Require: w.passkeys, Origin: func() string { return pageOrigin }},
		Store:    fuse{p}, Bus: port{bus: w.bus, proc: p}, Policy: policy, Narrator: narrator, Incarnation: w.count,
		Project: w.project, Clock: kernel.Clock{Now: w.clock.now, SinceBoot: w.clock.elapsed, Boot: w.clock.boot()},
		Logger: w.log, Key: w.key, Environment: w.lookup, SingleHost: w.sole, WaitForPresence: w.patient, Reached: p.reached, Approvers: w.approvers, Names: w.names, Hints: w.hints, Retention: w.retention,
		DispatchTimeout: w.dispatch, AddedCards: w.cards, MaxActive: func(string) int { return w.active },
		Parameters: func(string) jsontext.Value { return w.takes },
		MayStart:   func(_, agent string) bool { return slices.Contains(w.starts, agent) },
		IdleTurn:   w.idle, Poll: w.poll, OwnedTurnsOnly: w.own, Generation: w.generation(), Presence: w.presence, Takeover: w.takenOver, BytesPerDay: w.bytes, OpenCalls: w.calls,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// generation is nil where each process begins its own.
func (w *world) generation() func() string {
	if !w.lasting {
		return nil
	}
	return func() string { return "the first" }
}

// lasting has no restart begin a generation.
func lasting(configure func(*world)) func(*world) {
	return func(w *world) {
		w.lasting = true
		if configure != nil {
			configure(w)
		}
	}
}

// judges is the policy of the world's kernels.
func (w *world) judges() (kernel.Policy, error) {
	if w.policy != nil {
		return w.policy, nil
	}
	return rulebook.NewRules(w.rules)
}

func (p *process) open() []store.TurnRow {
	var rows []store.TurnRow
	err := p.store.View(context.Background(), func(tx store.Tx) (err error) {
		rows, err = tx.Turns(store.TurnFilter{Open: true})
		return err
	})
	if err != nil {
		p.world.t.Fatal(err)
	}
	return rows
}

// restart boots a kernel on the files that the present one leaves behind.
func (w *world) restart() *process {
	w.t.Helper()
	w.now.die()
	<-w.now.done
	return w.boot(w.now.home)
}

// restore is the operator's mistake: the kernel is killed and an old copy put back.
func (w *world) restore(old home) *process {
	w.t.Helper()
	w.now.die()
	<-w.now.done
	return w.boot(old)
}

// service is a process with a tool service.
type service struct {
	world  *world
	conn   *conn
	cancel context.CancelFunc
	done   chan struct{}
}

// measured is the clock that services measure with: their own machine's, if they have one.
func (w *world) measured() func() time.Duration {
	if w.away != nil {
		return w.away.elapsed
	}
	return w.clock.elapsed
}

// serve starts a service and waits until its tools are registered.
func (w *world) serve(name string, tools func(*service) []tool.Tool) *service {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &service{world: w, conn: w.bus.connect(kernel.ToolCaller, name), cancel: cancel, done: make(chan struct{})}
	sdk, err := tool.New(tool.Options{Conn: s.conn, Tools: tools(s), Boot: w.measured(), Logger: w.log})
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		if err := sdk.Run(ctx); err != nil && ctx.Err() == nil {
			w.t.Errorf("service %s: %v", name, err)
		}
	}()
	w.services = append(w.services, s)
	w.settle()
	return s
}

// kill ends the service without last words.
func (s *service) kill() {
	s.conn.dead.Store(true)
	s.cancel()
}

// agent is a process with a worker.
type agent struct {
	conn   *conn
	cancel context.CancelFunc
	done   chan struct{}
}

// work starts a worker whose planner wants the given steps.
func (w *world) work(steps ...[]worker.Call) *agent {
	w.t.Helper()
	return w.workAs(func() worker.Planner { return &planner{steps: steps} })
}

func (w *world) workAs(plan func() worker.Planner) *agent {
	w.t.Helper()
	return w.workWithin(func(context.Context) worker.Planner { return plan() })
}

// workWithin starts a worker whose planner depends on the turn.
func (w *world) workWithin(plan func(context.Context) worker.Planner) *agent {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a := &agent{conn: w.bus.connect(kernel.AgentCaller, agentName), cancel: cancel, done: make(chan struct{})}
	sdk, err := worker.New(worker.Options{Conn: a.conn, Logger: w.log, Turns: w.seats, Retain: w.keep, Agent: worker.Agent{
		Name: agentName,
		Plan: func(ctx context.Context, _ jsontext.Value) (worker.Planner, error) { return plan(ctx), nil },
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(a.done)
		if err := sdk.Run(ctx); err != nil {
			w.t.Errorf("worker: %v", err)
		}
	}()
	w.agents = append(w.agents, a)
	return a
}

func (a *agent) kill() {
	a.conn.dead.Store(true)
	a.cancel()
}

// planner wants its steps one after the other and then answers.
type planner struct {
	steps [][]worker.Call
	seen  []worker.Result
}

func (p *planner) Observe(r worker.Result) error {
	p.seen = append(p.seen, r)
	return nil
}

func (p *planner) Next() (worker.Decision, error) {
	done := 0
	for _, step := range p.steps {
		if done == len(p.seen) {
			return worker.Decision{Calls: step}, nil
		}
		done += len(step)
	}
	return worker.Decision{Answer: &worker.Answer{Summary: "That was all.", Output: "I have done what I could."}}, nil
}
