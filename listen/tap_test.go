package listen_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/listen"
)

// tapped hears a stream to its end.
func tapped(t *testing.T, o listen.TapOptions) (ids []string, err error) {
	t.Helper()

	for m, e := range listen.Tap(t.Context(), o) {
		if e != nil {
			return ids, e
		}

		id, ok := aaep.Read(m.Raw).Text("event_id")
		if !ok {
			id = string(m.Raw)
		}

		ids = append(ids, id)
	}

	return ids, nil
}

func event(n int) string { return fmt.Sprintf("id: evt_%d\ndata: {\"event_id\":\"evt_%d\"}\n\n", n, n) }

// TestTapReturns: a stream that breaks off is taken up behind its last event, what comes
// twice is heard once, and the status 204 ends it.
func TestTapReturns(t *testing.T) {
	t.Parallel()

	var after []string

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		after = append(after, q.Header.Get("Last-Event-ID"))

		w.Header().Set("Content-Type", "text/event-stream")

		switch len(after) {
		case 1:
			_, _ = io.WriteString(w, event(1)+"event: other\ndata: {}\n\n"+event(2)+"id: evt_3\ndata: {\"cut off")
		case 2:
			_, _ = io.WriteString(w, event(2)+"event: aaep.event\n"+event(3)+"data: no JSON\n\n")
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer server.Close()

	ids, err := tapped(t, listen.TapOptions{URL: server.URL + "/events"})
	if want := []string{"evt_1", "evt_2", "evt_3", "no JSON"}; err != nil || !slices.Equal(ids, want) {
		t.Errorf("heard %q, %v; expected %q", ids, err, want)
	}

	if want := []string{"", "evt_2", "evt_3"}; !slices.Equal(after, want) {
		t.Errorf("came back behind %q, expected %q", after, want)
	}
}

// TestTapSubscribes: an address without a path is subscribed to first, with the token.
func TestTapSubscribes(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	mux.HandleFunc("POST /aaep/v1/subscriptions", func(w http.ResponseWriter, q *http.Request) {
		raw, _ := io.ReadAll(q.Body)
		if _, err := aaep.DecodeSubscriptionRequest(raw); err != nil || q.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked with %s, %v, %q", raw, err, q.Header)
		}

		accepted, _ := aaep.SubscriptionAccepted{SubscriptionID: "sub_1", AAEPVersion: "1.0.0", Producer: aaep.Producer{AgentID: "a"}}.Encode()

		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(accepted)
	})
	mux.HandleFunc("GET /aaep/v1/events", func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Query().Get("subscription_id") != "sub_1" {
			t.Errorf("listens at %s", q.URL)
		}

		if q.Header.Get("Last-Event-ID") != "" {
			w.WriteHeader(http.StatusNoContent)

			return
		}

		_, _ = io.WriteString(w, event(1))
	})

	server := httptest.NewServer(mux)
	defer server.Close()

	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	if ids, err := tapped(t, listen.TapOptions{URL: server.URL, TokenFile: file}); err != nil || !slices.Equal(ids, []string{"evt_1"}) {
		t.Errorf("heard %q, %v", ids, err)
	}
}

// TestTapSocket: a WebSocket that breaks off is dialled again and begins anew; the close
// code says whether there will be more.
func TestTapSocket(t *testing.T) {
	t.Parallel()

	var dialled atomic.Int32

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		socket, err := websocket.Accept(w, q, &websocket.AcceptOptions{Subprotocols: []string{"aaep.v1"}})
		if err != nil {
			t.Error(err)

			return
		}

		defer func() { _ = socket.CloseNow() }()

		_, raw, err := socket.Read(q.Context())
		if _, undecoded := aaep.DecodeSubscriptionRequest(raw); errors.Join(err, undecoded) != nil || socket.Subprotocol() != "aaep.v1" {
			t.Errorf("the first message is %q", raw)
		}

		n := dialled.Add(1)
		for i := range n + 1 {
			_ = socket.Write(q.Context(), websocket.MessageText, fmt.Appendf(nil, `{"event_id":"evt_%d"}`, i+1))
		}

		if n > 1 {
			_ = socket.Close(4000, "")
		}
	}))
	defer server.Close()

	address := "ws" + strings.TrimPrefix(server.URL, "http")
	if ids, err := tapped(t, listen.TapOptions{URL: address}); err != nil || !slices.Equal(ids, []string{"evt_1", "evt_2", "evt_3"}) {
		t.Errorf("heard %q, %v", ids, err)
	}
}

// TestTapRefused: what cannot become better is an error at once, of a kind that says so.
func TestTapRefused(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/closes" {
			socket, err := websocket.Accept(w, q, nil)
			if err == nil {
				_ = socket.Close(4003, "not for you")
			}

			return
		}

		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()

	for address, want := range map[string]struct {
		code listen.Code
		says string
	}{
		server.URL + "/events": {listen.CodeNotFound, `answers "403 Forbidden" to /events, expected a stream`},
		"ws" + strings.TrimPrefix(server.URL, "http") + "/closes": {listen.CodeForbidden, "with the code 4003 not for you"},
		"ws" + strings.TrimPrefix(server.URL, "http") + "/other":  {listen.CodeNotFound, "expected a stream"},
		"ftp://localhost/":       {listen.CodeUsage, `begins with "ftp"`},
		"events":                 {listen.CodeUsage, "no address of a stream"},
		"http://192.0.2.1/event": {listen.CodeInsecure, "unencrypted"},
	} {
		_, err := tapped(t, listen.TapOptions{URL: address, Token: "secret"})

		var e *listen.Error
		if !errors.As(err, &e) || e.Code != want.code || !strings.Contains(e.Message, want.says) || e.Hint == "" {
			t.Errorf("%s: found %#v, expected %s %q", address, err, want.code, want.says)
		}
	}
}

// TestTapPatience: a producer that is away is tried for again, aloud, until the patience
// is over; whoever stops listening is gone at once.
func TestTapPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []listen.Connection

		o := listen.TapOptions{
			URL: "http://localhost/events", Transport: nobody{}, Patience: 10 * time.Second,
			Told: func(c listen.Connection) { told = append(told, c) },
		}
		began := time.Now()

		_, err := tapped(t, o)
		if !errors.Is(err, listen.ErrUnreachable) || len(told) != 1 || told[0].Lost == nil {
			t.Errorf("ended with %v, told %v", err, told)
		}

		if waited := time.Since(began); waited < 10*time.Second || waited > 20*time.Second {
			t.Errorf("tried for %v", waited)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		for _, err := range listen.Tap(ctx, o) {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

// nobody answers.
type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody there")
}
