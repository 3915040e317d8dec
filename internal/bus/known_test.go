package bus_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
)

var (
	words   = bus.Principal{Kind: bus.Tool, Name: "words"}
	counter = bus.Principal{Kind: bus.Agent, Name: "counter"}
)

// listening is a bus with a kernel that echoes, for those who come from outside.
func listening(t *testing.T, principals ...bus.Principal) (*bus.Server, *bus.Kernel) {
	t.Helper()
	server, err := bus.Start(t.Context(), bus.Options{Project: project, Principals: principals, Listen: "127.0.0.1:0", Timeout: patience})
	must(t, err)
	t.Cleanup(server.Close)
	kernel, err := server.Kernel(t.Context())
	must(t, err)
	must(t, kernel.Serve(t.Context(), func(_ context.Context, _ bus.Principal, _ string, request []byte) []byte { return request }))
	return server, kernel
}

func at(server *bus.Server, c bus.Credentials) bus.Credentials {
	c.URL = server.URL()
	return c
}

// TestKnownAtOnce: credentials that are added count at once, and those that are taken away are
// cut off at once and let nobody in, while all others go on with the connections that they have.
func TestKnownAtOnce(t *testing.T) {
	t.Parallel()
	server, kernel := listening(t, worker, overseer)
	stays, err := server.Connect(t.Context(), worker)
	must(t, err)
	defer stays.Close()
	all := drawn(t, words, counter)
	if _, err := bus.Dial(t.Context(), at(server, all[0]), bus.DialOptions{}); !errors.Is(err, bus.ErrRefused) {
		t.Fatalf("before it is known: %v", err)
	}
	must(t, server.SetKnown(all))
	service, err := bus.Dial(t.Context(), at(server, all[0]), bus.DialOptions{})
	must(t, err)
	defer service.Close()
	heard := make(chan string, 8)
	_, err = service.Commands(t.Context(), func(_ context.Context, m bus.Message) { heard <- m.Subject })
	must(t, err)
	agent, err := bus.Dial(t.Context(), at(server, all[1]), bus.DialOptions{})
	must(t, err)
	defer agent.Close()
	for _, c := range []*bus.Client{stays, agent} {
		if _, err := c.Request(t.Context(), "claim", []byte("x")); err != nil {
			t.Errorf("%s: %v", c.Principal(), err)
		}
	}
	const subject = "cg.v1r4.home.public.cmd.tool.words.count"
	must(t, kernel.Publish(t.Context(), subject, nil, []byte("{}")))
	if got := within(t, heard); got != subject {
		t.Errorf("heard %s", got)
	}

	must(t, server.SetKnown(all[1:]))
	select {
	case <-service.Life().Done():
	case <-time.After(patience):
		t.Fatal("the revoked connection lives on")
	}
	if _, err := bus.Dial(t.Context(), at(server, all[0]), bus.DialOptions{}); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("once it is revoked: %v", err)
	}
	if _, err := server.Credentials(words); !errors.Is(err, bus.ErrNotAllowed) {
		t.Errorf("credentials of who is revoked: %v", err)
	}
	for _, c := range []*bus.Client{stays, agent} {
		if _, err := c.Request(t.Context(), "claim", []byte("x")); err != nil || c.Life().Err() != nil {
			t.Errorf("%s: %v", c.Principal(), err)
		}
	}
	again, err := bus.NewCredentials(rand.Reader, project, words)
	must(t, err)
	must(t, server.SetKnown(append(all[1:], again)))
	if _, err := bus.Dial(t.Context(), at(server, all[0]), bus.DialOptions{}); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("the revoked secrets beside new ones of that name: %v", err)
	}
	fresh, err := bus.Dial(t.Context(), at(server, again), bus.DialOptions{})
	must(t, err)
	fresh.Close()
}

func within(t *testing.T, c <-chan string) string {
	t.Helper()
	select {
	case got := <-c:
		return got
	case <-time.After(patience):
		t.Fatal("nothing came")
		return ""
	}
}

// TestKnownChangesNothingElse: an answer that is on its way when the credentials change arrives,
// and a request in that moment is answered or can be sent again.
func TestKnownChangesNothingElse(t *testing.T) {
	t.Parallel()
	server, err := bus.Start(t.Context(), bus.Options{Project: project, Principals: []bus.Principal{worker, prober}, Listen: "127.0.0.1:0", Timeout: patience})
	must(t, err)
	t.Cleanup(server.Close)
	kernel, err := server.Kernel(t.Context())
	must(t, err)
	begun, goOn := make(chan struct{}), make(chan struct{})
	must(t, kernel.Serve(t.Context(), func(_ context.Context, from bus.Principal, _ string, request []byte) []byte {
		if from == worker {
			close(begun)
			<-goOn
		}
		return request
	}))
	slow, err := server.Connect(t.Context(), worker)
	must(t, err)
	defer slow.Close()
	busy, err := server.Connect(t.Context(), prober)
	must(t, err)
	defer busy.Close()
	answered := make(chan error, 1)
	go func() { _, err := slow.Request(t.Context(), "claim", []byte("x")); answered <- err }()
	<-begun
	ctx, stop := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			var e *bus.Error
			if _, err := busy.Request(t.Context(), "claim", []byte("x")); err != nil && (!errors.As(err, &e) || !e.SafeToRetry) {
				asked <- err
				return
			}
		}
		asked <- nil
	}()
	all := drawn(t, words, counter)
	for range 50 {
		must(t, server.SetKnown(all))
		must(t, server.SetKnown(nil))
	}
	stop()
	if err := <-asked; err != nil {
		t.Errorf("a request while the credentials change: %v", err)
	}
	close(goOn)
	if err := <-answered; err != nil {
		t.Errorf("the answer from before the change: %v", err)
	}
}

// TestKnownRefused: a change that is refused changes nothing.
func TestKnownRefused(t *testing.T) {
	t.Parallel()
	server, _ := listening(t, worker)
	all := drawn(t, words)
	must(t, server.SetKnown(all))
	service, err := bus.Dial(t.Context(), at(server, all[0]), bus.DialOptions{})
	must(t, err)
	defer service.Close()
	damaged := drawn(t, counter)
	damaged[0].Request.Inbox = ">"
	for name, wrong := range map[string][]bus.Credentials{
		"damaged": damaged, "of who lives here": drawn(t, worker), "twice": append(drawn(t, words), all...),
		"third-party": drawn(t, bus.Principal{Kind: bus.External, Name: "worker"}),
	} {
		if err := server.SetKnown(wrong); !errors.Is(err, bus.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := service.Request(t.Context(), "register", []byte("x")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	server.Close()
	if err := server.SetKnown(nil); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	stored, err := bus.Start(t.Context(), bus.Options{Project: project, JetStreamDir: t.TempDir()})
	must(t, err)
	defer stored.Close()
	if err := stored.SetKnown(nil); !errors.Is(err, bus.ErrInvalid) {
		t.Errorf("with JetStream: %v", err)
	}
}
