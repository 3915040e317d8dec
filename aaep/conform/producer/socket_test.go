package producer_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/producer"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// overSocket serves a few events of one session over a WebSocket, with these subprotocols, and its last again as this kind of message.
func overSocket(t *testing.T, protocols []string, kind websocket.MessageType) string {
	t.Helper()
	p := newFake()
	p.append(append(p.before[:5:5], ending)...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: protocols})
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		_, raw, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		request, err := aaep.DecodeSubscriptionRequest(raw)
		if err != nil {
			return
		}
		_ = conn.Write(r.Context(), websocket.MessageText, []byte(p.accepts("sub_1", request)))
		for _, e := range p.log {
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(e))
		}
		_ = conn.Write(r.Context(), kind, []byte(p.log[len(p.log)-1])) // a repetition, which may be
		_, _, _ = conn.Read(r.Context())                               // until the subscriber leaves
	}))
	t.Cleanup(server.Close)
	return "ws" + server.URL[len("http"):]
}

// TestSocket: what only a WebSocket can break.
func TestSocket(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		protocols []string
		kind      websocket.MessageType
		rule      string // the only one that is broken; "" is none
	}{
		{"as it should be", []string{"aaep.v1"}, websocket.MessageText, ""},
		{"without the subprotocol", nil, websocket.MessageText, "TR-WS-02"},
		{"a binary message", []string{"aaep.v1"}, websocket.MessageBinary, "TR-WS-03"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := producer.Options{URL: overSocket(t, row.protocols, row.kind), Level: 1, Session: "sess_1", Fresh: true}
			report, err := producer.Judge(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range broken(report) {
				if rule != row.rule {
					t.Errorf("found %s broken, expected %q", rule, row.rule)
				}
			}
			if row.rule != "" && len(broken(report)) == 0 {
				t.Error("nothing is found")
			}
		})
	}
}

// overPipe serves a few events of one session over a Unix socket, and then a message with which it ends the subscription.
func overPipe(t *testing.T, end string) string {
	t.Helper()
	p := newFake()
	p.append(append(p.before[:5:5], ending)...)
	path := filepath.Join(t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var serves sync.WaitGroup
	serves.Go(func() {
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			serves.Go(func() {
				conn := pipe.New(stream, pipe.Options{Limit: transport.MessageLimit})
				defer conn.Drop()
				raw, err := conn.Receive()
				if err != nil {
					return
				}
				request, err := aaep.DecodeSubscriptionRequest(raw)
				if err != nil {
					return
				}
				messages := [][]byte{[]byte(p.accepts("sub_1", request))}
				for _, e := range p.log {
					messages = append(messages, []byte(e))
				}
				_ = conn.Send(append(messages, []byte(end))...)
				_, _ = conn.Receive() // until the subscriber leaves
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serves.Wait()
	})
	return "unix:" + path
}

// TestClosed: the message with which a producer ends a subscription is heard and judged as any other (HS-66).
func TestClosed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		end   string
		wrong bool
	}{
		"as it should be":          {`{"type":"subscription.close","subscription_id":"sub_1","reason_code":"producer_shutdown","reason_message":"Good night."}`, false},
		"without its subscription": {`{"type":"subscription.close","reason_code":"producer_shutdown"}`, true},
		"a reason of two words":    {`{"type":"subscription.close","subscription_id":"sub_1","reason_code":"Good night"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := producer.Judge(t.Context(), producer.Options{URL: overPipe(t, row.end), Level: 1, Session: "sess_1", Fresh: true})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if row.wrong {
				want = []string{"HS-66"}
			}
			if got := broken(r); !slices.Equal(got, want) {
				t.Errorf("found %v broken, expected %v", got, want)
			}
		})
	}
}
