package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/client"
)

// socketProducer is a server that serves WebSockets one after the other.
type socketProducer struct {
	t        *testing.T
	sockets  [][]string // what each connection gets before it breaks
	requests []string   // the capability earshot of each request
}

func (p *socketProducer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer t" {
		p.t.Errorf("%s came without the token", r.URL)
	}
	if r.URL.Path == "/api/v1/me" {
		_, _ = w.Write([]byte(me))
		return
	}
	c, err := socket.Accept(w, r, socket.Options{Limit: 1 << 16})
	if err != nil || r.URL.Path != "/aaep/v1/ws" || c.Subprotocol() != socket.Subprotocol {
		p.t.Errorf("%s: %v", r.URL, err)
		return
	}
	defer c.Drop()
	raw, err := c.Receive()
	if err != nil {
		p.t.Error(err)
		return
	}
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		p.t.Error(err)
	}
	p.requests = append(p.requests, string(request.Capabilities.Extensions[aaep.PrefixEarshot]))
	_ = c.Send([]byte(`{"type":"subscription.accepted","aaep_version":"1.0.0","subscription_id":"sub_1","honored_capabilities":{},"producer":{"agent_id":"x"}}`))
	for _, message := range p.sockets[len(p.requests)-1] {
		if code, is := strings.CutPrefix(message, "close "); is {
			c.Close(map[string]transport.Code{"4002": transport.NotAuthenticated, "4003": transport.NotAllowed}[code], "as said")
			return
		}
		_ = c.Send([]byte(message))
	}
}

// TestSocketResumes: after a break the client sends a fresh request, which names the last point, and hears no event twice (TR-WS-01,
// TR-WS-02, TR-WS-04, TR-WS-06).
func TestSocketResumes(t *testing.T) {
	t.Parallel()
	start := eventText("session.started", "1", `"summary_normal":"Started."`)
	state := eventText("state.changed", "2", `"from_state":"idle","to_state":"thinking"`)
	end := eventText("session.completed", "3", `"summary_normal":"Done.","duration_ms":1`)
	point := func(id string) string { return `{"type":"` + transport.TypeResumePoint + `","event_id":"` + id + `"}` }
	p := &socketProducer{t: t, sockets: [][]string{{start, point("evt_1"), state}, {state, point("evt_2"), end}}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	c, err := client.Dial(t.Context(), client.Options{URL: "ws" + strings.TrimPrefix(s.URL, "http"), Token: "t", Session: "sess_1"})
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	for e, err := range c.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, e.ID)
	}
	if want := []string{"evt_1", "evt_2", "evt_3"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
	if len(p.requests) != 2 || !strings.Contains(p.requests[0], `"resume":{}`) || !strings.Contains(p.requests[1], `"resume":{"after":"evt_1"}`) {
		t.Errorf("asked with %q", p.requests)
	}
}

// TestSocketEnds: a close code that another attempt would get again ends the events (TR-WS-07).
func TestSocketEnds(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]client.Code{"close 4002": client.CodeUnauthenticated, "close 4003": client.CodeForbidden} {
		s := httptest.NewServer(&socketProducer{t: t, sockets: [][]string{{message}}})
		t.Cleanup(s.Close)
		c, err := client.Dial(t.Context(), client.Options{URL: "ws" + strings.TrimPrefix(s.URL, "http"), Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range c.Events(t.Context()) {
			if e, is := errors.AsType[*client.Error](err); !is || e.Code != want || !strings.Contains(e.Message, "as said") {
				t.Errorf("%s: %v", message, err)
			}
		}
	}
}
