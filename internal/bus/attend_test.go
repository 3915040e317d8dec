package bus_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/bus/bustest"
)

// attended is a bus at an address of its own, and a client that has joined it.
func attended(t *testing.T) (*bus.Server, string, *bus.Client) {
	t.Helper()
	at := bustest.Address(t)
	server, err := bus.Start(t.Context(), bus.Options{Project: project, Principals: []bus.Principal{files}, Listen: at})
	must(t, err)
	t.Cleanup(server.Close)
	c, err := server.Credentials(files)
	must(t, err)
	client, err := bus.Dial(t.Context(), c, bus.DialOptions{})
	must(t, err)
	t.Cleanup(client.Close)
	return server, at, client
}

// TestAttend: what ends because the bus is away is begun again, what ends otherwise is over.
func TestAttend(t *testing.T) {
	t.Parallel()
	_, _, client := attended(t)
	fatal := errors.New("a registration was refused")
	for _, last := range []error{nil, fatal, bus.ErrNotAllowed} {
		ends := []error{bus.ErrDisconnected, bus.ErrTimeout, last, errors.New("begun again")}
		runs := 0
		err := client.Reconnect(t.Context(), func(context.Context) error {
			runs++
			return ends[runs-1]
		})
		if runs != 3 || !errors.Is(err, last) {
			t.Errorf("%d runs, %v; want 3, %v", runs, err, last)
		}
	}
}

// TestAttendEnds: by its context without an error, and otherwise with the reason.
func TestAttendEnds(t *testing.T) {
	t.Parallel()
	until := func(ctx context.Context) error {
		<-ctx.Done()
		return bus.ErrDisconnected
	}
	t.Run("told to end", func(t *testing.T) {
		t.Parallel()
		_, _, client := attended(t)
		ctx, end := context.WithCancel(t.Context())
		must(t, client.Reconnect(ctx, func(own context.Context) error {
			end()
			return until(own)
		}))
	})
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		_, _, client := attended(t)
		err := client.Reconnect(t.Context(), func(own context.Context) error {
			client.Close()
			return until(own)
		})
		wants(t, err, bus.ErrClosed, false)
	})
	t.Run("let in no more", func(t *testing.T) {
		t.Parallel()
		server, at, client := attended(t)
		err := client.Reconnect(t.Context(), func(own context.Context) error {
			server.Close()
			key := make([]byte, 32)
			_, err := rand.Read(key)
			must(t, err)
			other := bustest.Start(t, bus.Options{Project: project, Principals: []bus.Principal{files}, Listen: at, Key: key})
			t.Cleanup(other.Close)
			return until(own)
		})
		wants(t, err, bus.ErrRefused, false)
		if !strings.Contains(err.Error(), "earshot credential add") {
			t.Errorf("%v does not say what to do", err)
		}
	})
}
