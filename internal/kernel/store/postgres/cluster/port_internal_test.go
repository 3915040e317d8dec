package cluster

import "testing"

// TestPortIsNobodys: the port to which a crashed server comes back is not one that the system hands
// out by itself, to anyone who listens or connects meanwhile.
func TestPortIsNobodys(t *testing.T) {
	t.Parallel()
	const handedOut = 32768 // from there on, on Linux
	for range 20 {
		port, err := freePort(t.Context())
		if err != nil || port < 1024 || port >= handedOut {
			t.Fatalf("port %d, %v", port, err)
		}
	}
}
