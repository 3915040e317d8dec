package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestSocketHandshake: nobody gets a WebSocket who would get no stream, and no page of elsewhere does (TR-WS-01, TR-WS-02, C-83, C-84).
func TestSocketHandshake(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	l.login("ada")
	const cookie, token = "Cookie: earshot_page=cookie-of-ada", "Authorization: Bearer secret-ada"
	for name, row := range map[string]struct {
		headers []string
		status  int
	}{
		"a token":                            {[]string{token, "Sec-WebSocket-Protocol: aaep.v1"}, 101},
		"a token, and another protocol too":  {[]string{token, "Sec-WebSocket-Protocol: chat, AAEP.v1"}, 101},
		"no protocol":                        {[]string{token}, 101},
		"another protocol only":              {[]string{token, "Sec-WebSocket-Protocol: chat"}, 400},
		"nobody":                             {nil, 401},
		"a wrong token":                      {[]string{"Authorization: Bearer secret-nobody"}, 401},
		"an agent":                           {[]string{"Authorization: Bearer secret-bot"}, 403},
		"a cookie under another name":        {[]string{cookie}, 401},
		"a token, from its own address":      {[]string{token, "Origin: http://" + l.host}, 101},
		"a token, from another port":         {[]string{token, "Origin: http://127.0.0.1:1"}, 403},
		"a token, from another scheme":       {[]string{token, "Origin: https://" + l.host}, 403},
		"a token, from another site":         {[]string{token, "Origin: https://evil.example"}, 403},
		"a token, from nowhere":              {[]string{token, "Origin: null"}, 403},
		"a token, by a browser of elsewhere": {[]string{token, "Sec-Fetch-Site: cross-site"}, 403},
	} {
		answer, s := l.upgrade(t, row.headers...) //nolint:bodyclose // the connection is the test's
		if answer.StatusCode != row.status {
			t.Errorf("%s: %s, expected %d", name, answer.Status, row.status)
		}
		s.Cut()
	}
	for name, headers := range map[string][]string{
		"the page's own script": {"Origin", pageURL}, "another site": {"Origin", "https://evil.example"}, "no origin": nil,
	} { // under the page's own name, where the cookie counts elsewhere
		upgrade := append([]string{"Connection", "Upgrade", "Upgrade", "websocket"}, headers...)
		if w := l.do("GET", "/aaep/v1/ws", "@ada", "", upgrade...); w.Code != http.StatusForbidden {
			t.Errorf("a cookie, %s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := l.do("GET", "/aaep/v1/ws", "ada", ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "WebSocket handshake") {
		t.Errorf("no handshake: %d %s", w.Code, w.Body)
	}
	if len(l.room.subs) != 0 {
		t.Errorf("%d subscriptions were made", len(l.room.subs))
	}
}

// TestSocketFirst: the first message is a request, and the first frame its answer; another message, and a request that is not granted,
// get the rejection and its code (TR-WS-04, TR-WS-07, HS-07).
func TestSocketFirst(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	for name, row := range map[string]struct {
		first  string
		reject *aaep.SubscriptionRejected
		reason aaep.ReasonCode
	}{
		"no JSON":         {"{", nil, aaep.ReasonUnknown},
		"another message": {string(replyOf("sub_1", "")), nil, aaep.ReasonUnknown},
		"a capability":    {strings.Replace(wish, `{"supports_confirmation_reply":true}`, `{"max_events_per_second":"fast"}`, 1), nil, aaep.ReasonCapabilitiesIncompatible},
		"too many":        {wish, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonRateLimit, ReasonMessage: "No.", RetryAfterSeconds: 60}, aaep.ReasonRateLimit},
	} {
		l.room.change(func() { l.room.reject = row.reject })
		s := l.open(t, "ada")
		s.Write(s.Frame([]byte(row.first)))
		rejected, err := aaep.DecodeSubscriptionRejected(s.message())
		if code, _ := s.closed(); err != nil || rejected.ReasonCode != row.reason || code != 4001 {
			t.Errorf("%s: %+v, %v, closed with %d", name, rejected, err, code)
		}
	}
}

// TestSocketMessages: each message of a subscriber has the effect that it has as a request, or the close code for what it is
// (TR-WS-05, TR-WS-07).
func TestSocketMessages(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		as      string
		message func(s *bySocket) []byte
		fail    error
		code    int
		reaches bool
	}{
		"a close": {as: "ada", message: func(s *bySocket) []byte {
			return fmt.Appendf(nil, `{"type":"subscription.close","subscription_id":%q}`, s.id)
		}, code: 4005},
		"no message":          {as: "ada", message: func(*bySocket) []byte { return []byte(`{"type":"confirmation.reply"}`) }, code: 4004},
		"no JSON":             {as: "ada", message: func(*bySocket) []byte { return []byte(`[`) }, code: 4004},
		"a second request":    {as: "ada", message: func(*bySocket) []byte { return []byte(wish) }, code: 4004},
		"a listener's answer": {as: "lis", message: func(s *bySocket) []byte { return s.Reply("") }, code: 4003},
		"not recorded": {
			as: "ada", message: func(s *bySocket) []byte { return s.Reply("") }, code: 1013, reaches: true,
			fail: &web.Refusal{Kind: api.KindUnavailable, Message: "no answer came in time"},
		},
	} {
		l := serveLoopback(t)
		s := l.subscribed(t, row.as, `{}`)
		l.room.change(func() { l.room.fail = row.fail })
		s.Write(s.Frame(row.message(s)))
		if code, reason := s.closed(); code != row.code || reason == "" {
			t.Errorf("%s: closed with %d %q, expected %d", name, code, reason, row.code)
		}
		l.room.await(t, "the end", func() bool { return l.room.streaming == 0 && l.room.subs[s.id].closed })
		if got := len(l.room.replies) > 0; got != row.reaches {
			t.Errorf("%s: it reached the hub: %v", name, got)
		}
	}
}

// TestSocketBinary: a binary frame is not a message (TR-WS-03).
func TestSocketBinary(t *testing.T) {
	t.Parallel()
	s := serveLoopback(t).subscribed(t, "ada", `{}`)
	s.Write(frameOf(opBinary, true, []byte(`{}`)))
	if code, _ := s.closed(); code != 1003 {
		t.Errorf("closed with %d", code)
	}
}

// TestSocketGoesOn: what a sender can act on, and what changes terms, is answered on the same connection, which goes on
// (HS-61, C-82).
func TestSocketGoesOn(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	s := l.subscribed(t, "ada", `{}`)
	l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
	l.room.change(func() {
		l.room.fail = &web.Refusal{Kind: api.KindConflict, Code: "arguments_not_seen", Message: "The arguments were not read."}
	})
	s.Write(s.Frame(s.Reply("")))
	if got := string(s.message()); got != `{"type":"earshot:reply.refused","reply_token":"`+tokenA+`","error":{"code":"arguments_not_seen","message":"The arguments were not read.","safe_to_retry":false}}` {
		t.Errorf("the reply is answered with %s", got)
	}
	l.room.change(func() { l.room.fail = nil })
	s.Write(s.Frame(fmt.Appendf(nil, `{"type":"subscription.renegotiate","subscription_id":%q,"capabilities":{"max_events_per_second":7}}`, s.id)))
	if a, err := aaep.DecodeSubscriptionAccepted(s.message()); err != nil || a.HonoredCapabilities.MaxEventsPerSecond != 7 {
		t.Errorf("the terms are %+v, %v", a, err)
	}
	id := l.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
	if got, _ := aaep.Read(s.message()).Text("event_id"); got != id { // and no point after it, for nobody has asked
		t.Errorf("after that came %s, expected %s", got, id)
	}
	next := l.room.tell("sess_1", aaep.StateChanged{FromState: "thinking", ToState: "deciding"})
	if got, _ := aaep.Read(s.message()).Text("event_id"); got != next {
		t.Errorf("after that came %s, expected %s", got, next)
	}
}

// TestSocketUndecided: a decision that AAEP does not know counts for nothing, and the connection goes on as after any reply
// (C-25, C-57).
func TestSocketUndecided(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	s := l.subscribed(t, "ada", `{}`)
	l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
	s.Write(s.Frame([]byte(confirmation(tokenA, "maybe", s.id))))
	s.Write(s.Frame(s.Reply("")))
	l.room.await(t, "the reply after it", func() bool { return len(l.room.replies) > 0 })
	id := l.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
	if got, _ := aaep.Read(s.message()).Text("event_id"); got != id {
		t.Errorf("after that came %s, expected %s", got, id)
	}
	l.room.change(func() {
		if len(l.room.replies) != 1 || strings.Contains(l.room.replies[0], "maybe") {
			t.Errorf("the hub got %v", l.room.replies)
		}
	})
}

// TestSocketRevoked: who loses the right to hear loses the connection, and learns why. What they send before the server has heard of the
// change is not taken.
func TestSocketRevoked(t *testing.T) {
	t.Parallel()
	for code, change := range map[int]func(d *doors){
		4002: func(d *doors) { delete(d.who, "ada") },
		4003: func(d *doors) { p := d.who["ada"]; p.Roles = p.Roles[:1]; d.who["ada"] = p },
	} {
		for name, notice := range map[string]func(l *loopback, s *bySocket){
			"told":    func(l *loopback, _ *bySocket) { l.doors.ring() },
			"replies": func(_ *loopback, s *bySocket) { s.Write(s.Frame(s.Reply(""))) },
		} {
			l := serveLoopback(t)
			s := l.subscribed(t, "ada", `{}`)
			l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
			l.doors.mu.Lock()
			change(l.doors)
			l.doors.mu.Unlock()
			notice(l, s)
			if got, _ := s.closed(); got != code {
				t.Errorf("%s: closed with %d, expected %d", name, got, code)
			}
			l.room.await(t, "the end", func() bool { return l.room.streaming == 0 })
			if got := len(l.room.replies); got > 0 {
				t.Errorf("%s: %d replies were taken", name, got)
			}
		}
	}
}

// TestSocketShutdown: a server that closes says so to all, also to those that have not subscribed, and waits for them.
func TestSocketShutdown(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	streamed, silent := l.subscribed(t, "ada", `{}`), l.open(t, "lis")
	l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.server.Close()
	}()
	for _, s := range []*bySocket{streamed, silent} {
		if code, _ := s.closed(); code != 1001 {
			t.Errorf("closed with %d", code)
		}
	}
	<-done
	if l.room.streaming != 0 || !l.room.subs[streamed.id].closed {
		t.Error("a subscription is left")
	}
	if answer, _ := l.upgrade(t, "Authorization: Bearer secret-ada"); answer.StatusCode != http.StatusServiceUnavailable { //nolint:bodyclose // the connection is the test's
		t.Errorf("then it answers %s", answer.Status)
	}
}

// TestSocketHalfFrame: a subscriber that falls silent within a frame does not hold up the server's end.
func TestSocketHalfFrame(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		wires := &wires{ends: make(chan net.Conn), gone: make(chan struct{})}
		server := &http.Server{Handler: s.server, ReadHeaderTimeout: time.Second}
		served := make(chan error, 1)
		go func() { served <- server.Serve(wires) }()
		silent := wires.open(t)
		go func() { _, _ = io.Copy(io.Discard, silent.from) }()
		silent.Write(headOf(0x80|opBinary, 2))
		synctest.Wait()
		began := time.Now()
		s.server.Close()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
		_, _ = silent.conn.Close(), server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// TestSocketCrowd: connections count as streams do.
func TestSocketCrowd(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	for range 32 {
		l.open(t, "ada")
	}
	if answer, _ := l.upgrade(t, "Authorization: Bearer secret-ada"); answer.StatusCode != http.StatusTooManyRequests { //nolint:bodyclose // the connection is the test's
		t.Errorf("one too many gets %s", answer.Status)
	}
	l.subscribed(t, "lis", `{}`)
}

// TestSocketSilent: who does not subscribe, answers no ping or takes nothing holds a connection only for its time (TR-SSE-13 has the
// same for streams).
func TestSocketSilent(t *testing.T) {
	for name, row := range map[string]struct {
		subscribes, reads bool
		within            time.Duration
		code              int
	}{
		"no request":           {reads: true, within: 10 * time.Second, code: 1008},
		"no answer to a ping":  {subscribes: true, reads: true, within: 45 * time.Second},
		"nothing that is read": {subscribes: true, within: 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScene(t)
				s.room.begin("sess_1", "")
				wires := &wires{ends: make(chan net.Conn), gone: make(chan struct{})}
				server := &http.Server{Handler: s.server, ReadHeaderTimeout: time.Second}
				served := make(chan error, 1)
				go func() { served <- server.Serve(wires) }()
				reader := wires.open(t)
				if row.subscribes {
					reader.Write(reader.Frame([]byte(socketRequest(`{}`))))
					reader.message()
					s.room.await(t, "the stream", func() bool { return s.room.streaming == 1 })
					s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
				}
				began := time.Now()
				for row.reads && row.code == 0 {
					if _, err := reader.from.ReadByte(); err != nil {
						break
					}
				}
				if row.code > 0 {
					if code, _ := reader.closed(); code != row.code {
						t.Errorf("closed with %d", code)
					}
				}
				s.room.await(t, "the end", func() bool { return s.room.streaming == 0 })
				if took := time.Since(began); took > row.within || took < row.within/2 {
					t.Errorf("it took %s", took)
				}
				_ = reader.conn.Close()
				_ = server.Close()
				s.server.Close()
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
			})
		})
	}
}

// open upgrades as ada.
func (w *wires) open(t *testing.T) *bySocket {
	t.Helper()
	mine, its := net.Pipe()
	w.ends <- its
	s := &bySocket{T: t, conn: mine, from: bufio.NewReaderSize(mine, 16)}
	write(t, mine, []byte("GET /aaep/v1/ws HTTP/1.1\r\nHost: 127.0.0.1:7411\r\nAuthorization: Bearer secret-ada\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "+handshakeKey+"\r\n\r\n"))
	answer, err := http.ReadResponse(s.from, nil) //nolint:bodyclose // the connection is the test's
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%+v, %v", answer, err)
	}
	return s
}
