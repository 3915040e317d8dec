package tool

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// Options of a service.
type Options struct {
	Conn Conn
	// Tools of the service; their definitions name its target.
	Tools []Tool
	// Parallel calls at most; default 4. Further ones wait to be rung again.
	Parallel int
	Logger   *slog.Logger
	Now      func() time.Time
	Rand     io.Reader
}

// Service runs the tools of one target.
type Service struct {
	o     Options
	tools map[string]Tool
	owner string

	mu      sync.Mutex
	running map[string]context.CancelFunc // by call; touched under mu only
	slots   chan struct{}
	owned   sync.WaitGroup
}

// New checks the options and mints the owner's nonce.
func New(o Options) (*Service, error) {
	if o.Conn == nil || len(o.Tools) == 0 {
		return nil, errors.New("tool: a service needs a Conn and at least one tool")
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	var nonce [16]byte
	if _, err := io.ReadFull(o.Rand, nonce[:]); err != nil {
		return nil, fmt.Errorf("tool: randomness: %w", err)
	}
	s := &Service{
		o: o, tools: map[string]Tool{}, owner: "own_" + hex.EncodeToString(nonce[:]),
		running: map[string]context.CancelFunc{}, slots: make(chan struct{}, o.Parallel),
	}
	for _, t := range o.Tools {
		if t.Run == nil {
			return nil, fmt.Errorf("tool: %s has no Run", t.Definition.Tool)
		}
		s.tools[t.Definition.Tool] = t
	}
	return s, nil
}

// Run registers the tools and serves until ctx ends. Then it takes no new call, tells
// the running ones to end, and returns once each has finished at the kernel or given
// up: their last words use a context of their own, bounded by grace.
func (s *Service) Run(ctx context.Context) error {
	for _, t := range s.o.Tools {
		if err := rpc.AskUntil(ctx, s.o.Conn, utp.OpRegister, utp.RegisterRequest{Definition: t.Definition}, nil); err != nil {
			return fmt.Errorf("tool: registering %s: %w", t.Definition.Tool, err)
		}
	}
	stop, err := s.o.Conn.Commands(ctx, s.hear)
	if err != nil {
		return fmt.Errorf("tool: listening for commands: %w", err)
	}
	<-ctx.Done()
	stop()
	s.owned.Wait()
	return nil
}

// grace bounds the last words of a call after its service was told to end.
const grace = 5 * time.Second

// hear takes one command: the suffix of its subject says what it is.
func (s *Service) hear(ctx context.Context, m Message) {
	call := first(m.Header, utp.HeaderToolCallID)
	switch suffix := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]; suffix {
	case utp.SuffixCancel:
		s.mu.Lock()
		if cancel := s.running[call]; cancel != nil {
			cancel()
		}
		s.mu.Unlock()
	case utp.SuffixReconcile:
		s.begin(ctx, call, m, s.reconcile)
	default:
		s.begin(ctx, call, m, s.run)
	}
}

func first(header map[string][]string, name string) string {
	if v := header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// begin runs work for a call on a goroutine that Run waits for, unless the call is in
// hand already or all slots are taken.
func (s *Service) begin(alive context.Context, call string, m Message, work func(alive, ctx context.Context, call string, m Message)) {
	ctx, cancel := context.WithCancel(alive)
	if !s.take(call, cancel) {
		cancel()
		return
	}
	s.owned.Go(func() {
		defer s.release(call, cancel)
		work(alive, ctx, call, m)
	})
}

func (s *Service) take(call string, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, inHand := s.running[call]; inHand || call == "" {
		return false
	}
	select {
	case s.slots <- struct{}{}:
		s.running[call] = cancel
		return true
	default:
		return false
	}
}

func (s *Service) release(call string, cancel context.CancelFunc) {
	cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, call)
	<-s.slots
}
