package bus_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/internal/bus"
)

// TestFloodOfOne: who asks for more than the kernel takes is told that it is busy; others still
// find a place.
func TestFloodOfOne(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Listen: "127.0.0.1:0", Concurrency: 1, Backlog: 8})
	began, release := make(chan struct{}, 64), make(chan struct{})
	must(t, kernel.Serve(t.Context(), func(_ context.Context, _ bus.Principal, _ string, request []byte) []byte {
		began <- struct{}{}
		<-release
		return request
	}))
	flood, others := newAsker(t, server, files, "beat"), newAsker(t, server, worker, "claim")
	flood.ask()
	<-began
	const more, places = 29, 6
	for range more {
		flood.ask()
	}
	for range 2 {
		others.ask()
	}
	flood.ask() // it comes after those of the others
	for range more - places + 1 {
		if !flood.isBusy() {
			t.Error("the one who floods is taken")
		}
	}
	close(release)
	for range 2 {
		if others.isBusy() {
			t.Error("one found no place for another's flood")
		}
	}
}

// asker asks without waiting for answers.
type asker struct {
	t           *testing.T
	nc          *nats.Conn
	inbox, subj string
	answers     chan *nats.Msg
}

func newAsker(t *testing.T, server *bus.Server, p bus.Principal, op string) *asker {
	t.Helper()
	c, err := server.Credentials(p)
	must(t, err)
	nc, err := nats.Connect(c.URL, nats.UserInfo(c.Request.User, c.Request.Password), nats.CustomInboxPrefix(c.Request.Inbox), nats.Timeout(patience))
	must(t, err)
	t.Cleanup(nc.Close)
	a := &asker{t: t, nc: nc, inbox: c.Request.Inbox + ".x", subj: opSubject(op), answers: make(chan *nats.Msg, 64)}
	_, err = nc.ChanSubscribe(a.inbox, a.answers)
	must(t, err)
	return a
}

// ask returns when the server has passed the request on.
func (a *asker) ask() {
	a.t.Helper()
	must(a.t, a.nc.PublishRequest(a.subj, a.inbox, []byte("{}")))
	must(a.t, a.nc.Flush())
}

// isBusy reports whether the next answer says so.
func (a *asker) isBusy() bool {
	return strings.Contains(string((<-a.answers).Data), "upstream_unavailable")
}
