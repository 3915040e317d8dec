package bus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/internal/bus"
)

const further = "billing"

// two are the buses of two projects on one message server, with principals of the same names. Each kernel answers with its project.
func two(t *testing.T) map[string]*bus.Server {
	t.Helper()
	everybody := []bus.Principal{worker, words, overseer}
	first, err := bus.Start(t.Context(), bus.Options{Project: project, Principals: everybody, Listen: "127.0.0.1:0", Timeout: patience})
	must(t, err)
	t.Cleanup(first.Close)
	second, err := first.Share(t.Context(), bus.Options{Project: further, Principals: everybody, Timeout: patience})
	must(t, err)
	t.Cleanup(second.Close)
	return map[string]*bus.Server{project: first, further: second}
}

// answering opens a kernel that answers with its project.
func answering(t *testing.T, server *bus.Server, name string) *bus.Kernel {
	t.Helper()
	kernel, err := server.Kernel(t.Context())
	must(t, err)
	must(t, kernel.Serve(t.Context(), func(context.Context, bus.Principal, string, []byte) []byte { return []byte(name) }))
	return kernel
}

// TestProjectsApart: two projects on one message server have agents and services of the same names. A request reaches the kernel of its own
// project, and a command, which both services would hear, only the service of its own.
func TestProjectsApart(t *testing.T) {
	t.Parallel()
	heard := map[string]chan string{project: make(chan string, 8), further: make(chan string, 8)}
	kernels := map[string]*bus.Kernel{}
	for name, server := range two(t) {
		kernels[name] = answering(t, server, name)
		c, err := server.Credentials(worker)
		must(t, err)
		agent, err := bus.Dial(t.Context(), c, bus.DialOptions{})
		must(t, err)
		t.Cleanup(agent.Close)
		if got, err := agent.Request(t.Context(), "claim", []byte("x")); err != nil || string(got) != name {
			t.Errorf("the agent of %s was answered by %q, %v", name, got, err)
		}
		service, err := server.Connect(t.Context(), words)
		must(t, err)
		t.Cleanup(service.Close)
		_, err = service.Commands(t.Context(), func(_ context.Context, m bus.Message) { heard[name] <- m.Subject })
		must(t, err)
	}
	for name, kernel := range kernels {
		subject := "cg.v1r4." + name + ".public.cmd.tool.words.count"
		must(t, kernel.Publish(t.Context(), subject, nil, []byte("{}")))
		if got := within(t, heard[name]); got != subject {
			t.Errorf("%s heard %s", name, got)
		}
		for other, server := range kernels {
			if other == name {
				continue
			}
			if err := server.Publish(t.Context(), subject, nil, []byte("{}")); err == nil {
				t.Errorf("the kernel of %s may publish %s", other, subject)
			}
		}
	}
	for name, one := range heard {
		if len(one) > 0 {
			t.Errorf("%s heard also %s", name, <-one)
		}
	}
}

// TestProjectCredentials: with the credentials of one project a program may neither publish on the subjects of the other nor subscribe to
// them, whatever it asks for; the message server itself refuses it. They let nobody in for the other.
func TestProjectCredentials(t *testing.T) {
	t.Parallel()
	servers := two(t)
	for mine, other := range map[string]string{project: further, further: project} {
		for _, who := range []bus.Principal{worker, words, overseer} {
			c, err := servers[mine].Credentials(who)
			must(t, err)
			for _, login := range []bus.Login{c.Request, c.Subscribe} {
				denied := make(chan error, 64)
				nc, err := nats.Connect(c.URL, nats.UserInfo(login.User, login.Password), nats.CustomInboxPrefix(login.Inbox),
					nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
				must(t, err)
				t.Cleanup(nc.Close)
				for _, subject := range []string{
					"cg.v1r4." + other + ".public.cmd.tool.words.count", "cg.v1r4." + other + ".public.cmd.agent.worker.wakeup",
					"earshot.v1." + other + ".kernel.claim", "earshot.v1." + other + ".events.sess_1",
				} {
					must(t, nc.Publish(subject, nil))
					refused(t, denied, login.User+" publishes "+subject)
					_, err := nc.SubscribeSync(subject)
					must(t, err)
					refused(t, denied, login.User+" subscribes to "+subject)
				}
			}
			if err := servers[other].SetKnown([]bus.Credentials{c}); !errors.Is(err, bus.ErrInvalid) {
				t.Errorf("the credentials of %s count for %s: %v", mine, other, err)
			}
		}
	}
}

func refused(t *testing.T, denied <-chan error, what string) {
	t.Helper()
	select {
	case err := <-denied:
		if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(patience):
		t.Errorf("%s, and nobody refuses it", what)
	}
}

// TestProjectLeaves: a project that ends takes its own connections with it and nobody else's; it can be added again, and the same credentials
// count then. Two of one name cannot be.
func TestProjectLeaves(t *testing.T) {
	t.Parallel()
	servers := two(t)
	answering(t, servers[project], project)
	known := drawnFor(t, further, counter)
	must(t, servers[further].SetKnown(known))
	leaving, err := bus.Dial(t.Context(), at(servers[project], known[0]), bus.DialOptions{})
	must(t, err)
	defer leaving.Close()
	stays, err := servers[project].Connect(t.Context(), worker)
	must(t, err)
	defer stays.Close()
	if _, err := servers[project].Share(t.Context(), bus.Options{Project: further}); !errors.Is(err, bus.ErrInvalid) {
		t.Errorf("a second bus of the same project: %v", err)
	}
	servers[further].Close()
	select {
	case <-leaving.Life().Done():
	case <-time.After(patience):
		t.Fatal("a connection of the project that has ended lives on")
	}
	if _, err := stays.Request(t.Context(), "claim", []byte("x")); err != nil || stays.Life().Err() != nil {
		t.Errorf("who stays: %v", err)
	}
	again, err := servers[project].Share(t.Context(), bus.Options{Project: further, Known: known, Timeout: patience})
	must(t, err)
	defer again.Close()
	answering(t, again, further)
	back, err := bus.Dial(t.Context(), at(servers[project], known[0]), bus.DialOptions{})
	must(t, err)
	defer back.Close()
	if got, err := back.Request(t.Context(), "claim", []byte("x")); err != nil || string(got) != further {
		t.Errorf("answered by %q, %v", got, err)
	}
	servers[project].Close() // and with it the message server, before the other bus
	if _, err := servers[project].Share(t.Context(), bus.Options{Project: "late"}); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("a project of a bus that has ended: %v", err)
	}
	if err := again.SetKnown(nil); err == nil {
		t.Error("the other bus outlives the message server")
	}
}

// TestProjectsComeAtOnce: while projects are added, programs of this process connect to others. None of them is turned away.
func TestProjectsComeAtOnce(t *testing.T) {
	t.Parallel()
	first := two(t)[project]
	var coming sync.WaitGroup
	for n := range 12 {
		coming.Go(func() {
			added, err := first.Share(t.Context(), bus.Options{Project: fmt.Sprint("project", n), Principals: []bus.Principal{worker}, Timeout: patience})
			if err != nil {
				t.Errorf("project %d: %v", n, err)
				return
			}
			t.Cleanup(added.Close)
			for _, server := range []*bus.Server{added, first} {
				if c, err := server.Connect(t.Context(), worker); err != nil {
					t.Errorf("at project %d: %v", n, err)
				} else {
					t.Cleanup(c.Close)
				}
			}
		})
	}
	coming.Wait()
}
