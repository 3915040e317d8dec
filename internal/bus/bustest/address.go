// Package bustest helps test clients that reconnect to a restarted bus.
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

// Ports outside the ephemeral ranges of common systems, which begin at 32768 on Linux and at 49152 elsewhere.
const firstPort, ports = 12_000, 20_000

const timeout = 30 * time.Second

// Address returns a loopback address on which a test can listen, stop, and listen again. The port of a listener at ":0"
// is not good for that. While nobody listens on it, the system may assign it to any program, even to the client that
// tries to reconnect, as its local port.
func Address(t testing.TB) string {
	t.Helper()
	for range ports {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(ports))) //nolint:gosec // A port is not a secret.
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if err != nil {
			continue // it is in use
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return address
	}
	t.Fatal("no port is free")
	return ""
}

// Start starts a bus at an address on which a listener of this process has just stopped. A child process that another
// test is just starting may still hold the inherited listener until its exec. No lock of this process can prevent that,
// so Start retries. The caller closes the bus.
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
