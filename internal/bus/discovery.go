package bus

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// Card is what a tool service reports about itself in answer to discovery ($SRV). It contains no content of calls.
type Card struct {
	// Version is a semantic version such as 1.2.3, with or without a leading v. Any other is reported as 0.0.0: clients
	// that list services drop the whole list because of one invalid version.
	Version     string
	Description string
	Metadata    map[string]string
	Endpoints   []Endpoint
}

// Endpoint is one tool on a card.
type Endpoint struct {
	Name     string
	Metadata map[string]string
	// Requests is the number of accepted requests and Errors the number of those that failed; Busy is their total
	// duration.
	Requests, Errors int
	LastError        string
	Busy             time.Duration
}

// Discoverable answers the requests of NATS' service protocol, PING, INFO and STATS, so that `nats micro ls` shows the
// service, until stop is called or the client is closed. card is called for each request. The context only limits the
// start. Kind Tool only.
//
// Errors: not_allowed for other kinds, closed, disconnected, refused, timeout.
func (c *Client) Discoverable(ctx context.Context, card func() Card) (stop func(), err error) {
	who := c.Principal()
	if who.Kind != Tool {
		return nil, &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("discovery: %s is not a tool service", who)}
	}
	conn, err := c.open(ctx, c.credentials.Discovery)
	if err != nil {
		return nil, err
	}
	f := &discoveryResponder{client: c, conn: conn, card: card, began: time.Now().UTC(), id: rand.Text()}
	for _, subject := range askedOf(who.Name) {
		if subject, whole := strings.CutSuffix(subject, ".*"); whole {
			if err := f.answer(ctx, subject+"."+f.id); err != nil {
				conn.close()
				return nil, err
			}
			continue
		}
		if err := f.answer(ctx, subject); err != nil {
			conn.close()
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		conn.close()
		return nil, errClosed("discovery")
	}
	c.responders[f] = struct{}{}
	return f.close, nil
}

// discoveryResponder answers for one process of a service.
type discoveryResponder struct {
	client *Client
	conn   *conn
	card   func() Card
	began  time.Time
	id     string
	once   sync.Once
}

func (f *discoveryResponder) close() {
	f.once.Do(func() {
		f.client.mu.Lock()
		delete(f.client.responders, f)
		f.client.mu.Unlock()
		f.conn.close()
	})
}

func (f *discoveryResponder) answer(ctx context.Context, subject string) error {
	if _, err := f.conn.nats.Subscribe(subject, f.receive); err != nil {
		return wireError("discovery", false, err)
	}
	return f.conn.confirm(ctx, "discovery", subject)
}

// receive answers one request. It ignores a reply subject that the server did not make, see [service].
func (f *discoveryResponder) receive(m *nats.Msg) {
	defer func() {
		if cause := recover(); cause != nil {
			f.client.log.Error("bus: discovery panicked", "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	if !strings.HasPrefix(m.Reply, answerPrefix) {
		return
	}
	verb, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, discoveryPrefix), ".")
	raw, err := json.Marshal(f.reply(verb))
	if err == nil {
		err = f.conn.nats.Publish(m.Reply, raw)
	}
	if err != nil {
		f.client.log.Warn("bus: discovery not answered", "subject", m.Subject, "error", err)
	}
}

func (f *discoveryResponder) reply(verb string) any {
	card, who := f.card(), f.client.credentials
	id := micro.ServiceIdentity{Name: who.Principal.Name, ID: f.id, Version: semanticVersion(card.Version), Metadata: card.Metadata}
	if id.Metadata == nil {
		id.Metadata = map[string]string{}
	}
	subject := subjectsOf(who.Project, who.Principal)[0]
	switch verb {
	case verbInfo:
		info := micro.Info{ServiceIdentity: id, Type: micro.InfoResponseType, Description: card.Description, Endpoints: []micro.EndpointInfo{}}
		for _, e := range card.Endpoints {
			info.Endpoints = append(info.Endpoints, micro.EndpointInfo{Name: e.Name, Subject: subject, Metadata: e.Metadata})
		}
		return info
	case verbStats:
		stats := micro.Stats{ServiceIdentity: id, Type: micro.StatsResponseType, Started: f.began, Endpoints: []*micro.EndpointStats{}}
		for _, e := range card.Endpoints {
			one := &micro.EndpointStats{
				Name: e.Name, Subject: subject, NumRequests: e.Requests, NumErrors: e.Errors, LastError: e.LastError, ProcessingTime: e.Busy,
			}
			if e.Requests > 0 {
				one.AverageProcessingTime = e.Busy / time.Duration(e.Requests)
			}
			stats.Endpoints = append(stats.Endpoints, one)
		}
		return stats
	default:
		return micro.Ping{ServiceIdentity: id, Type: micro.PingResponseType}
	}
}

// semantic is the form of versions that the protocol requires (semver.org).
var semantic = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
})

// semanticVersion converts a version to the form that the protocol requires.
func semanticVersion(version string) string {
	if version = strings.TrimPrefix(version, "v"); semantic().MatchString(version) {
		return version
	}
	return "0.0.0"
}
