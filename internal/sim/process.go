package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/worker"
)

var errDead = errors.New("sim: the process is dead")

// process is one life of a simulated process: what it holds is gone when it dies, and from
// that instant on nothing leaves it and nothing is written.
type process struct {
	name       string // of its place, and which life it is
	kind, peer string // as the bus has authenticated it
	position   *position
	ctx        context.Context //nolint:containedctx // The life of the process.
	cancel     context.CancelFunc
	dead       atomic.Bool
	rand       io.Reader
	done       chan struct{}

	paused, cut time.Time // until when: it does nothing; nothing reaches it

	kernel *kernel.Kernel // of a kernel
	// generation is the life that all kernels share of which one at least has always been there.
	generation string
	serving    atomic.Bool
	version    int // of a service: of its definitions
	receive    func(context.Context, tool.Message)
	wakeup     func(turn string)
}

// position is where a process stands that is started again whenever it has died.
type position struct {
	name, kind, peer string
	lives            int
	now              *process
	begin            func(*process) // runs the process to its end, on a goroutine of its own
}

// chance reads random bytes from the seed.
type chance struct {
	mu  sync.Mutex
	src *rand.ChaCha8
}

func (c *chance) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.src.Read(p) //nolint:wrapcheck // It never fails.
}

func (w *world) chance() *chance {
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(w.rand.Uint32())
	}
	return &chance{src: rand.NewChaCha8(seed)}
}

// start begins the next life of a process, on the main goroutine.
func (w *world) start(at *position) {
	if w.finished {
		return
	}
	at.lives++
	p := &process{
		name: fmt.Sprintf("%s#%d", at.name, at.lives), kind: at.kind, peer: at.peer, position: at, rand: w.chance(),
		done: make(chan struct{}), version: w.version,
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if at.kind == kernelKind {
		p.generation = w.generation()
	}
	at.now = p
	w.procs = append(w.procs, p)
	w.sayf("%s starts", p.name)
	go func() {
		defer close(p.done)
		at.begin(p)
	}()
}

// generation is that of the kernels that live, or a new one.
func (w *world) generation() string {
	for _, p := range w.procs {
		if p.generation != "" && !p.dead.Load() {
			return p.generation
		}
	}
	w.generations++
	return fmt.Sprint("generation ", w.generations)
}

// kill ends a process at once; anybody may. Its place is taken again after a while.
func (w *world) kill(p *process, gone time.Duration) {
	if p.dead.Swap(true) {
		return
	}
	p.cancel()
	w.sayf("%s dies, for %v", p.name, gone)
	w.submit(&item{key: "start " + p.position.name, at: time.Now().Add(gone), calm: true, event: true, run: func() {
		if p.position.now == p {
			w.start(p.position)
		}
	}})
}

// bury ends what dead processes wait for.
func (w *world) bury() {
	for n := 0; n < len(w.items); n++ {
		i := w.items[n]
		if i.proc == nil || !i.proc.dead.Load() {
			continue
		}
		w.items = append(w.items[:n], w.items[n+1:]...)
		n--
		if i.die != nil {
			i.die()
		}
	}
}

func (w *world) runKernel(p *process) {
	k, err := kernel.New(kernel.Options{
		Store: &watchedStore{w: w, p: p}, Bus: &port{w: w, p: p}, Policy: w.policy, Narrator: w.narrator, Incarnation: &counter{w: w, p: p},
		Project: project, Clock: kernel.Clock{Now: w.clock.Now, SinceBoot: w.clock.mono, Boot: w.clock.boot()},
		Rand: p.rand, WaitForPresence: w.waitForPresence, Poll: time.Second << w.polls, Step: w.judge.step(p, w.stepOf()),
		Generation: func() string { return p.generation }, MayStart: mayStart, MaxActive: func(string) int { return w.maxActive },
	})
	if err != nil {
		w.judge.wrongf("a kernel does not start: %v", err)
		return
	}
	for p.ctx.Err() == nil {
		restored, err := k.Recover(p.ctx)
		if err == nil {
			w.sayf("%s has looked at the ledger: restored=%t", p.name, restored)
			break
		}
		nap(p.ctx, time.Second)
	}
	p.kernel = k
	p.serving.Store(true)
	k.Run(p.ctx)
}

// nap waits, unless the context ends before.
func nap(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (w *world) runService(p *process) {
	s, err := tool.New(tool.Options{
		Conn: &conn{w: w, p: p}, Tools: w.toolsOf(p), Boot: w.clock.mono, Rand: p.rand, Parallel: w.parallel,
	})
	if err != nil {
		w.judge.wrongf("a service does not start: %v", err)
		return
	}
	if err := s.Run(p.ctx); err != nil && p.ctx.Err() == nil {
		w.sayf("%s gives up: %v", p.name, err)
		w.kill(p, 5*time.Second)
	}
}

func (w *world) runWorker(p *process) {
	s, err := worker.New(worker.Options{
		Conn: &conn{w: w, p: p}, Agent: worker.Agent{Name: p.peer, Plan: w.planOf(p)}, Rand: p.rand,
		Turns: w.turnsAtOnce, Poll: time.Second, Idle: 20 * time.Second, Retain: w.retain,
	})
	if err != nil {
		w.judge.wrongf("a worker does not start: %v", err)
		return
	}
	if err := s.Run(p.ctx); err != nil {
		w.judge.wrongf("%s: %v", p.name, err)
	}
}
