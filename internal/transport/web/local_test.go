package web_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/testkit/framing"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// form is how messages are told apart on a stream of bytes, as a third-party subscriber writes and reads them.
type form struct {
	serve  func(net.Conn) transport.Conn
	frame  func(message []byte) []byte
	claim  func(size int) []byte
	read   func(from *bufio.Reader) ([]byte, error)
	unwrap func(raw []byte) []byte
}

func sized(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

func line(message []byte) []byte { return append(bytes.Clone(message), '\n') }

func readLine(from *bufio.Reader) ([]byte, error) {
	raw, err := from.ReadBytes('\n')
	return bytes.TrimSuffix(raw, []byte("\n")), err
}

func detected(c net.Conn) transport.Conn {
	return pipe.New(c, pipe.Options{Limit: transport.MessageLimit})
}

func same(raw []byte) []byte { return raw }

// forms are the framings of the local transports.
var forms = map[string]form{
	"Unix socket, sizes": {
		serve: detected, frame: sized, unwrap: same,
		claim: func(size int) []byte {
			return append([]byte{0x7f, 0xff, 0xff, 0xff}, bytes.Repeat([]byte("x"), size)...)
		},
		read: func(from *bufio.Reader) ([]byte, error) {
			var head [4]byte
			if _, err := io.ReadFull(from, head[:]); err != nil {
				return nil, err
			}
			raw := make([]byte, binary.BigEndian.Uint32(head[:]))
			_, err := io.ReadFull(from, raw)
			return raw, err
		},
	},
	"Unix socket, lines": {
		serve: detected, frame: line, unwrap: same, read: readLine,
		claim: func(size int) []byte { return []byte("{" + strings.Repeat("x", size)) },
	},
	"JSON-RPC": {
		serve: func(c net.Conn) transport.Conn { return pipe.NewRPC(c, transport.MessageLimit) },
		frame: func(message []byte) []byte { return line(enveloped(message)) },
		claim: func(size int) []byte { return []byte("{" + strings.Repeat("x", size+1024)) },
		read:  readLine,
		unwrap: func(raw []byte) []byte {
			for _, member := range []string{`"params":`, `"result":`} {
				if _, rest, is := bytes.Cut(raw, []byte(member)); is {
					return bytes.TrimSuffix(rest, []byte("}"))
				}
			}
			return raw
		},
	},
}

// enveloped puts a message into the envelope that a subscriber sends it in.
func enveloped(message []byte) []byte {
	kind, _ := aaep.Read(message).Text("type")
	method := map[string]string{
		"subscription.request": "aaep.subscribe", "subscription.renegotiate": "aaep.renegotiate", "subscription.close": "aaep.close", "earshot:authenticate": "earshot.authenticate",
	}[kind]
	if method == "" {
		method = "aaep.reply"
	}
	if method == "aaep.subscribe" || method == "aaep.renegotiate" {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, message)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, method, message)
}

// local is a scene behind a Unix socket.
type local struct {
	*loopback

	form form
	path string
}

// serveLocal serves a scene on a Unix socket; who is what the system says of each peer.
func serveLocal(t *testing.T, f form, who web.Principal) *local {
	t.Helper()
	l := &local{loopback: serveLoopback(t), form: f, path: filepath.Join(shortFolder(t), "s")}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", l.path)
	if err != nil {
		t.Fatal(err)
	}
	var owned sync.WaitGroup
	owned.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			owned.Go(func() { l.server.ServeConn(t.Context(), f.serve(c), who) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		l.server.Close()
		owned.Wait()
	})
	return l
}

// sameUser is what the system says of a peer of the same account.
var sameUser = web.Principal{Name: "ada", Roles: []access.Role{access.Listener}, Credential: "unix-socket"}

// byPipe is a subscriber on a Unix socket.
type byPipe struct {
	bySocket

	form form
}

func (l *local) dial(t *testing.T) *byPipe {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "unix", l.path)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { _ = c.Close() })
	return &byPipe{bySocket: bySocket{T: t, conn: c, from: bufio.NewReader(c)}, form: l.form}
}

// authenticate shows a token.
func (s *byPipe) authenticate(as string) {
	s.Helper()
	s.send(fmt.Sprintf(`{"type":"earshot:authenticate","token":"secret-%s"}`, as))
}

func (s *byPipe) send(message string) { s.Helper(); s.Write(s.Frame([]byte(message))) }

// subscribe subscribes, with members of the capability earshot.
func (s *byPipe) subscribe(ours string) {
	s.Helper()
	s.send(socketRequest(ours))
	accepted, err := aaep.DecodeSubscriptionAccepted(s.message())
	if err != nil {
		s.Fatal(err)
	}
	s.id = accepted.SubscriptionID
}

func (s *byPipe) message() []byte {
	s.Helper()
	raw, err := s.form.read(s.from)
	if err != nil {
		s.Fatal(err)
	}
	return s.form.unwrap(raw)
}

func (s *byPipe) Frame(message []byte) []byte { return s.form.frame(message) }

// Fragments are none: a stream of bytes has no frames.
func (s *byPipe) Fragments(message []byte) []byte { return s.form.frame(message) }

func (s *byPipe) Claim(size int) []byte { return s.form.claim(size) }

func (s *byPipe) Next() []byte {
	s.Helper()
	for {
		raw := s.message()
		if id, is := aaep.Read(raw).Text("event_id"); is && pointOf(raw) == "" {
			s.last = id
			return raw
		}
	}
}

func (s *byPipe) Point() string {
	s.Helper()
	for {
		if id := pointOf(s.message()); id == s.last {
			return id
		}
	}
}

// Refused returns the code of the subscription.close that comes next, behind which the connection ends.
func (s *byPipe) Refused() int {
	s.Helper()
	for {
		end, is := transport.Closed(s.message())
		if !is {
			continue
		}
		if raw, err := s.form.read(s.from); err == nil {
			s.Errorf("behind the close came %q", raw)
		}
		return int(end.Code)
	}
}

func (s *byPipe) Cut() { _ = s.conn.Close() }

// TestLocalFraming: the table of every transport, over the local ones (TR-UDS-03, TR-STDIO-01, TR-01, TR-02, TR-08, TR-12).
func TestLocalFraming(t *testing.T) {
	t.Parallel()
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			framing.Run(t, func() framing.Transport {
				l := new(local)
				return framing.Transport{
					New: func(t *testing.T) framing.Producer {
						*l = *serveLocal(t, f, web.Principal{Name: "somebody"})
						return l.producer(t)
					},
					Dial: func(t *testing.T, after string) framing.Subscriber {
						s := l.dial(t)
						s.authenticate("ada")
						s.subscribe(`{"resume":{"after":"` + after + `"}}`)
						return s
					},
					Limit: transport.MessageLimit, TooBig: 1009, NotUTF8: 1007,
				}
			})
		})
	}
}

// TestLocalNoToken: who shows no token, a wrong one or one that may not hear is rejected, unless the system says that it is the same
// account (TR-10, SEC-01, HS-48).
func TestLocalNoToken(t *testing.T) {
	t.Parallel()
	stranger := web.Principal{Name: "user 12345", Credential: "unix-socket"}
	for form, f := range forms {
		for name, row := range map[string]struct {
			who    web.Principal
			as     string
			reason aaep.ReasonCode
		}{
			"nobody":              {who: stranger, reason: aaep.ReasonAuthenticationRequired},
			"a wrong token":       {who: stranger, as: "nobody", reason: aaep.ReasonAuthenticationRequired},
			"a wrong token, same": {who: sameUser, as: "nobody", reason: aaep.ReasonAuthenticationRequired},
			"an agent":            {who: stranger, as: "bot", reason: aaep.ReasonAuthorizationDenied},
			"an agent, same":      {who: sameUser, as: "bot", reason: aaep.ReasonAuthorizationDenied},
		} {
			l := serveLocal(t, f, row.who)
			s := l.dial(t)
			if row.as != "" {
				s.authenticate(row.as)
			} else {
				s.send(socketRequest(`{}`))
			}
			rejected, err := aaep.DecodeSubscriptionRejected(s.message())
			if err != nil || rejected.ReasonCode != row.reason {
				t.Errorf("%s, %s: %+v, %v", form, name, rejected, err)
			}
			if raw, err := s.form.read(s.from); err == nil {
				t.Errorf("%s, %s: then came %q", form, name, raw)
			}
			if len(l.room.subs) != 0 {
				t.Errorf("%s, %s: %d subscriptions were made", form, name, len(l.room.subs))
			}
		}
	}
}

// TestLocalListens: an account hears without a token, and answers with none: only a token that may does (call protocol, "Who may
// answer").
func TestLocalListens(t *testing.T) {
	t.Parallel()
	for form, f := range forms {
		for name, row := range map[string]struct {
			as   string
			code int // 0 is that the reply is taken
		}{
			"no token":           {"", 4003},
			"a listener's token": {"lis", 4003},
			"an approver's":      {"anna", 0},
		} {
			l := serveLocal(t, f, sameUser)
			s := l.dial(t)
			if row.as != "" {
				s.authenticate(row.as)
			}
			s.subscribe(`{}`)
			l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
			id := l.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
			if got, _ := aaep.Read(s.Next()).Text("event_id"); got != id {
				t.Errorf("%s, %s: heard %s", form, name, got)
			}
			s.Write(s.Frame(s.Reply("")))
			if row.code == 0 {
				l.room.await(t, "a reply", func() bool { return len(l.room.replies) == 1 })
				continue
			}
			if got := s.Refused(); got != row.code {
				t.Errorf("%s, %s: refused with %d", form, name, got)
			}
			l.room.change(func() {
				if len(l.room.replies) > 0 {
					t.Errorf("%s, %s: the hub got %q", form, name, l.room.replies)
				}
			})
		}
	}
}

// TestLocalCrowd: connections count as streams do, for each principal.
func TestLocalCrowd(t *testing.T) {
	t.Parallel()
	for form, f := range forms {
		l := serveLocal(t, f, sameUser)
		for range 32 {
			l.dial(t).subscribe(`{}`)
		}
		s := l.dial(t)
		s.send(socketRequest(`{}`))
		rejected, err := aaep.DecodeSubscriptionRejected(s.message())
		if err != nil || rejected.ReasonCode != aaep.ReasonRateLimit || rejected.RetryAfterSeconds == 0 {
			t.Errorf("%s: one too many gets %+v, %v", form, rejected, err)
		}
	}
}

// TestLocalRevoked: who loses the right to hear loses the connection, and learns why.
func TestLocalRevoked(t *testing.T) {
	t.Parallel()
	for form, f := range forms {
		l := serveLocal(t, f, sameUser)
		s := l.dial(t)
		s.authenticate("lis")
		s.subscribe(`{}`)
		l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
		l.doors.mu.Lock()
		delete(l.doors.who, "lis")
		l.doors.mu.Unlock()
		l.doors.ring()
		if got := s.Refused(); got != 4002 {
			t.Errorf("%s: closed with %d", form, got)
		}
	}
}

// TestLocalSilent: who does not subscribe, or takes nothing, holds a connection only for its time.
func TestLocalSilent(t *testing.T) {
	for form, f := range forms {
		for name, row := range map[string]struct {
			subscribes bool
			within     time.Duration
		}{"no request": {false, 10 * time.Second}, "nothing that is read": {true, 31 * time.Second}} {
			t.Run(form+", "+name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s := newScene(t)
					s.room.begin("sess_1", "")
					mine, its := net.Pipe()
					done := make(chan struct{})
					go func() { defer close(done); s.server.ServeConn(t.Context(), f.serve(its), sameUser) }()
					began := time.Now()
					if row.subscribes {
						write(t, mine, f.frame([]byte(socketRequest(`{}`))))
						if _, err := f.read(bufio.NewReaderSize(mine, 16)); err != nil {
							t.Fatal(err)
						}
						s.room.await(t, "the stream", func() bool { return s.room.streaming == 1 })
						s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
					}
					<-done
					if took := time.Since(began); took > row.within || took < row.within/2 {
						t.Errorf("it took %s", took)
					}
					_ = mine.Close()
					synctest.Wait()
				})
			})
		}
	}
}

// TestLocalShutdown: a server that closes says so, and waits for the connection.
func TestLocalShutdown(t *testing.T) {
	t.Parallel()
	for form, f := range forms {
		l := serveLocal(t, f, sameUser)
		s := l.dial(t)
		s.subscribe(`{}`)
		l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
		done := make(chan struct{})
		go func() { defer close(done); l.server.Close() }()
		if got := s.Refused(); got != 1001 {
			t.Errorf("%s: closed with %d", form, got)
		}
		<-done
	}
}

// shortFolder is a folder whose path leaves room for a socket's name, of which systems take about 100 bytes.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "e") //nolint:usetesting // that of the test is too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}
