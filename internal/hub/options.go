package hub

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// Rights looks up whether a principal's credential is still valid. [access.Store] implements it. It is safe for
// concurrent use and answers from memory.
type Rights interface {
	// Current returns the principal with its current rights, or an error if it has none any more.
	Current(who access.Principal) (access.Principal, error)
	// Watch sends when somebody's rights may have changed, once for any number of changes, until the context ends; then
	// it closes the channel.
	Watch(ctx context.Context) <-chan struct{}
}

// Options of a hub. Conn is required; the rest is for subscriptions.
type Options struct {
	Conn Conn
	// Rights default to those that each principal comes with, unchanging.
	Rights Rights
	// Offer is what subscribers can negotiate; its Producer names this installation.
	Offer pacing.Offer
	// Translations are the languages besides English that the offer has. By default there are none.
	Translations []Translation
	// Owner is the owner of sessions that external agents open with a token that names nobody.
	Owner string
	// Project is the project of these sessions. Default "default".
	Project string
	// Decides applies the default of a question at once where nobody who is connected can answer it (CONF-82, CONF-83).
	// By default it waits until its own deadline. All who can answer have to be subscribed at this hub.
	Decides bool
	// Poll is the polling interval in addition to notifications. Default 2 s. While nothing changes, the interval grows
	// up to Idle; default Poll.
	Poll, Idle time.Duration
	// Grace is how long a subscription outlives its last stream. Default 60 s.
	Grace time.Duration
	// Subscriptions is the maximum number of streamed subscriptions. Default 4096. SubscriptionsEach is the maximum for
	// one principal; default a quarter.
	Subscriptions, SubscriptionsEach int

	Now    func() time.Time // default time.Now
	Rand   io.Reader        // default crypto/rand
	Logger *slog.Logger     // without content; default none
}

const (
	defaultPoll          = 2 * time.Second
	defaultGrace         = time.Minute
	defaultSubscriptions = 4096
	// share is the fraction of all subscriptions that one principal may have by default.
	share = 4
)

func (o *Options) fill() {
	if o.Rights == nil {
		o.Rights = unchanging{}
	}
	if o.Project == "" {
		o.Project = "default"
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	o.Idle = max(o.Idle, o.Poll)
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.Subscriptions <= 0 {
		o.Subscriptions = defaultSubscriptions
	}
	if o.SubscriptionsEach <= 0 {
		o.SubscriptionsEach = max(1, o.Subscriptions/share)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// unchanging implements Rights for principals whose rights never change.
type unchanging struct{}

func (unchanging) Current(who access.Principal) (access.Principal, error) { return who, nil }

func (unchanging) Watch(ctx context.Context) <-chan struct{} {
	never := make(chan struct{})
	context.AfterFunc(ctx, func() { close(never) })
	return never
}
