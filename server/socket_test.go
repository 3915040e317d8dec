package server_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
)

// listener is a person's program on a WebSocket.
type listener struct {
	*testing.T
	*socket.Conn

	accepted aaep.SubscriptionAccepted
}

// listen connects, and goes on after an event if one is named.
func listen(ctx context.Context, t *testing.T, s *server.Server, after string) *listener {
	t.Helper()
	address := "ws" + strings.TrimPrefix(s.URL(), "http") + "/aaep/v1/ws"
	header := http.Header{"Authorization": {"Bearer " + s.PersonToken()}}
	conn, _, err := socket.Dial(ctx, address, http.DefaultClient, header, socket.Options{Limit: 1 << 20}) //nolint:bodyclose // it is the connection
	must(t, err)
	t.Cleanup(conn.Drop)
	context.AfterFunc(ctx, conn.Drop)
	ours := `{"resume":{}}`
	if after != "" {
		ours = `{"resume":{"after":"` + after + `"}}`
	}
	request, err := aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "reader-1", Capabilities: aaep.Capabilities{
		SupportsConfirmationReply: new(true), AcceptSignedManifestsOnly: new(true), SupportedConformanceLevels: []int{1, 2, 3},
		Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(ours)},
	}}.Encode()
	must(t, err)
	must(t, conn.Send(request))
	l := &listener{T: t, Conn: conn}
	l.accepted, err = aaep.DecodeSubscriptionAccepted(l.next())
	must(t, err)
	return l
}

func (l *listener) next() []byte {
	l.Helper()
	raw, err := l.Receive()
	must(l.T, err)
	return raw
}

// accept answers a question on the connection that it came by.
func (l *listener) accept(question aaep.Event) {
	l.Helper()
	asked, is := question.Payload.(aaep.AwaitingConfirmation)
	if !is {
		l.Fatalf("found %T", question.Payload)
	}
	reply, err := aaep.ConfirmationReply{
		ReplyToken: asked.ReplyToken, Decision: aaep.DecisionAccept, SubscriptionID: l.accepted.SubscriptionID, Timestamp: time.Now(),
	}.Encode()
	must(l.T, err)
	must(l.T, l.Send(reply))
}

// TestSocket: a session, its question and the answer on a WebSocket that breaks right after the answer; the next one goes on without a
// gap, and so does what the client of Go hears. The signed manifest holds against what is offered on it
// (TR-WS-01, TR-WS-04, TR-WS-05, TR-WS-06, JWS-07).
func TestSocket(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var (
		mu   sync.Mutex
		sent []string
	)
	key := filepath.Join(t.TempDir(), "manifest.pem")
	public, err := manifestkey.Make(key, manifest.ES256)
	must(t, err)
	s, err := server.New(ctx, server.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", Agents: []server.Agent{{Agent: clerk()}}, Services: []server.Service{send(&sent, &mu)}, ManifestKey: key,
	})
	must(t, err)
	defer s.Close()
	l := listen(ctx, t, s, "")
	_, err = manifest.Expected{
		Keys: manifest.Keys{public}, Now: time.Now(), AgentID: l.accepted.Producer.AgentID, Offer: manifest.OfferOf(l.accepted, aaep.TransportWebSocket),
	}.Verify(l.accepted.SignedManifest)
	if levels := l.accepted.HonoredCapabilities.SupportedConformanceLevels; err != nil || !slices.Equal(levels, []int{1, 2, 3}) {
		t.Errorf("the levels %v are offered: %v", levels, err)
	}
	person, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: s.PersonToken()})
	must(t, err)
	turn, err := person.Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada"}`), Request: "Write to Ada."})
	must(t, err)

	var heard []string
	for point, ended := "", false; !ended; {
		raw := l.next()
		if kind, _ := aaep.Read(raw).Text("type"); kind == transport.TypeResumePoint {
			point, _ = aaep.Read(raw).Text("event_id")
			continue
		}
		event, err := aaep.DecodeEvent(raw)
		must(t, err)
		if event.SessionID != turn.Session || slices.Contains(heard, event.ID) {
			continue
		}
		heard = append(heard, event.ID)
		switch event.Payload.(type) {
		case aaep.AwaitingConfirmation:
			l.accept(event)
			l.Drop()
			l = listen(ctx, t, s, point)
		case aaep.SessionCompleted:
			ended = true
		}
	}
	for _, scheme := range []string{"http", "ws"} {
		if all := eventsOf(ctx, t, s, scheme, turn.Session); !slices.Equal(heard, all) {
			t.Errorf("by %s: heard %v\nof %v", scheme, heard, all)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(sent, " ") != "Ada" {
		t.Errorf("sent to %q", sent)
	}
}

// eventsOf is what a client hears of a session, from its beginning.
func eventsOf(ctx context.Context, t *testing.T, s *server.Server, scheme, session string) []string {
	t.Helper()
	c, err := client.Dial(ctx, client.Options{URL: scheme + strings.TrimPrefix(s.URL(), "http"), Token: s.PersonToken(), Session: session})
	must(t, err)
	var ids []string
	for event, err := range c.Events(ctx) {
		must(t, err)
		ids = append(ids, event.ID)
	}
	return ids
}
