package grpc_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	library "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/internal/testkit/aaepv1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type calling = library.BidiStreamingServer[aaepv1.AaepMessage, aaepv1.AaepMessage]

// foreign is a third-party producer: gRPC's own library, and what it has generated from aaep.proto.
type foreign struct {
	aaepv1.UnimplementedAaepServiceServer

	serve func(calling) error
}

func (f foreign) Subscribe(call calling) error { return f.serve(call) }

// serve starts a foreign producer, and returns its address.
func serve(t *testing.T, f func(calling) error) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := library.NewServer()
	aaepv1.RegisterAaepServiceServer(s, foreign{serve: f})
	var owned sync.WaitGroup
	owned.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { s.Stop(); owned.Wait() })
	return "http://" + l.Addr().String()
}

func dial(t *testing.T, address string) *grpc.Dialled {
	t.Helper()
	c, err := grpc.Dial(t.Context(), address, new(http.Transport), http.Header{"Authorization": {"Bearer secret"}}, grpc.Options{Limit: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Drop)
	return c
}

const (
	request  = `{"type":"subscription.request"}`
	accepted = `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"other"},"honored_capabilities":{}}`
)

func send(call calling, raw string) error { return call.Send(&aaepv1.AaepMessage{Json: []byte(raw)}) }

// TestDialForeign: a producer that is made with gRPC's own library is heard and answered, sees the token, and learns that the subscriber
// leaves (TR-GRPC-02, TR-GRPC-04, TR-GRPC-05, TR-GRPC-06).
func TestDialForeign(t *testing.T) {
	t.Parallel()
	big := `{"type":"x","text":"` + strings.Repeat("ä", 512<<10) + `"}`
	left := make(chan string, 1)
	c := dial(t, serve(t, func(call calling) error {
		if m, _ := metadata.FromIncomingContext(call.Context()); len(m.Get("authorization")) != 1 || m.Get("authorization")[0] != "Bearer secret" {
			return status.Error(codes.Unauthenticated, "no token")
		}
		for _, answer := range []string{accepted, big, `{"type":"third"}`} {
			if m, err := call.Recv(); err != nil || m.GetMessageType() == "" {
				return status.Error(codes.InvalidArgument, m.String())
			}
			if err := send(call, answer); err != nil {
				return err
			}
		}
		m, err := call.Recv()
		left <- string(m.GetJson())
		return err
	}))
	for _, want := range []string{accepted, big, `{"type":"third"}`} {
		if err := c.Send([]byte(request)); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Receive(); err != nil || string(got) != want {
			t.Fatalf("found %.100s, %v, expected %.100s", got, err, want)
		}
	}
	c.Close(transport.EndedBySubscriber, "enough")
	want := `{"type":"subscription.close","subscription_id":"sub_1","reason_code":"subscriber_shutdown","reason_message":"enough"}`
	if got := <-left; got != want {
		t.Errorf("the producer learns %s", got)
	}
	if err := c.Send([]byte(request)); !errors.Is(err, transport.ErrBroken) {
		t.Errorf("after the close it sends: %v", err)
	}
}

// TestDialEnds: how a producer ends the call is told by the code that is nearest, and what is not a message is refused.
func TestDialEnds(t *testing.T) {
	t.Parallel()
	ends := func(code codes.Code) func(calling) error {
		return func(calling) error { return status.Error(code, "because, 100 % sure") }
	}
	for name, row := range map[string]struct {
		serve func(calling) error
		code  transport.Code
		peer  bool
	}{
		"well":        {func(calling) error { return nil }, transport.Clean, true},
		"no token":    {ends(codes.Unauthenticated), transport.NotAuthenticated, true},
		"no right":    {ends(codes.PermissionDenied), transport.NotAllowed, true},
		"wrong":       {ends(codes.InvalidArgument), transport.ProtocolError, true},
		"unavailable": {ends(codes.Unavailable), transport.TryAgainLater, true},
		"unknown":     {ends(codes.Unknown), transport.TryAgainLater, true},
		"said so": {func(call calling) error {
			return send(call, `{"type":"subscription.close","subscription_id":"sub_1","reason_code":"going_away"}`)
		}, transport.GoingAway, true},
		"not UTF-8":    {func(call calling) error { return send(call, "\"caf\xe9\"") }, transport.NotUTF8, false},
		"larger":       {func(call calling) error { return send(call, strings.Repeat("x", 2<<20+1)) }, transport.TooBig, false},
		"much larger":  {func(call calling) error { return send(call, strings.Repeat("x", 3<<20)) }, transport.TooBig, false},
		"unknown call": {nil, transport.NotAllowed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := row.serve
			if f == nil {
				f = foreign{}.UnimplementedAaepServiceServer.Subscribe
			}
			_, err := dial(t, serve(t, f)).Receive()
			e, is := errors.AsType[*transport.Error](err)
			if !is || e.Code != row.code || e.FromPeer != row.peer {
				t.Errorf("found %v, expected the code %d", err, row.code)
			}
		})
	}
}

// TestDialElsewhere: where no producer is, or none of gRPC, the error says so, and nothing waits.
func TestDialElsewhere(t *testing.T) {
	t.Parallel()
	if _, err := grpc.Dial(t.Context(), "http://127.0.0.1:1", new(http.Transport), nil, grpc.Options{Limit: 1}); err == nil {
		t.Error("nobody is there, and it connects")
	}
	ctx, cancel := context.WithCancel(t.Context())
	silent := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	if _, err := grpc.Dial(ctx, "http://nowhere", silent, nil, grpc.Options{Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("it is given up, and says %v", err)
	}
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(web.Close)
	_, err := dial(t, web.URL).Receive()
	if e, is := errors.AsType[*transport.Error](err); !is || e.Code != transport.NotAllowed || !strings.Contains(err.Error(), "404") {
		t.Errorf("a web server gives %v", err)
	}
}

// TestDialDrop: a drop ends what waits, also a send that nobody takes.
func TestDialDrop(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, func(call calling) error { <-call.Context().Done(); return nil }))
	waits := make(chan error, 2)
	go func() { _, err := c.Receive(); waits <- err }()
	go func() {
		err := error(nil)
		for err == nil {
			err = c.Send([]byte(strings.Repeat("x", 1<<20)))
		}
		waits <- err
	}()
	began := time.Now()
	c.Drop()
	for range 2 {
		if err := <-waits; !errors.Is(err, transport.ErrBroken) {
			t.Errorf("found %v", err)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
