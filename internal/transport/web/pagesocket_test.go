package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

const cookieOfAda = "Cookie: earshot_page=cookie-of-ada"

// TestPageSocketHandshake: the page's own script gets its stream on a WebSocket, and no page of elsewhere does, though a browser would send
// the cookie along; a browser that says nothing of where it is from gets none either.
func TestPageSocketHandshake(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	l.login("ada")
	const own = "Origin: " + pageURL
	for name, row := range map[string]struct {
		path, host string
		headers    []string
		status     int
	}{
		"the page":                      {"/page/socket?from=0", pageHost, []string{cookieOfAda, own}, 101},
		"another port":                  {"/page/socket", pageHost, []string{cookieOfAda, "Origin: http://127.0.0.1:1"}, 403},
		"another site":                  {"/page/socket", pageHost, []string{cookieOfAda, "Origin: https://evil.example"}, 403},
		"nowhere":                       {"/page/socket", pageHost, []string{cookieOfAda, "Origin: null"}, 403},
		"a browser of elsewhere":        {"/page/socket", pageHost, []string{cookieOfAda, "Sec-Fetch-Site: cross-site"}, 403},
		"nobody":                        {"/page/socket", pageHost, []string{own}, 401},
		"a cookie under another name":   {"/page/socket", l.host, []string{cookieOfAda}, 421},
		"a number that is not a number": {"/page/socket?from=x", pageHost, []string{cookieOfAda, own}, 400},
	} {
		answer, s := l.upgradeTo(t, row.path, row.host, row.headers...) //nolint:bodyclose // the connection is the test's
		if answer.StatusCode != row.status {
			t.Errorf("%s: %s, expected %d", name, answer.Status, row.status)
		}
		s.Cut()
	}
	if w := l.do("GET", "/page/socket", "@ada", ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "WebSocket handshake") {
		t.Errorf("no handshake: %d %s", w.Code, w.Body)
	}
	l.room.await(t, "the end of what was subscribed to", func() bool {
		for _, sub := range l.room.subs {
			if !sub.closed {
				return false
			}
		}
		return l.room.streaming == 0
	})
}

// page opens a page's stream.
func (l *loopback) page(t *testing.T, query string) *bySocket {
	t.Helper()
	l.login("ada")
	answer, s := l.upgradeTo(t, "/page/socket?"+query, pageHost, cookieOfAda, "Origin: "+pageURL) //nolint:bodyclose // the connection is the test's
	if answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(answer.Status)
	}
	l.room.await(t, "the stream", func() bool { return l.room.streaming == 1 })
	return s
}

// until reads a page's messages until one is of an event, and returns their events and that one.
func (s *bySocket) until(event string) (events []string, last aaep.Document) {
	s.Helper()
	for {
		last = aaep.Read(s.message())
		name, _ := last.Text("event")
		events = append(events, strings.TrimPrefix(name, "earshot."))
		if name == event {
			return events, last
		}
	}
}

// TestPageSocket: the messages are those of the server-sent events, in their order, and the id comes last, from which the page goes on.
func TestPageSocket(t *testing.T) {
	t.Parallel()
	l := serveLoopback(t)
	s := l.page(t, "session=sess_1&from=1&after=evt_11")
	if first, _ := s.until("earshot.open"); strings.Join(first, " ") != "questions sessions open" {
		t.Errorf("at first it sends %q", first)
	}
	id := l.room.ask("sess_1", 2, tokenA)
	events, at := s.until("earshot.at")
	if got, _ := at.Text("id"); got != id {
		t.Errorf("the id is %q, expected %q", got, id)
	}
	if strings.Join(events, " ") != "questions sessions steps announce at" {
		t.Errorf("a question sends %q", events)
	}
	s.Cut()
	l.room.await(t, "the end", func() bool { return l.room.streaming == 0 })
	s = l.page(t, "session=sess_1&from=2&after="+id)
	next := l.room.tell("sess_1", aaep.StateChanged{FromState: "thinking", ToState: "idle"})
	_, at = s.until("earshot.at")
	if got, _ := at.Text("id"); got != next {
		t.Errorf("it goes on with %q, expected %q", got, next)
	}
}

// TestPageSocketEnds: it ends with the login and with the server, and for a page that sends something: an answer is a form of the page.
func TestPageSocketEnds(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		code int
		end  func(l *loopback, s *bySocket)
	}{
		"the person is gone": {4002, func(l *loopback, _ *bySocket) {
			l.doors.mu.Lock()
			delete(l.doors.who, "ada")
			l.doors.mu.Unlock()
			l.doors.ring()
		}},
		"an answer":  {4004, func(_ *loopback, s *bySocket) { s.Write(s.Frame(s.Reply(""))) }},
		"the server": {1001, func(l *loopback, _ *bySocket) { go l.server.Close() }},
	} {
		l := serveLoopback(t)
		s := l.page(t, "")
		row.end(l, s)
		if code, _ := s.closed(); code != row.code {
			t.Errorf("%s: closed with %d, expected %d", name, code, row.code)
		}
		l.room.await(t, "the end", func() bool { return l.room.streaming == 0 })
		if len(l.room.replies) > 0 {
			t.Errorf("%s: a reply was taken", name)
		}
	}
}

// TestPageSocketsAreCounted: those of one person are as few as the streams that they may have.
func TestPageSocketsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(o *web.Options) { o.Streams = 1 })
		s.login("ada")
		r := s.stream("/page/events", "@ada")
		defer r.close()
		w := s.do("GET", "/page/socket", "@ada", "", "Connection", "Upgrade", "Upgrade", "websocket", "Origin", pageURL)
		if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), string(api.KindBusy)) {
			t.Errorf("a second: %d %s", w.Code, w.Body)
		}
	})
}
