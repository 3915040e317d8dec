package grpc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	library "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/serve/grpc"
	"github.com/earshot-dev/earshot/internal/testkit/aaepv1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served is a producer behind a server, which both end with the test.
func served(t *testing.T, o serve.Options) (p *serve.Producer, address string) {
	t.Helper()
	o.Producer.AgentID, o.Transports = "tidy", []serve.Transport{grpc.Transport{}}
	p, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(p)
	grpc.Configure(server.Config)
	server.Config.ErrorLog = log.New(complaints{t}, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(p.Close)
	return p, server.URL
}

// complaints fail the test: a server that has any, such as a handler that has panicked, says so in its log.
type complaints struct{ *testing.T }

func (c complaints) Write(text []byte) (int, error) {
	c.Errorf("the server says: %.300s", text)
	return len(text), nil
}

// client is a client of gRPC's own library.
func client(t *testing.T, address string) aaepv1.AaepServiceClient {
	t.Helper()
	c, err := library.NewClient("passthrough:///"+strings.TrimPrefix(address, "http://"), library.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return aaepv1.NewAaepServiceClient(c)
}

const request = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{}}`

// TestByLibrary: a client that gRPC's own tools have generated hears a producer, learns its manifest, which names gRPC, and is told when it
// closes (TR-GRPC-01 to TR-GRPC-05).
func TestByLibrary(t *testing.T) {
	t.Parallel()
	p, address := served(t, serve.Options{Allow: serve.Token("a secret")})
	c := client(t, address)
	manifest, err := c.GetManifest(t.Context(), &aaepv1.GetManifestRequest{})
	if err != nil || !bytes.Equal(manifest.GetJson(), p.Manifest()) || !bytes.Contains(manifest.GetJson(), []byte(`"transports_supported":["sse","websocket","grpc"]`)) {
		t.Fatalf("the manifest is %s, %v", manifest.GetJson(), err)
	}
	call, err := c.Subscribe(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer a secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Send(&aaepv1.AaepMessage{Json: []byte(request)}); err != nil {
		t.Fatal(err)
	}
	if m, err := call.Recv(); err != nil || m.GetMessageType() != "subscription.accepted" {
		t.Fatalf("%v, %v", m, err)
	}
	if _, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."}); err != nil {
		t.Fatal(err)
	}
	if m, err := call.Recv(); err != nil || m.GetMessageType() != "aaep:agent.session.started" {
		t.Fatalf("%v, %v", m, err)
	}
	p.Close()
	if m, err := call.Recv(); err != nil || m.GetMessageType() != "subscription.close" {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := call.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the call ends with %v", err)
	}
}

// TestRefused: who shows no token, or one that may not hear, gets no call; a page of another origin and what is not gRPC get nothing
// (TR-10, TR-GRPC-06).
func TestRefused(t *testing.T) {
	t.Parallel()
	_, address := served(t, serve.Options{Allow: serve.Token("a secret")})
	c := client(t, address)
	for shown, want := range map[string]codes.Code{"": codes.Unauthenticated, "Bearer wrong": codes.PermissionDenied} {
		ctx := t.Context()
		if shown != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", shown)
		}
		call, err := c.Subscribe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call.Recv(); status.Code(err) != want {
			t.Errorf("%q gets %v, expected %v", shown, err, want)
		}
	}
	for origin, want := range map[string]int{"": http.StatusUnsupportedMediaType, "https://evil.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/aaep.v1.AaepService/Subscribe", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/grpc")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("over HTTP/1.1 from %q it gets %s, expected %d", origin, answer.Status, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestLeavesFirst: a call that is given up before its request, at the moment when the producer would close it, is ended once.
func TestLeavesFirst(t *testing.T) {
	t.Parallel()
	_, address := served(t, serve.Options{})
	c := client(t, address)
	for range 50 {
		ctx, leave := context.WithCancel(t.Context())
		call, err := c.Subscribe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call.Header(); err != nil { // the call has begun
			t.Fatal(err)
		}
		leave()
		if _, err := call.Recv(); status.Code(err) != codes.Canceled || errors.Is(err, io.EOF) {
			t.Errorf("found %v", err)
		}
	}
}
