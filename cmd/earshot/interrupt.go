package main

import (
	"context"
	"os"
	"os/signal"
)

// unlessInterrupted runs do, which writes a file, with a context that a signal ends: then what is
// half written is taken away, where the signal itself would leave it. The exit code is the
// signal's.
func (m *Main) unlessInterrupted(ctx context.Context, do func(context.Context) error) error {
	signals := make(chan os.Signal, 1)
	heed(signals)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var came os.Signal
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case came = <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := do(ctx)
	cancel()
	<-watched
	if err == nil || came == nil {
		return err
	}
	m.tellf("Broken off; nothing is kept of it.")
	return &exitError{code: signalCode(came)}
}
