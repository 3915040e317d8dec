package bus_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/internal/bus"
)

// TestListens: the kernel's end knows whether a command would be heard: by a service of ours or of another
// make, from this process or from another. A connection that hears no commands does not count, nor one
// that hears another's; one that has gone does not any more.
func TestListens(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Principals: []bus.Principal{worker, files, desk, foreigner}, Listen: "127.0.0.1:0"})
	listens := func(subject string, want bool) {
		t.Helper()
		for got := !want; got != want; { // the server learns of an end by itself
			var known bool
			if got, known = kernel.Listens(subject); !known {
				t.Fatal("it is not known")
			}
			select {
			case <-time.After(time.Millisecond):
			case <-t.Context().Done():
				t.Fatalf("%s: %v", subject, got)
			}
		}
	}
	hear := func(context.Context, bus.Message) {}
	listens(filesCommand, false)
	c := client(t, server, files)
	listens(filesCommand, false)
	sub, err := c.Commands(t.Context(), hear)
	must(t, err)
	listens(filesCommand, true)
	listens(peerCommand, false)
	credentials, err := server.Credentials(foreigner)
	must(t, err)
	outside, err := bus.Dial(t.Context(), credentials, bus.DialOptions{})
	must(t, err)
	_, err = outside.SubscribeWakeups(t.Context(), hear)
	must(t, err)
	listens(peerCommand, false)
	_, err = outside.Commands(t.Context(), hear)
	must(t, err)
	listens(peerCommand, true)
	sub.Close()
	listens(filesCommand, false)
	outside.Close()
	listens(peerCommand, false)
}

// TestListensStream: a stream that keeps the commands counts: anyone who pulls from it gets them later.
func TestListensStream(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{JetStreamDir: t.TempDir()})
	if got, known := kernel.Listens(filesCommand); got || !known {
		t.Errorf("without a stream: %v, known %v", got, known)
	}
	login := server.StreamsLogin()
	nc, err := nats.Connect("", nats.UserInfo(login.User, login.Password), nats.CustomInboxPrefix(login.Inbox), nats.InProcessServer(pipe{server}))
	must(t, err)
	t.Cleanup(nc.Close)
	answer, err := nc.Request("$JS.API.STREAM.CREATE.commands", []byte(`{"name":"commands","subjects":["cg.v1r4.*.*.cmd.*.*.>"],"storage":"file"}`), patience)
	must(t, err)
	if bytes.Contains(answer.Data, []byte(`"error"`)) {
		t.Fatalf("%s", answer.Data)
	}
	if got, known := kernel.Listens(filesCommand); !got || !known {
		t.Errorf("with a stream: %v, known %v", got, known)
	}
}

// TestListensFromOutside: a kernel in another process cannot see who is there, and does not say.
func TestListensFromOutside(t *testing.T) {
	t.Parallel()
	server, _ := start(t, bus.Options{Listen: "127.0.0.1:0", Kernels: true})
	credentials, err := server.KernelCredentials()
	must(t, err)
	kernel, err := bus.DialKernel(t.Context(), credentials, bus.Options{Project: project})
	must(t, err)
	t.Cleanup(kernel.Close)
	if got, known := kernel.Listens(filesCommand); got || known {
		t.Errorf("%v, known %v", got, known)
	}
}
