package web

import (
	"context"
	"net/http"
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
	defer leave()
	s.serve(ctx, w, s.watch(v), func(ctx context.Context, send func([]stream.Frame) bool) error {
		return s.deliver(ctx, subscription, r.Header.Get("Last-Event-ID"), "aaep.event", send)
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
		s.counts.deliveries.Add(1)
		if group == nil {
			group, _ = groups.Get().(*[]stream.Frame)
		}
		if *group = append(*group, stream.Frame{ID: point(d), Event: name, Data: d.Raw}); d.More {
			continue
		}
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

// serve runs a stream to its end.
func (s *Server) serve(ctx context.Context, w http.ResponseWriter, still *watch, from stream.Source) {
	to := stream.Open(w)
	if err := to.Send(stream.Frame{Comment: "connected"}); err != nil {
		return
	}
	err := to.Run(ctx, from, still)
	if err != nil && ctx.Err() == nil {
		s.log.InfoContext(ctx, "a stream has ended", "principal", still.who.Name, "reason", err)
	}
}
