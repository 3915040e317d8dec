package grpc_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/internal/testkit/framing"
)

// single is a listener with one connection.
type single struct {
	conns chan net.Conn
	gone  chan struct{}
}

func (l *single) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.gone:
		return nil, net.ErrClosed
	}
}

func (l *single) Close() error { close(l.gone); return nil }
func (*single) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// TestBothSend: two ends that send at the same moment both receive.
func TestBothSend(t *testing.T) {
	t.Parallel()
	framing.BothSend(t, func(t *testing.T) (one, other framing.End) {
		o := grpc.Options{Limit: 16 << 20}
		message := bytes.Repeat([]byte("x"), 8<<20) // more than the room that HTTP/2 gives to what nobody reads
		here, there := net.Pipe()
		l := &single{conns: make(chan net.Conn, 1), gone: make(chan struct{})}
		l.conns <- there
		accepted, dropped := make(chan *grpc.Served, 1), make(chan struct{})
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, err := grpc.Accept(w, r, o)
			if err != nil {
				t.Error(err)
				return
			}
			accepted <- c
			<-dropped
		})}
		grpc.Configure(server)
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(l) })
		t.Cleanup(func() { close(dropped); _ = server.Close(); serving.Wait() })
		by := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
		client, err := grpc.Dial(t.Context(), "http://pipe", by, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		return framing.End{Conn: client, Message: message}, framing.End{Conn: <-accepted, Message: message}
	})
}
