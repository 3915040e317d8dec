package subscribe_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
)

// listener serves each connection in its turn, then closes it in order, and returns its address.
func listener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// TestUnreachable: where the certificate or the kind of the address is the reason, the error says so, and what to do.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	quiet := func(s *httptest.Server) *httptest.Server {
		s.Config.ErrorLog = nil
		t.Cleanup(s.Close)
		return s
	}
	secure, plain := quiet(httptest.NewTLSServer(http.NotFoundHandler())), quiet(httptest.NewServer(http.NotFoundHandler()))
	closing := listener(t, func(conn net.Conn) { _, _ = io.ReadFull(conn, make([]byte, 1)) }) // so that it ends in order
	alerting := listener(t, func(conn net.Conn) {
		_, _ = io.ReadFull(conn, make([]byte, 1))
		_, _ = conn.Write([]byte("\x15\x03\x03\x00\x02\x02\x46")) // an alert of TLS: protocol_version
	})
	trusting := secure.Client().Transport
	tls := strings.TrimPrefix(secure.URL, "https://")
	for name, row := range map[string]struct {
		url       string
		transport http.RoundTripper
		why, hint string
	}{
		"unknown authority": {secure.URL, nil, "this machine does not trust the authority", "SSL_CERT_FILE"},
		"unknown, socket":   {strings.Replace(secure.URL, "https", "wss", 1) + "/x", nil, "this machine does not trust the authority", "SSL_CERT_FILE"},
		"another name":      {strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), trusting, "its certificate is not for the name localhost", "use the name"},
		"no TLS":            {strings.Replace(plain.URL, "http", "https", 1), nil, "it does not speak TLS", "begin the address with http,"},
		"closed":            {"http://" + closing, nil, "closed the connection without an answer", "begin the address with https"},
		"gRPC to TLS":       {"grpc://" + tls, nil, "closed the connection without an answer", "use the address grpcs://" + tls},
		"gRPC to an alert":  {"grpc://" + alerting, nil, "it answers in TLS", "use the address grpcs://" + alerting},
		"refused":           {"http://127.0.0.1:1", nil, "refused", "see that the producer runs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := subscribe.New(subscribe.Options{
				URL: row.url, Transport: row.transport, ConnectTimeout: -1, Request: aaep.SubscriptionRequest{SubscriberID: "x", Capabilities: aaep.Capabilities{}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, err = range s.Messages(t.Context()) {
				if err != nil {
					break
				}
			}
			e, is := errors.AsType[*subscribe.Error](err)
			if !is || e.Code != subscribe.CodeUnreachable || !strings.Contains(e.Message, row.why) || !strings.Contains(e.Hint, row.hint) {
				t.Errorf("found %v, expected %q and a hint with %q", err, row.why, row.hint)
			}
		})
	}
}
