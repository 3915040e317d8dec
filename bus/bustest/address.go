// Package bustest is for tests of what comes back to a bus after it has gone.
package bustest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports that no usual system hands out by itself: those begin at 32768 on Linux and at
// 49152 elsewhere.
const firstPort, ports = 12_000, 20_000

// Address is a loopback address that a test can listen at, leave, and listen at again. The
// port of a listener at ":0" is not good for that: while nobody listens there, the system may
// hand it to any program, also to the client that tries to come back, as its own end.
func Address(t testing.TB) string {
	t.Helper()
	for range ports {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(ports))) //nolint:gosec // A port is no secret.
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
