package client_test

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
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit/scripted"
)

// recorded receives a stream to its end.
func recorded(t *testing.T, o client.RecordOptions) (ids []string, err error) {
	t.Helper()

	for m, e := range client.Record(t.Context(), o) {
		if e != nil {
			return ids, e
		}

		ids = append(ids, named(m.Raw))
	}

	return ids, nil
}

// named is what a message is called in a test: its event_id, its type, or all of it.
func named(raw []byte) string {
	document := aaep.Read(raw)
	for _, member := range []string{"event_id", "type"} {
		if name, ok := document.Text(member); ok {
			return name
		}
	}

	return string(raw)
}

func event(n int) string { return fmt.Sprintf("id: evt_%d\ndata: {\"event_id\":\"evt_%d\"}\n\n", n, n) }

// TestTapReturns: a broken stream resumes after its last event, a repeated event is yielded once, and the status 204
// ends it.
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

	ids, err := recorded(t, client.RecordOptions{URL: server.URL + "/events"})
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
		request, err := aaep.DecodeSubscriptionRequest(raw)
		if err != nil || q.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked with %s, %v, %q", raw, err, q.Header)
		}

		asked := request.Capabilities
		if observes, _ := aaep.Read(asked.Extensions[aaep.PrefixEarshot]).Flag("observe_questions"); !observes || *asked.SupportsConfirmationReply || *asked.SupportsClarificationReply {
			t.Errorf("asked with %s, expected to watch questions and not to answer them", raw)
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

	if ids, err := recorded(t, client.RecordOptions{URL: server.URL, TokenFile: file}); err != nil || !slices.Equal(ids, []string{aaep.TypeSubscriptionAccepted, "evt_1"}) {
		t.Errorf("heard %q, %v", ids, err)
	}
}

// TestTapSubscribesAgain: a subscription that its server knows no more is made again, and the stream is taken
// up behind its last event all the same.
func TestTapSubscribesAgain(t *testing.T) {
	t.Parallel()

	var made, connected atomic.Int32

	mux := http.NewServeMux()
	mux.HandleFunc("POST /aaep/v1/subscriptions", func(w http.ResponseWriter, _ *http.Request) {
		accepted, _ := aaep.SubscriptionAccepted{SubscriptionID: fmt.Sprintf("sub_%d", made.Add(1)), AAEPVersion: "1.0.0", Producer: aaep.Producer{AgentID: "a"}}.Encode()

		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(accepted)
	})
	mux.HandleFunc("GET /aaep/v1/events", func(w http.ResponseWriter, q *http.Request) {
		after := q.Header.Get("Last-Event-ID")

		switch id := q.URL.Query().Get("subscription_id"); {
		case id == "sub_1" && connected.Add(1) == 1:
			_, _ = io.WriteString(w, event(1))
		case id == "sub_1": // the server has started again
			http.Error(w, "none of yours", http.StatusNotFound)
		case after == "evt_1":
			_, _ = io.WriteString(w, event(2))
		case after == "evt_2":
			w.WriteHeader(http.StatusNoContent)
		default:
			t.Errorf("%s comes back behind %q", id, after)
		}
	})

	server := httptest.NewServer(mux)
	defer server.Close()

	ids, err := recorded(t, client.RecordOptions{URL: server.URL})
	if want := []string{aaep.TypeSubscriptionAccepted, "evt_1", aaep.TypeSubscriptionAccepted, "evt_2"}; err != nil || !slices.Equal(ids, want) {
		t.Errorf("heard %q, %v; expected %q", ids, err, want)
	}
}

// TestTapSocket: a WebSocket that breaks off is dialled again and begins again; the close
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
	if ids, err := recorded(t, client.RecordOptions{URL: address}); err != nil || !slices.Equal(ids, []string{"evt_1", "evt_2", "evt_3"}) {
		t.Errorf("heard %q, %v", ids, err)
	}
}

// TestTapLost: what may have been lost with a connection is reported in its place; a stream that restarts and repeats
// everything has lost nothing.
func TestTapLost(t *testing.T) {
	t.Parallel()

	const accepted, reply = `{"type":"subscription.accepted","subscription_id":"sub_1"}`, `{"type":"confirmation.reply"}`

	restarted := `{"event_id":"evt_9","type":"aaep:agent.state.changed","from_state":"thinking","to_state":"thinking"}`
	resync := `{"event_id":"evt_9","type":"aaep:agent.state.changed","from_state":"a","to_state":"b","extensions":{"earshot":{"resync":true}}}`
	numbered := func(n int) string { return fmt.Sprintf(`{"event_id":"evt_%d"}`, n) }
	lost := string(client.CodeLost)

	for name, c := range map[string]struct {
		first, second []string // what each connection brings
		over          string   // server-sent events with ids, or without; "" is a WebSocket
		want          []string
	}{
		"it goes on somewhere":           {first: []string{numbered(1), numbered(2)}, second: []string{numbered(4)}, want: []string{"evt_1", "evt_2", lost, "evt_4"}},
		"it begins at the beginning":     {first: []string{numbered(1), numbered(2)}, second: []string{numbered(1), numbered(2), numbered(3)}, want: []string{"evt_1", "evt_2", "evt_3"}},
		"it repeats the last":            {first: []string{numbered(1), numbered(2)}, second: []string{numbered(2), numbered(3)}, want: []string{"evt_1", "evt_2", "evt_3"}},
		"it repeats one before":          {first: []string{numbered(1), numbered(2)}, second: []string{numbered(1), numbered(3), numbered(4)}, want: []string{"evt_1", "evt_2", lost, "evt_3", "evt_4"}},
		"it has ended":                   {first: []string{numbered(1)}, want: []string{"evt_1", lost}},
		"nothing had come":               {second: []string{numbered(4)}, want: []string{"evt_4"}},
		"the terms come again":           {first: []string{accepted, numbered(1)}, second: []string{accepted, numbered(1), numbered(2)}, want: []string{aaep.TypeSubscriptionAccepted, "evt_1", aaep.TypeSubscriptionAccepted, "evt_2"}},
		"only the terms had come":        {first: []string{accepted}, second: []string{accepted, numbered(4)}, want: []string{aaep.TypeSubscriptionAccepted, aaep.TypeSubscriptionAccepted, "evt_4"}},
		"messages without an id":         {first: []string{reply, reply, numbered(1)}, second: []string{reply, reply, numbered(1), reply}, want: []string{aaep.TypeConfirmationReply, aaep.TypeConfirmationReply, "evt_1", aaep.TypeConfirmationReply}},
		"the last has no id":             {first: []string{numbered(1), reply}, second: []string{numbered(1), reply, numbered(2)}, want: []string{"evt_1", aaep.TypeConfirmationReply, "evt_2"}},
		"it is taken up":                 {first: []string{numbered(1)}, second: []string{numbered(2)}, over: "ids", want: []string{"evt_1", "evt_2"}},
		"it is taken up at a reply":      {first: []string{numbered(1), reply}, second: []string{reply, numbered(2), reply}, over: "ids", want: []string{"evt_1", aaep.TypeConfirmationReply, "evt_2", aaep.TypeConfirmationReply}},
		"it is taken up, and again":      {first: []string{numbered(1)}, second: []string{numbered(1), restarted, numbered(2)}, over: "ids", want: []string{"evt_1", lost, "evt_9", "evt_2"}},
		"it is taken up, and ours again": {first: []string{numbered(1)}, second: []string{numbered(8), resync}, over: "ids", want: []string{"evt_1", "evt_8", lost, "evt_9"}},
		"a state that stays":             {first: []string{numbered(1)}, second: []string{numbered(2), restarted}, over: "ids", want: []string{"evt_1", "evt_2", "evt_9"}},
		"bare, it goes on somewhere":     {first: []string{numbered(1), numbered(2)}, second: []string{numbered(4)}, over: "bare", want: []string{"evt_1", "evt_2", lost, "evt_4"}},
		"bare, from the beginning":       {first: []string{numbered(1), numbered(2)}, second: []string{numbered(1), numbered(2), numbered(3)}, over: "bare", want: []string{"evt_1", "evt_2", "evt_3"}},
		"anew the first time":            {first: []string{restarted}, second: []string{numbered(2)}, over: "ids", want: []string{"evt_9", "evt_2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var dialled atomic.Int32

			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				n := dialled.Add(1)
				if messages := [][]string{c.first, c.second}[min(n, 2)-1]; c.over == "" {
					closes(t, w, q, messages, n > 1)
				} else {
					breaksOff(w, messages, c.over == "ids", n)
				}
			}))
			defer server.Close()

			address := server.URL + "/events"
			if c.over == "" {
				address = "ws" + strings.TrimPrefix(address, "http")
			}

			var connected []string

			for m, err := range client.Record(t.Context(), client.RecordOptions{URL: address}) {
				if e, ok := errors.AsType[*client.Error](err); ok {
					connected = append(connected, string(e.Code))
				} else {
					connected = append(connected, named(m.Raw))
				}
			}

			if !slices.Equal(connected, c.want) {
				t.Errorf("heard %q, expected %q", connected, c.want)
			}
		})
	}
}

// breaksOff sends messages as server-sent events, and says at last that there is no more.
func breaksOff(w http.ResponseWriter, messages []string, ids bool, n int32) {
	if n > 2 {
		w.WriteHeader(http.StatusNoContent)

		return
	}

	w.Header().Set("Content-Type", "text/event-stream")

	for _, m := range messages {
		if id, ok := aaep.Read([]byte(m)).Text("event_id"); ok && ids {
			_, _ = fmt.Fprintf(w, "id: %s\n", id)
		}

		_, _ = fmt.Fprintf(w, "data: %s\n\n", m)
	}
}

// closes sends messages on a WebSocket, and ends it: for good, or not.
func closes(t *testing.T, w http.ResponseWriter, q *http.Request, messages []string, good bool) {
	t.Helper()

	socket, err := websocket.Accept(w, q, nil)
	if err != nil {
		t.Error(err)

		return
	}

	defer func() { _ = socket.CloseNow() }()

	if _, _, err := socket.Read(q.Context()); err != nil {
		t.Error(err)
	}

	for _, m := range messages {
		_ = socket.Write(q.Context(), websocket.MessageText, []byte(m))
	}

	if good {
		_ = socket.Close(4000, "")
	} else {
		_ = socket.Close(websocket.StatusGoingAway, "")
	}
}

// TestTapTooLong: a message that can never be taken in ends the stream, which would break off at it again
// and again.
func TestTapTooLong(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 17<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/ws" {
			closes(t, w, q, []string{event(1), long}, true)

			return
		}

		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, event(1)+"data: "+long+"\n\n")
	}))

	defer server.Close()

	for _, address := range []string{server.URL + "/events", "ws" + strings.TrimPrefix(server.URL, "http") + "/ws"} {
		ids, err := recorded(t, client.RecordOptions{URL: address})

		var e *client.Error
		if !errors.As(err, &e) || e.Code != client.CodeStrange || !strings.Contains(e.Message, "too long") || len(ids) != 1 {
			t.Errorf("%s: heard %d, %v", address, len(ids), err)
		}
	}
}

// TestTapRefused: what cannot become better is an error at once, of a kind that says so.
func TestTapRefused(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if code, ok := map[string]websocket.StatusCode{"/closes": 4003, "/policy": websocket.StatusPolicyViolation}[q.URL.Path]; ok {
			socket, err := websocket.Accept(w, q, nil)
			if err == nil {
				_ = socket.Close(code, "not for you")
			}

			return
		}

		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()

	for address, want := range map[string]struct {
		code client.Code
		says string
	}{
		server.URL + "/events": {client.CodeForbidden, `answers "403 Forbidden" to /events, expected a stream`},
		"ws" + strings.TrimPrefix(server.URL, "http") + "/closes": {client.CodeForbidden, "with the code 4003 not for you"},
		"ws" + strings.TrimPrefix(server.URL, "http") + "/policy": {client.CodeForbidden, "with the code 1008 not for you"},
		"ws" + strings.TrimPrefix(server.URL, "http") + "/other":  {client.CodeForbidden, "expected a stream"},
		"ftp://localhost/":       {client.CodeUsage, `begins with "ftp"`},
		"events":                 {client.CodeUsage, "not the address of a stream"},
		"http://192.0.2.1/event": {client.CodeInsecure, "unencrypted"},
	} {
		_, err := recorded(t, client.RecordOptions{URL: address, Token: "secret"})

		var e *client.Error
		if !errors.As(err, &e) || e.Code != want.code || !strings.Contains(e.Message, want.says) || e.Hint == "" {
			t.Errorf("%s: found %#v, expected %s %q", address, err, want.code, want.says)
		}
	}
}

// TestTapPatience: an unreachable producer is retried and reported until the timeout; a consumer that stops ends it at
// once.
func TestTapPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []client.Connection

		o := client.RecordOptions{
			URL: "http://localhost/events", Transport: nobody{}, ReconnectTimeout: 10 * time.Second,
			OnConnection: func(c client.Connection) { told = append(told, c) },
		}
		began := time.Now()

		_, err := recorded(t, o)
		if !errors.Is(err, client.ErrUnreachable) || len(told) != 1 || told[0].Lost == nil {
			t.Errorf("ended with %v, told %v", err, told)
		}

		if waited := time.Since(began); waited < 10*time.Second || waited > 20*time.Second {
			t.Errorf("tried for %v", waited)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		for _, err := range client.Record(ctx, o) {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

// nobody is a transport that never answers.
type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody there")
}

// TestRecordClose: the message with which a producer ends the subscription is recorded, where a transport has no close codes.
func TestRecordClose(t *testing.T) {
	t.Parallel()

	for scheme, last := range map[string][]string{"ws": nil, "grpc": {aaep.TypeSubscriptionClose}, "unix": {aaep.TypeSubscriptionClose}} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()

			p := scripted.New(t, []string{scripted.Event("session.started", "1", `"summary_normal":"Started."`)})
			got, err := recorded(t, client.RecordOptions{URL: p.Serve(scheme)})
			if want := append([]string{aaep.TypeSubscriptionAccepted, "evt_1"}, last...); err != nil || !slices.Equal(got, want) {
				t.Errorf("recorded %q, %v, expected %q", got, err, want)
			}
		})
	}
}
