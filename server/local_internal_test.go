package server

import (
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

// fullListener accepts nobody so many times, and is closed then.
type fullListener struct {
	net.Listener

	times int
}

func (l *fullListener) Accept() (net.Conn, error) {
	if l.times == 0 {
		return nil, net.ErrClosed
	}
	l.times--
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

// TestUnixSocketWhenFull: where too many files are open, the socket waits and tries again, more and more slowly, and says so
// once; the server goes on.
func TestUnixSocketWhenFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said []string
		s := &Server{notice: func(text string) { said = append(said, text) }}
		began := time.Now()
		s.acceptLocal(&fullListener{times: 10}, access.Principal{})
		if took := time.Since(began); took != 3275*time.Millisecond { // 5 ms, doubled up to a second
			t.Errorf("it has tried for %s", took)
		}
		if len(said) != 1 {
			t.Errorf("it said %q", said)
		}
	})
}
