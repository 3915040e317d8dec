package server

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/peer"
)

const (
	// NoSocket is the value of Options.Socket for none.
	NoSocket = "none"
	// longestSocket is the room that systems have for the path of a socket: 108 bytes on Linux, 104 on macOS, with a zero behind it.
	longestSocket = 103
	// firstPause and longestPause are how long the server waits before it accepts again, after it could not.
	firstPause, longestPause = 5 * time.Millisecond, time.Second
)

// socketPath returns where the Unix socket is; "" if there is none.
func (o Options) socketPath() (string, error) {
	switch o.Socket {
	case NoSocket:
		return "", nil
	case "":
		path := filepath.Join(o.Data, datadir.SocketFile)
		if len(path) > longestSocket {
			o.Notice("There is no Unix socket: " + path + " is longer than " + strconv.Itoa(longestSocket) + " bytes. --socket names another path.")
			return "", nil
		}
		return path, nil
	}
	path, err := filepath.Abs(o.Socket)
	if err != nil || len(path) > longestSocket {
		return "", cause.Misuse("--socket is "+cause.OneLine(o.Socket)+", whose path is longer than "+strconv.Itoa(longestSocket)+" bytes", "choose a shorter one")
	}
	return path, nil
}

// listenLocal listens at the Unix socket (TR-UDS-02). A socket that an ended process has left is removed first.
func (s *Server) listenLocal(ctx context.Context) error {
	if s.socket == "" {
		return nil
	}
	if err := removeSocket(ctx, s.socket); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", s.socket)
	if err == nil {
		if err = os.Chmod(s.socket, 0o600); err != nil {
			_ = l.Close()
		}
	}
	if err != nil {
		return cause.Fail(err, "the Unix socket "+cause.OneLine(s.socket)+" cannot be made", "choose another with --socket PATH, or none with --socket none")
	}
	s.local = l
	known, err := s.sameAccount()
	if err != nil {
		return err
	}
	s.serving.Go(func() { s.acceptLocal(l, known) })
	return nil
}

// removeSocket removes a socket at which nobody listens.
func removeSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // there is none, or Listen says why not
	}
	if info.Mode()&os.ModeSocket == 0 {
		return cause.Misuse("--socket: "+cause.OneLine(path)+" is there and is not a socket", "choose another path")
	}
	if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
		_ = c.Close()
		return cause.Fail(nil, "another program listens at "+cause.OneLine(path), "choose another path with --socket PATH")
	}
	if err := os.Remove(path); err != nil {
		return cause.Fail(err, "the Unix socket "+cause.OneLine(path)+" of an ended program cannot be removed", "remove it")
	}
	return nil
}

// acceptLocal serves connections until the listener is closed. known is a peer of the same account. Where none can be
// accepted, because too many files are open, it tries again: that must not end the server for everybody.
func (s *Server) acceptLocal(l net.Listener, known access.Principal) {
	for pause := firstPause; ; {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			if pause == firstPause {
				s.notice("The Unix socket takes no connections at the moment: " + cause.Of(err) + ".")
			}
			<-time.After(pause)
			pause = min(2*pause, longestPause)
			continue
		}
		pause = firstPause
		s.serving.Go(func() {
			s.web.ServeConn(context.Background(), pipe.New(conn, pipe.Options{Limit: transport.MessageLimit}), onSocket(conn, known))
		})
	}
}

// sameAccount is a peer without a token whose account is that of the server: it hears as the person who runs it, and answers nothing (call
// protocol, "Who may answer").
func (s *Server) sameAccount() (access.Principal, error) {
	secret, err := s.instance.Access.Grant(access.Principal{Name: instance.LocalUser(), Roles: []access.Role{access.Listener}, Surface: "socket"})
	if err != nil {
		return access.Principal{}, instance.AccessFailure(err)
	}
	who, err := s.instance.Access.Authenticate(secret)
	return who, instance.AccessFailure(err)
}

// onSocket is what the system says of a peer. Whoever is not of the same account has to show a token.
func onSocket(conn net.Conn, known access.Principal) access.Principal {
	user := peer.OnSocket(conn)
	if user != "" && user == strconv.Itoa(os.Geteuid()) {
		return known
	}
	return access.Principal{Name: strings.TrimSpace("user " + user), Credential: "unix-socket"}
}

// Socket is the path of the Unix socket for programs of this machine; "" if there is none.
func (s *Server) Socket() string { return s.socket }
