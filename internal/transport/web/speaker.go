package web

import (
	"context"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// speaker makes the announcements of one stream from its deliveries.
type speaker struct {
	server    *Server
	visitor   visitor
	announcer *announce.Announcer
	known     map[string]int64 // the last event of each session that the announcer has taken
}

func (s *Server) speaker(v visitor, p announce.Preferences) speaker {
	p.Person, p.Zone, p.Verbosity = v.Name, v.zone, aaep.Verbosity(api.Chosen(v.prefers.Verbosity))
	p.OneQuestion, p.Translation = v.single(), s.pages.In(s.language(v)).Announcers()
	return speaker{server: s, visitor: v, announcer: announce.New(p), known: map[string]int64{}}
}

// justNow is how old a question has to be for the stream to have brought it to its listener before.
const justNow = 10 * time.Second

// observeOpen tells the announcer which questions its listener has before them, so that a further one waits behind them. A
// question that was asked just now is left to the stream.
func (p *speaker) observeOpen(questions []api.OpenQuestion) {
	for _, q := range questions {
		if e, err := aaep.DecodeEvent(q.Event); err == nil && p.server.now().Sub(e.Time) > justNow {
			p.announcer.Observe(e, 0)
		}
	}
}

// allOpen lists the open questions, also those that wait behind another one, without marking them as shown.
func (s *Server) allOpen(ctx context.Context, v visitor) ([]api.OpenQuestion, error) {
	listed, err := s.hub.Questions(ctx, v.Principal, QuestionListOptions{Limit: page.MostAsked, Peek: true, Language: s.language(v)})
	return listed.Questions, err
}

// subscribeTo subscribes for a stream of announcements: to everything, without delay.
func (s *Server) subscribeTo(ctx context.Context, v visitor, request aaep.SubscriptionRequest, lang string) (Subscription, error) {
	request.AAEPVersion = aaep.Version
	if aaep.PatternLanguage.Match(lang) {
		request.Capabilities.Languages = []string{lang}
	}
	subscription, rejected, err := s.hub.Subscribe(ctx, v.Principal, request)
	if err != nil {
		return nil, err
	}
	if rejected != nil {
		return nil, &Refusal{
			Kind: api.KindUnavailable, Message: request.SubscriberName + " could not subscribe: " + rejected.ReasonMessage, Hint: "try again soon",
			After: time.Duration(max(rejected.RetryAfterSeconds, 1)) * time.Second,
		}
	}
	return subscription, nil
}

// pump sends the deliveries of a subscription, in a goroutine that has ended when done is closed.
func pump(ctx context.Context, from Subscription, after string) (deliveries <-chan Delivery, done <-chan error) {
	next, ended := make(chan Delivery), make(chan error, 1)
	go func() {
		defer close(ended)
		for d, err := range from.Deliveries(ctx, after) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case next <- d:
			case <-ctx.Done():
				return
			}
		}
	}()
	return next, ended
}

// drain reads a channel until it is closed.
func drain[T any](from <-chan T) {
	for range from {
		continue
	}
}

// wind sets the timer to the announcer's next timed announcement.
func (p *speaker) wind(timer *time.Timer) {
	due := p.announcer.Wake()
	if due.IsZero() {
		timer.Stop()
		return
	}
	timer.Reset(max(due.Sub(p.server.now()), 0))
}

// delivery returns the announcements of a delivery, and its event: one without a payload if this version cannot read
// it. Such an event is in the record.
func (p *speaker) delivery(ctx context.Context, d Delivery) ([]announce.Announcement, aaep.Event, error) {
	e, err := aaep.DecodeEvent(d.Raw)
	if err != nil {
		return nil, aaep.Event{}, nil //nolint:nilerr // see above
	}
	if d.First > p.known[d.Session]+1 {
		// A new announcer has to process what its listener got before this stream; otherwise it would not know what the
		// session is about.
		if err := p.learn(ctx, d.Session, d.First-1, p.announcer.Observe); err != nil {
			return nil, e, err
		}
	}
	said := p.announcer.Event(p.server.now(), e, d.Last)
	p.known[d.Session] = max(p.known[d.Session], d.Last)
	return said, e, nil
}

// learn passes a session's events up to a sequence number to observe.
func (p *speaker) learn(ctx context.Context, session string, last int64, observe func(e aaep.Event, seq int64)) error {
	one, err := p.server.hub.Session(ctx, p.visitor.Principal, session)
	if err == nil {
		err = p.server.tell(ctx, p.visitor, one, p.known[session], last, observe)
	}
	if err != nil {
		return err
	}
	p.known[session] = max(p.known[session], last)
	return nil
}
