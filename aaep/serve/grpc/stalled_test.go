package grpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/serve/grpc"
	wire "github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/internal/testkit/aaepv1"
)

// wires is a listener whose connections are pipes in memory: what one end does not read, the other cannot write.
type wires struct {
	ends chan net.Conn
	gone chan struct{}
}

func (w *wires) Accept() (net.Conn, error) {
	select {
	case c := <-w.ends:
		return c, nil
	case <-w.gone:
		return nil, net.ErrClosed
	}
}

func (w *wires) Close() error   { close(w.gone); return nil }
func (w *wires) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

func (w *wires) dial(context.Context, string, string) (net.Conn, error) {
	mine, its := net.Pipe()
	w.ends <- its
	return mine, nil
}

// asking is a subscriber's request for what follows an event.
func asking(who, after string) []byte {
	return fmt.Appendf(nil, `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":%q,"capabilities":{"earshot":{"resume":{"after":%q}}}}`, who, after)
}

// heard is what a subscriber was sent.
type heard struct {
	mu     sync.Mutex
	answer string   // the type of the first message
	events []string // their ids, in order
}

func (h *heard) take(raw []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	message := aaep.Read(raw)
	kind, _ := message.Text("type")
	if h.answer == "" {
		h.answer = kind
	}
	if id, is := message.Text("event_id"); is && strings.HasPrefix(kind, "aaep:") {
		h.events = append(h.events, id)
	}
}

func (h *heard) all() (answer string, events []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answer, slices.Clone(h.events)
}

// hear subscribes behind an event and takes what is sent, until leave, which waits.
func (w *wires) hear(t *testing.T, who, after string) (h *heard, leave func()) {
	t.Helper()
	c, err := wire.Dial(t.Context(), "http://127.0.0.1:8080", &http.Transport{DialContext: w.dial}, nil, wire.Options{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	h = &heard{}
	var owned sync.WaitGroup
	owned.Go(func() {
		for {
			raw, err := c.Receive()
			if err != nil {
				return
			}
			h.take(raw)
		}
	})
	if err := c.Send(asking(who, after)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return h, func() { c.Drop(); owned.Wait() }
}

// staller is a subscriber that speaks HTTP/2 by itself, and gives no room beyond that with which a stream begins.
type staller struct {
	heard

	conn   net.Conn
	frames *http2.Framer
	body   bytes.Buffer
	ended  error // of the stream, or of the connection
}

// theStream is the one of a staller.
const theStream = 1

func (w *wires) stall(t *testing.T) *staller {
	t.Helper()
	conn, _ := w.dial(t.Context(), "", "") // it cannot fail
	s := &staller{conn: conn, frames: http2.NewFramer(conn, conn)}
	s.frames.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
	message, err := proto.Marshal(&aaepv1.AaepMessage{Json: asking("stalls", "")})
	if err != nil {
		t.Fatal(err)
	}
	var head bytes.Buffer
	to := hpack.NewEncoder(&head)
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":authority", "127.0.0.1:8080"}, {":path", wire.SubscribePath}, {"content-type", "application/grpc"},
	} {
		_ = to.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // into memory
	}
	_, preface := conn.Write([]byte(http2.ClientPreface))
	err = errors.Join(preface, s.frames.WriteSettings(),
		s.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: theStream, BlockFragment: head.Bytes(), EndHeaders: true}),
		s.frames.WriteData(theStream, false, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read reads frames until so many events have come, or until the stream has ended.
func (s *staller) read(events int) {
	for len(s.events) < events && s.ended == nil {
		frame, err := s.frames.ReadFrame()
		if err != nil {
			s.ended = err
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = s.frames.WriteSettingsAck() // the next read fails
			}
		case *http2.PingFrame:
			_ = s.frames.WritePing(true, f.Data)
		case *http2.DataFrame:
			s.body.Write(f.Data())
			s.messages()
		case *http2.RSTStreamFrame:
			s.ended = http2.StreamError{StreamID: f.StreamID, Code: f.ErrCode}
		}
	}
}

// messages takes the whole messages that have come.
func (s *staller) messages() {
	for s.body.Len() >= 5 {
		size := 5 + int(binary.BigEndian.Uint32(s.body.Bytes()[1:5]))
		if s.body.Len() < size {
			return
		}
		var m aaepv1.AaepMessage
		if proto.Unmarshal(s.body.Next(size)[5:], &m) == nil {
			s.take(m.GetJson())
		}
	}
}

// TestStalled: a subscriber that is connected and takes nothing holds up nobody else, has little kept for it, and is cut off after half a
// minute, whether it gives no room, reads nothing at all, or even goes on writing. Then its subscription is free, and a subscriber that
// comes again hears the rest, each event once.
func TestStalled(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		stalls func(ctx context.Context, s *staller)
		reset  bool // what ends it is the end of its stream, and else that of the connection
	}{
		"gives no room": {func(_ context.Context, s *staller) { s.read(1 << 20) }, true},
		"reads nothing": {func(ctx context.Context, _ *staller) { <-ctx.Done() }, false},
		"reads nothing and writes": {func(ctx context.Context, s *staller) {
			every := time.NewTicker(5 * time.Second)
			defer every.Stop()
			for s.frames.WriteWindowUpdate(0, 1) == nil {
				select {
				case <-every.C:
				case <-ctx.Done():
					return
				}
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { stalled(t, row.stalls, row.reset) })
		})
	}
}

func stalled(t *testing.T, stalls func(context.Context, *staller), reset bool) {
	t.Helper()
	p, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Subscriptions: 2, Transports: []serve.Transport{grpc.Transport{}}})
	if err != nil {
		t.Fatal(err)
	}
	on := &wires{ends: make(chan net.Conn), gone: make(chan struct{})}
	server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	grpc.Configure(server)
	var owned sync.WaitGroup
	owned.Go(func() { _ = server.Serve(on) })
	defer owned.Wait()
	defer func() { _ = server.Close() }()
	defer p.Close()
	s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	if err != nil {
		t.Fatal(err)
	}
	other, leave := on.hear(t, "other", "")
	defer leave()
	stuck := on.stall(t)
	stuck.read(1)
	ctx, enough := context.WithCancel(t.Context())
	owned.Go(func() { stalls(ctx, stuck) })
	defer enough()

	const events = 400
	tell := func(n int) {
		for i := range n {
			to := []string{aaep.StateThinking, aaep.StateDeciding}[i%2]
			if err := s.State(to, aaep.StateChanged{SummaryNormal: strings.Repeat("x", 1000)}); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
	}
	tell(events)
	_, all := other.all()
	if len(all) != events+1 {
		t.Errorf("the other heard %d of %d while one stalled", len(all), events+1)
	}
	refused, leave := on.hear(t, "third", "")
	leave()
	if answer, _ := refused.all(); answer != aaep.TypeSubscriptionRejected {
		t.Errorf("before its time a third gets %q", answer)
	}
	<-time.After(31 * time.Second)
	synctest.Wait()
	_, kept := stuck.all()
	if len(kept) > 100 {
		t.Errorf("%d events were kept for a subscriber that took none", len(kept))
	}
	again, leave := on.hear(t, "stalls", kept[len(kept)-1])
	defer leave()
	tell(2)
	_, all = other.all()
	answer, rest := again.all()
	if whole := slices.Concat(kept, rest); answer != aaep.TypeSubscriptionAccepted || !slices.Equal(whole, all) {
		t.Errorf("coming again it gets %q, and together it heard %d of %d", answer, len(whole), len(all))
	}
	enough()
	synctest.Wait() // nothing reads or writes there any more
	stuck.read(1 << 20)
	var by http2.StreamError
	if errors.As(stuck.ended, &by) != reset {
		t.Errorf("it is ended by %v", stuck.ended)
	}
	_ = stuck.conn.Close()
}
