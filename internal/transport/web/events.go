package web

import (
	"context"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
)

// events serves the stream of a subscription (TR-SSE-03). The subscription must have been made by this very principal
// (C-83); the server does not reveal that another's exists.
func (s *Server) events(w http.ResponseWriter, r *http.Request, v visitor) error {
	id := r.URL.Query().Get("subscription_id")
	if id == "" {
		return refuse(api.KindInvalid, "found no subscription_id in the address", "make a subscription with POST "+api.AAEPRoot+"/subscriptions and go to its Location")
	}
	subscription, ok := s.hub.Subscription(v.Principal, id)
	if !ok {
		return refuse(api.KindNotFound, "there is no such live subscription of yours", "make a new one with POST "+api.AAEPRoot+"/subscriptions")
	}
	if r.Method == http.MethodHead {
		stream.Head(w)
		return nil
	}
	ctx, leave, err := s.enter(r.Context(), v.Principal)
	if err != nil {
		return err
	}
	after := r.Header.Get("Last-Event-ID")
	s.serve(ctx, leave, w, r, s.watch(v), connected, func(ctx context.Context, send func([]stream.Frame) bool) error {
		return s.deliver(ctx, subscription, after, "aaep.event", send)
	})
	return nil
}

// groups are the frames that are being sent. A stream that has nothing to send needs none.
var groups = sync.Pool{New: func() any { return new([]stream.Frame) }} //nolint:gochecknoglobals // every stream borrows from it

// deliver converts deliveries to frames; those sent together form one group.
func (s *Server) deliver(ctx context.Context, from Subscription, after, name string, send func([]stream.Frame) bool) error {
	var group *[]stream.Frame
	for d, err := range from.Deliveries(ctx, after) {
		if err != nil {
			return err
		}
		if group == nil {
			group, _ = groups.Get().(*[]stream.Frame)
		}
		if *group = append(*group, stream.Frame{ID: point(d), Event: name, Data: d.Raw}); d.More {
			continue
		}
		s.counts.deliveries.Add(int64(len(*group)))
		if !send(*group) {
			return nil
		}
		clear(*group)
		*group = (*group)[:0]
		groups.Put(group)
		group = nil
	}
	return nil
}

// point returns the id field of a delivery: its event's id, if a stream can resume from it.
func point(d Delivery) string {
	if d.Resumable {
		return d.EventID
	}
	return ""
}

// connected is the first frame of a stream.
var connected = stream.Frame{Comment: "connected"} //nolint:gochecknoglobals // it is never changed

// both calls the first, and then the second.
func both(first, second func()) func() {
	return func() {
		defer second()
		first()
	}
}

// serve runs a stream to its end, and then calls leave. Where the stream has the connection for itself, it goes on after serve has
// returned; Close waits for it.
func (s *Server) serve(ctx context.Context, leave func(), w http.ResponseWriter, r *http.Request, still *watch, first stream.Frame, from stream.Source) {
	to, detached := stream.Detach(w, r)
	if !detached {
		defer leave()
		s.run(ctx, to, still, first, from)
		return
	}
	go func() {
		defer leave()
		defer func() { // as the HTTP server does for its handlers
			if p := recover(); p != nil {
				to.Close()
				s.log.Error("a stream has failed", "principal", still.who.Name, "panic", p, "stack", string(debug.Stack()))
			}
		}()
		s.run(s.life, to, still, first, from)
	}()
}

func (s *Server) run(ctx context.Context, to *stream.Sender, still *watch, first stream.Frame, from stream.Source) {
	err := to.Run(ctx, func(ctx context.Context, send func([]stream.Frame) bool) error {
		if !send([]stream.Frame{first}) {
			return nil
		}
		return from(ctx, send)
	}, still)
	if err != nil && ctx.Err() == nil {
		s.log.InfoContext(ctx, "a stream has ended", "principal", still.who.Name, "reason", err)
	}
}
