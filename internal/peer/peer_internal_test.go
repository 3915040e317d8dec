//go:build linux

package peer

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUser: whose the other end of a connection is, over both families; once it is
// closed, and from elsewhere, nobody's.
func TestUser(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		here, there, err := connected(t, address, os.Geteuid())
		if err != nil {
			t.Logf("%s is not on this machine: %v", address, err)
			continue
		}
		if got := user(here.RemoteAddr(), here.LocalAddr()); got != strconv.Itoa(os.Geteuid()) {
			t.Errorf("%s: the user is %q, want %d", address, got, os.Geteuid())
		}
		if got := user(here.LocalAddr(), here.LocalAddr()); got != "" {
			t.Errorf("%s: of another address it is %q", address, got)
		}
		if err := there.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(here); err != nil { // it is closed here, too
			t.Fatal(err)
		}
		if got := user(here.RemoteAddr(), here.LocalAddr()); got != "" {
			t.Errorf("%s: of a program that has closed it, it is %q", address, got)
		}
	}
}

// TestPeerOfAnotherUser: only root can be another user, so the case is made there alone;
// TestUserOf has it from the table for everybody.
func TestPeerOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return
	}
	here, _, err := connected(t, "127.0.0.1:0", 12345)
	if err != nil {
		t.Fatal(err)
	}
	if got := user(here.RemoteAddr(), here.LocalAddr()); got != "12345" {
		t.Errorf("the user is %q", got)
	}
}

// connected makes a connection whose far end belongs to a user.
func connected(t *testing.T, address string, user int) (here, there net.Conn, err error) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = listener.Close() }()
	runtime.LockOSThread()
	if err := unix.Setfsuid(user); err != nil { // sockets of this thread are that user's
		t.Fatal(err)
	}
	there, err = new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err := unix.Setfsuid(os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	runtime.UnlockOSThread()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = there.Close() })
	here, err = listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	return here, there, nil
}

// TestProcess: the process at the other end is this very one; of a connection that is gone there is none.
func TestProcess(t *testing.T) {
	t.Parallel()
	here, there, err := connected(t, "127.0.0.1:0", os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	if got := process(here.RemoteAddr(), here.LocalAddr()); got != os.Getpid() {
		t.Errorf("the process is %d, want %d", got, os.Getpid())
	}
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(here); err != nil { // it is closed here, too
		t.Fatal(err)
	}
	if got := process(here.RemoteAddr(), here.LocalAddr()); got != 0 {
		t.Errorf("of a program that has closed it, it is %d", got)
	}
}

func TestUserOf(t *testing.T) {
	t.Parallel()
	at := func(port string) string { // as this machine writes 127.0.0.1
		return fmt.Sprintf("%08X:%s", binary.NativeEndian.Uint32([]byte{127, 0, 0, 1}), port)
	}
	head := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	row := func(local, remote, state, user string) string {
		return "   0: " + local + " " + remote + " " + state + " 00000000:00000000 00:00000000 00000000 " + user + "        0 20043 1 0000 20 4 30 10 -1\n"
	}
	theirs, ours := netip.MustParseAddrPort("127.0.0.1:4660"), netip.MustParseAddrPort("127.0.0.1:80") // 1234 and 50 in hexadecimal
	for name, tt := range map[string]struct{ table, want string }{
		"theirs":          {head + row(at("0050"), at("1234"), "01", "1") + row(at("1234"), at("0050"), "01", "1000"), "1000"},
		"our own end":     {head + row(at("0050"), at("1234"), "01", "1"), ""},
		"closed":          {head + row(at("1234"), at("0050"), "05", "0"), ""},
		"another port":    {head + row(at("1235"), at("0050"), "01", "1000"), ""},
		"another address": {head + row("0200007F:1234", at("0050"), "01", "1000"), ""},
		"cut off":         {head + "   0: " + at("1234") + " " + at("0050") + " 01", ""},
		"no hexadecimals": {head + row("xyz:1234", at("0050"), "01", "1000"), ""},
		"nothing":         {"", ""},
	} {
		if got := fieldOf(strings.NewReader(tt.table), theirs, ours, userField); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// BenchmarkProcess finds this process among those of the machine, which is done for each connection.
func BenchmarkProcess(b *testing.B) {
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	there, err := new(net.Dialer).DialContext(b.Context(), "tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = there.Close() }()
	for b.Loop() {
		if got := process(there.LocalAddr(), there.RemoteAddr()); got != os.Getpid() {
			b.Fatalf("process %d, want %d", got, os.Getpid())
		}
	}
}
