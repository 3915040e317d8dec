package tool

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/boottime"
	"github.com/earshot-dev/earshot/utp"
)

// Options of a service.
type Options struct {
	Conn Conn
	// Tools of the service; their definitions name its target.
	Tools []Tool
	// Source supplies the tools instead, if they come and go while the service runs. In that case Target names the
	// service.
	Source Source
	Target string
	// Parallel is the maximum number of concurrent calls; default 4. Up to 1,024 more wait here; any beyond that need
	// another wakeup.
	Parallel int
	Logger   *slog.Logger
	// Boot returns the time since the machine booted, including sleep. It measures how long ago a start or a lease was
	// requested. Default: [boottime.Now].
	Boot func() time.Duration
	Rand io.Reader
}

// Service runs the tools of one target.
type Service struct {
	o      Options
	known  atomic.Pointer[toolset] // as they are served; replaced as a whole
	target string
	owner  string
	stats  statistics
	begun  begun

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // by call; guarded by mu
	waiting []job                              // in the order of their wakeups; guarded by mu
	owned   sync.WaitGroup
}

// New validates the options and creates the owner's nonce.
func New(o Options) (*Service, error) {
	if o.Conn == nil || (len(o.Tools) == 0) == (o.Source == nil) {
		return nil, errors.New("tool: a service needs a Conn, and at least one tool or a Source of them")
	}
	if o.Source != nil && !utp.ValidToken(o.Target) {
		return nil, errors.New("tool: a service with a Source needs its name, of A-Z a-z 0-9 _ and -, as Target")
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Boot == nil {
		o.Boot = boottime.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	var nonce [16]byte
	if _, err := io.ReadFull(o.Rand, nonce[:]); err != nil {
		return nil, fmt.Errorf("tool: randomness: %w", err)
	}
	s := &Service{
		o: o, owner: "own_" + hex.EncodeToString(nonce[:]), target: o.Target,
		running: map[string]context.CancelCauseFunc{}, stats: statistics{tools: map[string]*Stats{}},
	}
	all := &toolset{}
	for _, t := range o.Tools {
		one, err := s.serving(t)
		if err == nil {
			err = all.add(one)
		}
		if err != nil {
			return nil, err
		}
		s.stats.know(one.Definition.Tool)
	}
	s.known.Store(all)
	return s, nil
}

// Target is the service that the tools name. Its credential must have that name.
func (s *Service) Target() string { return s.target }

// Definitions returns what the service offers at the moment.
func (s *Service) Definitions() []utp.Definition { return slices.Clone(s.known.Load().offers) }

// Run registers the tools and serves until ctx ends. Then it accepts no new call, tells the running ones to end, and
// returns once each has reported its result or given up: the report uses a separate context, bounded by grace. The
// Source ends last.
func (s *Service) Run(ctx context.Context) error {
	for _, d := range s.known.Load().offers {
		if err := s.register(ctx, d); err != nil {
			return err
		}
	}
	stop, err := s.o.Conn.Commands(ctx, s.receive)
	if err != nil {
		return fmt.Errorf("tool: listening for commands: %w", err)
	}
	source := s.follow(ctx)
	select {
	case <-ctx.Done():
	case <-source.ended: // it cannot go on
	}
	stop()
	s.endAll()
	s.owned.Wait()
	return source.end()
}

// grace bounds how long a call may take to report its result after its service was told to end.
const grace = 5 * time.Second

// receive handles one command or notice; the subject says which it is.
func (s *Service) receive(ctx context.Context, m Message) {
	call := first(m.Header, utp.HeaderToolCallID)
	suffix := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	switch event := strings.Contains(m.Subject, "."+utp.CategoryEvent+"."+utp.ComponentTool+"."); {
	case event && suffix == utp.SuffixCancel:
		s.cancel(call, ErrStopped)
	case event: // it is told to others
	case suffix == utp.SuffixReconcile:
		s.begin(ctx, job{call, m, s.reconcile})
	default:
		s.begin(ctx, job{call, m, s.run})
	}
}

func first(header map[string][]string, name string) string {
	if v := header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// job is work for a call because of a message, with the service's context and the call's own.
type job struct {
	call    string
	message Message
	work    func(serviceCtx, ctx context.Context, call string, m Message)
}

// maxWaiting limits the wakeups that are queued while every slot is taken.
const maxWaiting = 1024

// begin runs a job on a goroutine that Run waits for, or queues it while every slot is taken. A call that is already
// running or queued is left as it is.
func (s *Service) begin(serviceCtx context.Context, e job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, inHand := s.running[e.call]
	waits := slices.ContainsFunc(s.waiting, func(other job) bool { return other.call == e.call })
	switch {
	case inHand || waits || e.call == "":
	case len(s.running) < s.o.Parallel:
		s.launch(serviceCtx, e)
	case len(s.waiting) < maxWaiting:
		s.waiting = append(s.waiting, e)
	}
}

// endAll tells every running call that the service is ending.
func (s *Service) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.running {
		cancel(ErrEnding)
	}
}

// launch needs mu, and a free slot. The call's context is not derived from the service's, so that its cause says why it
// ended.
func (s *Service) launch(serviceCtx context.Context, e job) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(serviceCtx))
	s.running[e.call] = cancel
	s.owned.Go(func() {
		defer s.release(serviceCtx, e.call, cancel)
		e.work(serviceCtx, ctx, e.call, e.message)
	})
}

// release frees the slot for the job that has waited longest.
func (s *Service) release(serviceCtx context.Context, call string, cancel context.CancelCauseFunc) {
	cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, call)
	if len(s.waiting) == 0 || serviceCtx.Err() != nil {
		return
	}
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.launch(serviceCtx, next)
}
