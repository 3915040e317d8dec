package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// badges are rights that a test takes away.
type badges struct {
	mu     sync.Mutex
	gone   map[string]bool
	bells  []chan struct{}
	looked map[string]int // how often each principal's rights were looked up
	others map[string][]access.Role
}

// promote gives somebody other roles.
func (b *badges) promote(name string, roles ...access.Role) {
	b.mu.Lock()
	b.others = map[string][]access.Role{name: roles}
	b.mu.Unlock()
	b.ring()
}

// looks returns how often somebody's rights were looked up since it was asked before.
func (b *badges) looks(name string) int {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.looked[name]
	delete(b.looked, name)
	return n
}

func (b *badges) Current(who access.Principal) (access.Principal, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked[who.Name]++
	if b.gone[who.Name] {
		return access.Principal{}, access.ErrRevoked
	}
	if roles := b.others[who.Name]; roles != nil {
		who.Roles = roles
	}
	return who, nil
}

func (b *badges) Watch(ctx context.Context) <-chan struct{} {
	bell := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bells = append(b.bells, bell)
	context.AfterFunc(ctx, func() { close(bell) })
	return bell
}

func (b *badges) revoke(name string) {
	b.mu.Lock()
	if b.gone == nil {
		b.gone = map[string]bool{}
	}
	b.gone[name] = true
	b.mu.Unlock()
	b.ring()
}

func (b *badges) ring() {
	b.mu.Lock()
	bells := slices.Clone(b.bells)
	b.mu.Unlock()
	for _, bell := range bells {
		bell <- struct{}{}
	}
}

// stage is a hub that runs over a book.
type stage struct {
	t      *testing.T
	book   *book
	hub    *hub.Hub
	badges *badges
	idle   time.Duration
	decide bool
	// translations are offered besides English.
	translations []hub.Translation
	cancel       context.CancelFunc
	done         chan error
}

func onStage(t *testing.T, play func(s *stage)) {
	t.Helper()
	t.Parallel()
	onStageOf(t, false, play)
}

// onStageOf is a stage whose hub decides what nobody can answer.
func onStageOf(t *testing.T, decide bool, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, book: newBook(t), badges: &badges{looked: map[string]int{}}, decide: decide}
		s.start()
		play(s)
		s.halt()
		s.book.mu.Lock()
		defer s.book.mu.Unlock()
		if len(s.book.ears) != 0 {
			t.Error("somebody still listens")
		}
	})
}

func (s *stage) start() {
	ctx, cancel := context.WithCancel(context.Background())
	offer := pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}, Languages: []string{"en"}, Extensions: []string{aaep.ExtensionContext}}
	for _, t := range s.translations {
		offer.Languages = append(offer.Languages, t.Tag())
	}
	s.hub = hub.Open(hub.Options{
		Conn: s.book, Rights: s.badges, Offer: offer, Translations: s.translations, Subscriptions: 64, Idle: s.idle, Decides: s.decide,
	})
	s.cancel, s.done = cancel, make(chan error, 1)
	h, done := s.hub, s.done
	go func() { done <- h.Run(ctx) }()
	synctest.Wait()
}

func (s *stage) halt() {
	s.t.Helper()
	s.cancel()
	if err := <-s.done; err != nil {
		s.t.Errorf("Run: %v", err)
	}
	synctest.Wait()
}

func person(name string, roles ...access.Role) access.Principal {
	return access.Principal{Name: name, Roles: roles, Surface: "page"}
}

func (s *stage) subscribe(who access.Principal, sessions ...string) *hub.Subscription {
	s.t.Helper()
	return s.subscribeAt(0, who, sessions...)
}

// subscribeAt subscribes for so many events a second; 0 means no limit.
func (s *stage) subscribeAt(rate int, who access.Principal, sessions ...string) *hub.Subscription {
	s.t.Helper()
	synctest.Wait()
	yes := true
	r := aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "test", Capabilities: aaep.Capabilities{
		SupportsConfirmationReply: &yes, SupportsClarificationReply: &yes, MaxEventsPerSecond: rate,
		Extensions: map[string]jsontext.Value{"earshot": jsontext.Value(`{"observe_questions":true}`)},
	}}
	if len(sessions) > 0 {
		list := ""
		for i, session := range sessions {
			if i > 0 {
				list += ","
			}
			list += `"` + session + `"`
		}
		r.Capabilities.Extensions["earshot"] = jsontext.Value(`{"observe_questions":true,"session_ids":[` + list + `]}`)
		r.Capabilities.SupportedExtensions = []string{aaep.ExtensionContext}
	}
	sub, rejected, err := s.hub.Subscribe(s.t.Context(), who, r)
	if rejected != nil || err != nil {
		s.t.Fatalf("not subscribed: %+v, %v", rejected, err)
	}
	return sub
}

// ear takes what a stream delivers.
type ear struct {
	mu     sync.Mutex
	got    []hub.Delivery
	err    error
	cancel context.CancelFunc
	done   chan struct{}
	// hold, where set, is waited for at each delivery.
	hold chan struct{}
}

func (s *stage) listen(sub *hub.Subscription, after string) *ear { return s.hear(sub, after, nil) }

func (s *stage) hear(sub *hub.Subscription, after string, hold chan struct{}) *ear {
	ctx, cancel := context.WithCancel(context.Background())
	e := &ear{cancel: cancel, done: make(chan struct{}), hold: hold}
	go func() {
		defer close(e.done)
		for d, err := range sub.Deliveries(ctx, after) {
			e.mu.Lock()
			if e.err = err; err == nil {
				e.got = append(e.got, d)
			}
			e.mu.Unlock()
			if hold != nil {
				<-hold
			}
		}
	}()
	synctest.Wait()
	return e
}

func (e *ear) leave() {
	e.cancel()
	<-e.done
}

func (e *ear) all() []hub.Delivery {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

// told lists what came, as session and number, those that are sent again apart from the
// others.
func (e *ear) told() (live, again []string) {
	for _, d := range e.all() {
		name := fmt.Sprintf("%s/%d", d.Session, d.First)
		if event, err := aaep.DecodeEvent(d.Raw); err == nil && event.Extension("earshot", "resync") == "" && d.Resumable {
			live = append(live, name)
			continue
		}
		again = append(again, name)
	}
	return live, again
}

func (e *ear) ended() error {
	synctest.Wait()
	select {
	case <-e.done:
		return e.err
	default:
		return errors.New("it goes on")
	}
}

func numbered(session string, first, last int64) []string {
	var all []string
	for i := first; i <= last; i++ {
		all = append(all, fmt.Sprintf("%s/%d", session, i))
	}
	return all
}

func (s *stage) want(what string, got, want []string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}
