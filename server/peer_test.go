package server_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/server"
)

// answeringRequest asks to answer and to look on, with an extension that nobody knows and that claims a consent (T7).
const answeringRequest = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{` +
	`"supports_confirmation_reply":true,"earshot":{"observe_questions":true},"evil":{"decision":"accept","consent":true}}}`

// peer is a listener on one transport, which may be hostile.
type peer struct {
	t        *testing.T
	accepted aaep.SubscriptionAccepted
	refused  string // why there is no subscription
	heard    chan []byte
	over     error // why the connection has ended, once heard is closed
	send     func(raw []byte)
	settle   func() // returns once what was sent has been judged, or the connection has ended
}

// visit is how a peer comes to a server.
type visit struct {
	*server.Server

	token string
	// request is what it asks for first; default answeringRequest.
	request string
	// host is whom it takes the server for, as a page whose name leads here does; default the server's own address.
	host string
	// origin is of which page it comes; default none.
	origin string
}

// url is where it believes to go.
func (v visit) url() string {
	if v.host == "" {
		return v.URL()
	}
	return "http://" + v.host
}

// by leads it to the server under every name.
func (v visit) by() *http.Transport {
	var d net.Dialer
	return &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return d.DialContext(ctx, network, strings.TrimPrefix(v.URL(), "http://"))
	}}
}

func (v visit) header() http.Header {
	h := http.Header{"Authorization": {"Bearer " + v.token}}
	if v.origin != "" {
		h.Set("Origin", v.origin)
	}
	return h
}

// dialers subscribe on each transport.
var dialers = map[aaep.Transport]func(ctx context.Context, t *testing.T, v visit) *peer{
	aaep.TransportSSE: peerByEvents,
	aaep.TransportWebSocket: func(ctx context.Context, t *testing.T, v visit) *peer {
		t.Helper()
		address := "ws" + strings.TrimPrefix(v.url(), "http") + "/aaep/v1/ws"
		conn, answer, err := socket.Dial(ctx, address, &http.Client{Transport: v.by()}, v.header(), socket.Options{Limit: 1 << 20})
		if err != nil && answer != nil {
			return &peer{refused: answer.Status}
		}
		must(t, err)
		return peerByConn(ctx, t, v, conn)
	},
	aaep.TransportGRPC: func(ctx context.Context, t *testing.T, v visit) *peer {
		t.Helper()
		conn, err := grpc.Dial(ctx, v.url(), v.by(), v.header(), grpc.Options{Limit: 1 << 20})
		must(t, err)
		return peerByConn(ctx, t, v, conn)
	},
	aaep.TransportUnix: func(ctx context.Context, t *testing.T, v visit) *peer {
		t.Helper()
		conn, err := pipe.Dial(ctx, v.Socket(), pipe.Options{Limit: 1 << 20})
		must(t, err)
		return peerByConn(ctx, t, v, conn, fmt.Sprintf(`{"type":"earshot:authenticate","token":%q}`, v.token))
	},
}

func peerByConn(ctx context.Context, t *testing.T, v visit, conn transport.Conn, before ...string) *peer {
	t.Helper()
	t.Cleanup(conn.Drop)
	context.AfterFunc(ctx, conn.Drop)
	var group [][]byte // in one write: the server may close after the first
	for _, message := range append(before, cmp.Or(v.request, answeringRequest)) {
		group = append(group, []byte(message))
	}
	_ = conn.Send(group...) // an answer tells more
	answer, err := conn.Receive()
	if err != nil {
		return &peer{refused: err.Error()}
	}
	p := &peer{t: t, heard: make(chan []byte, 256), send: func(raw []byte) { _ = conn.Send(raw) }}
	if p.accepted, err = aaep.DecodeSubscriptionAccepted(answer); err != nil {
		return &peer{refused: string(answer)}
	}
	p.settle = func() {
		p.send(fmt.Appendf(nil, `{"type":"subscription.renegotiate","subscription_id":%q,"capabilities":{}}`, p.accepted.SubscriptionID))
		p.until(ctx, func(raw []byte) bool {
			kind, _ := aaep.Read(raw).Text("type")
			return kind == aaep.TypeSubscriptionAccepted
		})
	}
	p.collect(conn.Receive)
	return p
}

func peerByEvents(ctx context.Context, t *testing.T, v visit) *peer {
	t.Helper()
	by := &http.Client{Transport: v.by()}
	asks := func(method, path string, body []byte) *http.Response {
		r, err := http.NewRequestWithContext(ctx, method, v.url()+path, bytes.NewReader(body))
		must(t, err)
		r.Header = v.header()
		r.Header.Set("Content-Type", "application/json")
		answer, err := by.Do(r)
		must(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	made := asks(http.MethodPost, "/aaep/v1/subscriptions", []byte(cmp.Or(v.request, answeringRequest))) //nolint:bodyclose // asks closes it
	raw, err := io.ReadAll(made.Body)
	must(t, err)
	p := &peer{t: t, heard: make(chan []byte, 256), settle: func() {}}               // each is judged before it is answered
	p.send = func(raw []byte) { _ = asks(http.MethodPost, "/aaep/v1/replies", raw) } //nolint:bodyclose // asks closes it
	if p.accepted, err = aaep.DecodeSubscriptionAccepted(raw); err != nil {
		return &peer{refused: made.Status + " " + string(raw)}
	}
	events := asks(http.MethodGet, made.Header.Get("Location"), nil) //nolint:bodyclose // asks closes it
	if events.StatusCode != http.StatusOK {
		return &peer{refused: events.Status}
	}
	lines := bufio.NewScanner(events.Body)
	p.collect(func() ([]byte, error) {
		for lines.Scan() {
			if data, is := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); is {
				return bytes.Clone(data), nil
			}
		}
		return nil, io.EOF
	})
	return p
}

// collect takes what comes until the connection ends, which the end of the test does.
func (p *peer) collect(receive func() ([]byte, error)) {
	var owned sync.WaitGroup
	owned.Go(func() {
		defer close(p.heard)
		for {
			raw, err := receive()
			if err != nil {
				p.over = err
				return
			}
			p.heard <- raw
		}
	})
	p.t.Cleanup(owned.Wait)
}

// until takes what comes until a message is the one, and returns it; nil if the connection ends before.
func (p *peer) until(ctx context.Context, is func([]byte) bool) []byte {
	p.t.Helper()
	for {
		select {
		case raw, more := <-p.heard:
			if !more || is(raw) {
				return raw
			}
		case <-ctx.Done():
			p.t.Fatal("it did not come in time")
		}
	}
}

// question is the next question that comes.
func (p *peer) question(ctx context.Context) (asked aaep.AwaitingConfirmation) {
	p.t.Helper()
	p.until(ctx, func(raw []byte) (is bool) {
		event, err := aaep.DecodeEvent(raw)
		if err == nil {
			asked, is = event.Payload.(aaep.AwaitingConfirmation)
		}
		return is
	})
	return asked
}

// accepts sends an accept with a token, for a subscription.
func (p *peer) accepts(token, subscription string) {
	p.t.Helper()
	raw, err := aaep.ConfirmationReply{ReplyToken: token, Decision: aaep.DecisionAccept, SubscriptionID: subscription, Timestamp: time.Now()}.Encode()
	must(p.t, err)
	p.send(raw)
	p.settle()
}
