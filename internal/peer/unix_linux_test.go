package peer_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/earshot-dev/earshot/internal/peer"
)

// TestOnSocket: a Unix socket says whose process has connected, and another connection does not (TR-UDS-04).
func TestOnSocket(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "e") //nolint:usetesting // that of the test is too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	for network, row := range map[string]struct{ address, want string }{
		"unix": {filepath.Join(folder, "s"), strconv.Itoa(os.Geteuid())},
		"tcp":  {"127.0.0.1:0", ""},
	} {
		l, err := new(net.ListenConfig).Listen(t.Context(), network, row.address)
		if err != nil {
			t.Fatal(err)
		}
		there, err := new(net.Dialer).DialContext(t.Context(), network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		here, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got := peer.OnSocket(here); got != row.want {
			t.Errorf("%s: the account is %q, expected %q", network, got, row.want)
		}
		_, _, _ = there.Close(), here.Close(), l.Close()
	}
}
