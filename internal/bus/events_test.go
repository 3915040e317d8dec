package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/internal/bus"
)

// agentEvents are one of each kind.
var agentEvents = []string{"cg.v1r4.home.public.evt.agent.tidy.state", "cg.v1r4.home.public.str.agent.tidy.chunk"}

// TestAgentEvents (UTP, "Events of agents"): where they are published, an operator's credential hears them, and no other
// kind's does. Where they are not, they cannot leave the kernel, and nobody may listen for them.
func TestAgentEvents(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]bool{"published": true, "not published": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			watcher := bus.Principal{Kind: bus.Operator, Name: "watcher"}
			server, kernel := start(t, bus.Options{
				Events: on, Principals: []bus.Principal{worker, files, desk, foreigner, watcher}, Listen: "127.0.0.1:0",
			})
			heard := make(chan string, 8)
			if c := client(t, server, watcher); on {
				_, err := c.AgentEvents(t.Context(), func(_ context.Context, m bus.Message) { heard <- m.Subject })
				must(t, err)
			}
			for _, who := range []bus.Principal{worker, files, desk, foreigner} {
				_, err := client(t, server, who).AgentEvents(t.Context(), func(context.Context, bus.Message) {})
				wants(t, err, bus.ErrNotAllowed, false)
				deniedEvents(t, server, who)
			}
			if !on {
				deniedEvents(t, server, watcher)
			}
			for _, subject := range agentEvents {
				err := kernel.Publish(t.Context(), subject, nil, []byte(`{}`))
				if !on {
					wants(t, err, bus.ErrNotAllowed, false)
					continue
				}
				must(t, err)
				select {
				case got := <-heard:
					if got != subject {
						t.Errorf("heard %s; want %s", got, subject)
					}
				case <-time.After(patience):
					t.Fatalf("%s was not heard", subject)
				}
			}
		})
	}
}

// deniedEvents checks that the server itself refuses the subscriptions, whatever program asks for them.
func deniedEvents(t *testing.T, server *bus.Server, who bus.Principal) {
	t.Helper()
	c, err := server.Credentials(who)
	must(t, err)
	denied := make(chan error, 8)
	nc, err := nats.Connect(c.URL, nats.UserInfo(c.Subscribe.User, c.Subscribe.Password),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	must(t, err)
	defer nc.Close()
	for _, subject := range agentEvents {
		_, err := nc.SubscribeSync(subject)
		must(t, err)
		select {
		case err := <-denied:
			t.Logf("%s: %v", subject, err)
		case <-time.After(patience):
			t.Errorf("%s may subscribe to %s", who, subject)
		}
	}
}
