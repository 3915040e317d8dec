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

// Rights knows whether what a principal has shown still counts. [access.Store] is one.
// It is safe for concurrent use and answers from memory.
type Rights interface {
	// Current returns the principal with the rights that it has now, or an error when it
	// has none any more.
	Current(who access.Principal) (access.Principal, error)
	// Watch sends when somebody's rights may have changed, at least once for any number
	// of changes, until the context ends; then it closes the channel.
	Watch(ctx context.Context) <-chan struct{}
}

// Options of a hub. Conn is required; the rest is for subscriptions.
type Options struct {
	Conn Conn
	// Rights default to those that each principal comes with, for ever.
	Rights Rights
	// Offer is what subscribers can have; its Producer names this installation.
	Offer pacing.Offer
	// Owner is the person whose sessions agents open that are programs outside, where their tokens name nobody.
	Owner string
	// Project is the one whose sessions these are. Default "default".
	Project string
	// Poll is how soon the hub looks without having been told. Default 2 s. While it finds
	// nothing it looks less and less often, until it looks once in an Idle; default Poll.
	Poll, Idle time.Duration
	// Grace is how long a subscription outlives its last stream. Default 60 s.
	Grace time.Duration
	// Subscriptions is the most that may be streamed at once. Default 4096. SubscriptionsEach is how many of them one
	// principal may have; default a quarter.
	Subscriptions, SubscriptionsEach int

	Now    func() time.Time // default time.Now
	Rand   io.Reader        // default crypto/rand
	Logger *slog.Logger     // notes without content; default none
}

const (
	defaultPoll          = 2 * time.Second
	defaultGrace         = time.Minute
	defaultSubscriptions = 4096
	// share of all subscriptions that one principal may have where nothing else is said.
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

// unchanging are rights that nobody takes away.
type unchanging struct{}

func (unchanging) Current(who access.Principal) (access.Principal, error) { return who, nil }

func (unchanging) Watch(ctx context.Context) <-chan struct{} {
	never := make(chan struct{})
	context.AfterFunc(ctx, func() { close(never) })
	return never
}
