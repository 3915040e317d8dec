package subscriber

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
)

const (
	maxReceive = 1 << 20 // of a message, in bytes
	// heartbeat is how often a stream says that it lives (TR-SSE-13).
	heartbeat = 10 * time.Second
)

// handler serves the addresses of Appendix B.
func (j *judge) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+transport.Root+"/subscriptions", func(w http.ResponseWriter, r *http.Request) { j.post(w, r, inRequest) })
	mux.HandleFunc("POST "+transport.Root+"/replies", func(w http.ResponseWriter, r *http.Request) { j.post(w, r, inMessage) })
	mux.HandleFunc("GET "+transport.Root+"/events", j.stream)
	mux.HandleFunc("GET "+transport.Root+"/ws", j.socket)
	mux.HandleFunc("POST "+grpc.SubscribePath, j.call)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if j.enter() {
			defer j.tasks.Done()
			mux.ServeHTTP(w, r)
		}
	})
}

// post takes one message over HTTP.
func (j *judge) post(w http.ResponseWriter, r *http.Request, kind inputKind) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReceive))
	if err != nil {
		return // there is nobody to tell
	}
	conn, effects, shut := j.open()
	defer shut()
	in := input{conn: conn, kind: kind, raw: raw}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		in.flaws = append(in.flaws, aaep.Violation{Rule: "TR-SSE-12", Message: fmt.Sprintf("found the content type %q, expected application/json", media)})
	}
	j.tell(in)
	select {
	case <-r.Context().Done():
	case e := <-effects:
		w.Header().Set("Content-Type", "application/json")
		if kind == inRequest {
			w.Header().Set("Location", transport.Root+"/events?subscription_id="+e.id)
		}
		w.WriteHeader(max(e.status, http.StatusOK))
		_, _ = w.Write(e.raw) // its loss is noticed by who asked
	}
}

// stream serves the events over HTTP.
func (j *judge) stream(w http.ResponseWriter, r *http.Request) {
	conn, effects, shut := j.open()
	defer shut()
	in := input{conn: conn, kind: inStream, subscription: r.URL.Query().Get("subscription_id"), after: r.Header.Get("Last-Event-ID")}
	for name, want := range map[string]string{"Accept": "text/event-stream", "Cache-Control": "no-cache"} {
		if got := r.Header.Get(name); !strings.Contains(got, want) {
			in.flaws = append(in.flaws, aaep.Violation{Rule: "TR-SSE-11", Message: fmt.Sprintf("found the header %s: %s, expected %s", name, got, want)})
		}
	}
	j.tell(in)
	if events(r.Context(), w, effects) {
		panic(http.ErrAbortHandler) // breaks the connection off
	}
	j.tell(input{conn: conn, kind: inEnded})
}

// events writes a stream until one of both ends it, and reports whether that was the script.
func events(ctx context.Context, w http.ResponseWriter, effects <-chan effect) bool {
	to := http.NewResponseController(w)
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	for {
		text := ": it lives\n\n"
		select {
		case <-ctx.Done():
			return false
		case <-alive.C:
		case e, more := <-effects:
			switch {
			case !more || e.kind == doEnd:
				return true
			case e.kind == doAnswer && e.status != http.StatusOK:
				w.WriteHeader(e.status)
				return false
			case e.kind == doAnswer:
				w.Header().Set("Content-Type", "text/event-stream")
				text = ""
			default:
				text = frame(e)
			}
		}
		if _, err := io.WriteString(w, text); err != nil || to.Flush() != nil {
			return false
		}
	}
}

// frame is an event in the stream.
func frame(e effect) string {
	id := ""
	if e.id != "" {
		id = "id: " + e.id + "\n"
	}
	return "event: aaep.event\n" + id + "data: " + string(bytes.ReplaceAll(e.raw, []byte("\n"), []byte("\ndata: "))) + "\n\n"
}

// socket serves a subscription on a WebSocket.
func (j *judge) socket(w http.ResponseWriter, r *http.Request) {
	c, err := socket.Accept(w, r, socket.Options{Limit: maxReceive})
	if err != nil {
		return // it has been answered
	}
	var flaws []aaep.Violation
	if got := c.Subprotocol(); got != socket.Subprotocol {
		flaws = []aaep.Violation{{Rule: "TR-WS-02", Message: fmt.Sprintf("found the subprotocol %q, expected %s", got, socket.Subprotocol)}}
	}
	j.converse(r.Context(), c, overSocket, flaws)
}

// call serves a subscription over gRPC.
func (j *judge) call(w http.ResponseWriter, r *http.Request) {
	if !grpc.Is(r) {
		http.Error(w, "expected a call of gRPC over HTTP/2", http.StatusUnsupportedMediaType)
		return
	}
	if c, err := grpc.Accept(w, r, grpc.Options{Limit: maxReceive}); err == nil { // otherwise there is nobody to tell
		j.converse(r.Context(), c, overGRPC, nil)
	}
}

// accept serves each connection of a Unix socket until that is closed.
func (j *judge) accept(ctx context.Context, unix net.Listener) {
	for {
		c, err := unix.Accept()
		if err != nil || !j.enter() {
			return
		}
		go func() {
			defer j.tasks.Done()
			j.converse(ctx, pipe.New(c, pipe.Options{Limit: maxReceive}), overUnix, nil)
		}()
	}
}

// converse serves a subscription on a connection.
func (j *judge) converse(ctx context.Context, c transport.Conn, via carrier, flaws []aaep.Violation) {
	conn, effects, shut := j.open()
	defer shut()
	ctx, cancel := context.WithCancel(ctx)
	var receiving sync.WaitGroup
	defer receiving.Wait() // a call of gRPC is over when this returns
	defer cancel()
	j.tell(input{conn: conn, kind: inOpened, via: via, flaws: flaws})
	receiving.Go(func() {
		defer cancel()
		j.tell(j.receive(c, conn, via))
	})
	defer c.Drop()
	defer context.AfterFunc(ctx, c.Drop)()
	for {
		select {
		case <-ctx.Done():
			return
		case e, more := <-effects:
			switch {
			case !more:
				return
			case e.raw == nil && e.kind != doEnd: // there is nothing to say
			case e.kind == doEnd:
				c.Close(transport.GoingAway, "the script breaks the connection")
				return
			case c.Send(e.raw) != nil:
				return
			}
		}
	}
}

// receive takes the messages on a connection, and returns how it has ended.
func (j *judge) receive(c transport.Conn, conn int, via carrier) input {
	for kind := inRequest; ; kind = inMessage {
		raw, err := c.Receive()
		if err == nil {
			j.tell(input{conn: conn, kind: kind, via: via, raw: raw})
			continue
		}
		end := input{conn: conn, kind: inEnded, via: via}
		if e, is := errors.AsType[*transport.Error](err); is && e.FromPeer {
			end.code = int(e.Code)
		} else if is {
			end.flaws = via.misread(e)
		}
		return end
	}
}
