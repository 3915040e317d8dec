package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/earshot-dev/earshot/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// Conn is a worker's way to the kernel and to its doorbell.
type Conn interface {
	rpc.Requester

	// Doorbell calls ring whenever there may be news, until stop is called. Losing a
	// ring costs one poll.
	Doorbell(ctx context.Context, ring func()) (stop func(), err error)
}

// Options of a worker.
type Options struct {
	Conn  Conn
	Agent Agent
	// Poll is how often it looks without having been rung; default 1 s.
	Poll   time.Duration
	Logger *slog.Logger
	Rand   io.Reader
}

// Worker runs turns of one agent, one at a time.
type Worker struct {
	o    Options
	name string
	bell chan struct{} // written by the doorbell, read by Run's goroutine
}

// New checks the options and mints the worker's nonce.
func New(o Options) (*Worker, error) {
	if o.Conn == nil || o.Agent.Name == "" || o.Agent.Plan == nil {
		return nil, errors.New("worker: a Conn and an agent with a name and a plan are required")
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	var nonce [16]byte
	if _, err := io.ReadFull(o.Rand, nonce[:]); err != nil {
		return nil, fmt.Errorf("worker: randomness: %w", err)
	}
	return &Worker{o: o, name: "wrk_" + hex.EncodeToString(nonce[:]), bell: make(chan struct{}, 1)}, nil
}

// Run works until ctx ends. A turn in hand is left as the ledger has it; whoever
// claims it next goes on from there.
func (w *Worker) Run(ctx context.Context) error {
	stop, err := w.o.Conn.Doorbell(ctx, func() {
		select {
		case w.bell <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return fmt.Errorf("worker: doorbell: %w", err)
	}
	defer stop()
	for ctx.Err() == nil {
		var a utp.ClaimAnswer
		err := rpc.Ask(ctx, w.o.Conn, utp.OpClaim, utp.ClaimRequest{Agent: w.o.Agent.Name, Worker: w.name}, &a)
		if err != nil && ctx.Err() == nil {
			w.o.Logger.Warn("claim", "error", err)
		}
		if err != nil || a.Turn == "" {
			w.wait(ctx, w.o.Poll)
			continue
		}
		if err := w.work(ctx, a); err != nil && ctx.Err() == nil {
			w.o.Logger.Warn("turn left", "turn", a.Turn, "error", err)
			w.wait(ctx, w.o.Poll)
		}
	}
	return nil
}

// wait ends with the doorbell, the time, or the context.
func (w *Worker) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.bell:
	case <-timer.C:
	}
}
