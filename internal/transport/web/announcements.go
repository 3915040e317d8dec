package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// announcements streams what is said of all sessions, for surfaces that say it and decide nothing, such as the element
// for other pages.
//
//	announcement   one finished sentence
//	position       carries the id: everything that belongs to the event has been sent
func (s *Server) announcements(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.onlyHears(r, v); err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		stream.Head(w)
		return nil
	}
	query := r.URL.Query()
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = query.Get("after")
	}
	since := s.now()
	if after != "" {
		since = since.Add(-stale)
	}
	ctx, leave, err := s.enter(r.Context(), v.Principal)
	if err != nil {
		return err
	}
	goesOn := false
	defer func() {
		if !goesOn {
			leave()
		}
	}()
	begins := after == ""
	if begins {
		if after, err = s.hub.Newest(ctx, v.Principal); err != nil {
			return err
		}
	}
	language, no := query.Get("lang"), false
	subscription, err := s.subscribeTo(ctx, v, aaep.SubscriptionRequest{
		SubscriberID: "earshot-announcements", SubscriberName: "Announcements",
		Capabilities: aaep.Capabilities{
			SupportsConfirmationReply: &no, SupportsClarificationReply: &no,
			Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"observe_questions":true}`)},
		},
	}, language)
	if err != nil {
		return err
	}
	leave = both(subscription.Close, leave)
	s.personal(r.Context(), &v)
	v.reads(language)
	speaker := s.speaker(v, announce.Preferences{Language: language, Since: since})
	if begins && v.single() {
		open, err := s.allOpen(ctx, v)
		if err != nil {
			return err
		}
		speaker.observeOpen(open)
	}
	goesOn = true
	s.serve(ctx, leave, w, r, s.watch(v), connected, func(ctx context.Context, send func([]stream.Frame) bool) error {
		return speaker.run(ctx, subscription, after, send)
	})
	return nil
}

// onlyHears refuses a request from another site's page whose token may answer, or do anything else but hear and stop:
// such a page is no surface that a person has opened, and its scripts could act for them.
func (s *Server) onlyHears(r *http.Request, v visitor) error {
	origin := r.Header.Get("Origin")
	acts := slices.ContainsFunc([]api.Right{api.Answer, api.Start, api.Inspect, api.Operate, api.Act}, v.May)
	if origin == "" || origin == s.page.text || !acts {
		return nil
	}
	return refuse(api.KindForbidden, "this token can do more than listen, and a page of another site must not have such a token",
		"make one that only listens: earshot token add NAME --role listener")
}

// run sends the announcements of a subscription's deliveries.
func (p *speaker) run(ctx context.Context, from Subscription, after string, send func([]stream.Frame) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	next, done := pump(ctx, from, after)
	defer drain(done) // until its goroutine has ended
	defer cancel()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	// Now the listener knows where to continue from, even if the stream breaks before anything is said.
	if after != "" && !send([]stream.Frame{{ID: after, Event: "position", Data: []byte("{}")}}) {
		return nil
	}
	for {
		p.wind(timer)
		var said []announce.Announcement
		var place []stream.Frame
		select {
		case <-ctx.Done():
			return nil
		case err := <-done:
			return err
		case d := <-next:
			var err error
			if said, _, err = p.delivery(ctx, d); err != nil {
				return err
			}
			place = []stream.Frame{{ID: point(d), Event: "position", Data: []byte("{}")}}
			p.server.counts.deliveries.Add(1)
		case <-timer.C:
			said = p.announcer.Tick(p.server.now())
		}
		var group []stream.Frame
		for _, a := range said {
			one, err := encoded("announcement", page.Announcement(a))
			if err != nil {
				return err
			}
			group = append(group, one...)
		}
		if group = append(group, place...); len(group) > 0 && !send(group) {
			return nil
		}
	}
}

// listenerElement serves the script of the element for other pages.
func (s *Server) listenerElement(w http.ResponseWriter, r *http.Request, _ visitor) error {
	s.file(w, r, "listener.js")
	return nil
}
