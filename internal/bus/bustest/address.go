// Package bustest is for tests of what comes back to a bus after it has gone.
package bustest

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
)

// Ports that no usual system hands out by itself: those begin at 32768 on Linux and at
// 49152 elsewhere.
const firstPort, ports = 12_000, 20_000

const timeout = 30 * time.Second

// Address is a loopback address that a test can listen at, leave, and listen at again. The
// port of a listener at ":0" is not good for that: while nobody listens there, the system may
// hand it to any program, also to the client that tries to come back, as its own end.
func Address(t testing.TB) string {
	t.Helper()
	for range ports {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(ports))) //nolint:gosec // A port is not a secret.
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if err != nil {
			continue // somebody has it
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return address
	}
	t.Fatal("no port is free")
	return ""
}

// Start starts a bus at an address that a listener of this process has just left. A program that
// another test is starting has that listener for a moment longer: what is not handed on is closed
// only when the starter goes on already, so that no lock of this process keeps the two apart.
// Anyone who starts the bus closes it.
func Start(t testing.TB, o bus.Options) *bus.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	for {
		server, err := bus.Start(ctx, o)
		if err == nil {
			return server
		}
		if !strings.Contains(err.Error(), "address already in use") {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
}
