package commonground

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// stream is the one in which they keep commands and wakeups. Whichever process of theirs connects first makes it.
	stream = "cg_cmd_" + utp.Version

	publishTimeout = 10 * time.Second
	wakeupWait     = 30 * time.Second
	wakeupAgain    = 2 * time.Second
)

// jets is their NATS with its JetStream.
type jets struct {
	nc *nats.Conn
	js jetstream.JetStream
}

// openStream connects, and refuses a NATS without their stream.
func openStream(ctx context.Context, o Options) (*jets, error) {
	auth := o.NATSAuth
	options := []nats.Option{
		nats.Name("earshot-bridge"), nats.Timeout(connectTimeout), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), // a command never leaves later than it was sent
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			o.Logger.Warn("commonground: its NATS", "error", err)
		}),
	}
	if auth.Credentials != "" {
		options = append(options, nats.UserCredentials(auth.Credentials))
	}
	if auth.CA != "" {
		options = append(options, nats.RootCAs(auth.CA))
	}
	if auth.Cert != "" || auth.Key != "" {
		options = append(options, nats.ClientCert(auth.Cert, auth.Key))
	}
	nc, err := nats.Connect(o.NATS, options...)
	if err != nil {
		return nil, cause.Fail(err, "CommonGround's NATS at "+o.NATS+" cannot be reached",
			"name it with --nats (its setting nats.servers), and see that it is up and lets the bridge in (--nats-creds, --nats-ca, --nats-cert)")
	}
	j := &jets{nc: nc}
	if j.js, err = jetstream.New(nc); err == nil {
		err = j.check(ctx)
	}
	if err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

func (j *jets) check(ctx context.Context) error {
	_, err := j.js.Stream(ctx, stream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return cause.Fail(nil, "the NATS at "+j.nc.ConnectedUrlRedacted()+" has no stream "+stream, "start a service of CommonGround of "+utp.Version+" there first: it makes the stream")
	case err != nil:
		return cause.Fail(err, "the stream "+stream+" cannot be looked at", "see that JetStream is on there, and that the bridge may use it")
	}
	return nil
}

func (j *jets) close() { j.nc.Close() }

// publish puts a command into their stream.
func (j *jets) publish(ctx context.Context, c call) error {
	return j.put(ctx, &nats.Msg{Subject: c.subject, Header: nats.Header(c.header), Data: c.payload})
}

// put publishes a message to their stream. It has no header of NATS's own, such as the id of a message or the stream that is
// expected: their processes copy the headers that they get onto what they publish themselves, and NATS would drop or refuse that.
func (j *jets) put(ctx context.Context, m *nats.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	ack, err := j.js.PublishMsg(ctx, m)
	if err == nil && ack.Stream != stream {
		err = errors.New("the stream " + ack.Stream + " has taken it; expected " + stream)
	}
	return err
}

const (
	servedTries = 5
	servedPause = 100 * time.Millisecond
)

// served reports whether a service hears a subject now: one of the stream's consumers waits for a message there, or is at
// work on one. Their stream keeps a command for a day. Without a service it would be executed when nobody expects it any more.
func (j *jets) served(ctx context.Context, subject string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	s, err := j.js.Stream(ctx, stream)
	for range servedTries {
		if err != nil {
			return false, err //nolint:wrapcheck // the caller says what it was
		}
		all := s.ListConsumers(ctx)
		for c := range all.Info() {
			filters := append(slices.Clone(c.Config.FilterSubjects), c.Config.FilterSubject)
			hears := slices.ContainsFunc(filters, func(filter string) bool { return matches(filter, subject) })
			if hears && (c.NumWaiting > 0 || c.NumAckPending > 0 || c.PushBound) {
				return true, nil
			}
		}
		if err = all.Err(); err == nil { // between two of its requests, a service is not there for a moment
			pause(ctx, servedPause)
		}
	}
	return false, err //nolint:wrapcheck // the caller says what it was
}

// matches reports whether a subject is one of a pattern's.
func matches(pattern, subject string) bool {
	want, got := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range want {
		switch {
		case token == ">":
			return len(got) > i
		case len(got) <= i || token != "*" && token != got[i]:
			return false
		}
	}
	return len(got) == len(want)
}

// pause waits for d or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// wakeups calls handle for each wakeup of the bridge's agent, one after the other, until stop is called. One that handle
// fails on comes again.
func (j *jets) wakeups(ctx context.Context, project, agent, target string, handle func() error) (stop func(), err error) {
	consumer, err := j.js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Durable: "earshot_bridge_" + project + "_" + agent, Description: "Earshot's bridge collects results by it",
		FilterSubject: "cg." + utp.Version + "." + project + ".*.cmd.agent." + target + "." + utp.SuffixWakeup,
		AckPolicy:     jetstream.AckExplicitPolicy, AckWait: wakeupWait, DeliverPolicy: jetstream.DeliverNewPolicy,
	})
	if err != nil {
		return nil, cause.Fail(err, "the bridge cannot have a consumer of the stream "+stream, "see that it may make one there")
	}
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		if handle() != nil {
			_ = m.NakWithDelay(wakeupAgain) // without it, it comes again after wakeupWait
			return
		}
		_ = m.Ack() // without it, it comes again, and changes nothing
	})
	if err != nil {
		return nil, cause.Fail(err, "the stream "+stream+" cannot be listened to", "see that its NATS is up")
	}
	return func() {
		consuming.Stop()
		<-consuming.Closed()
	}, nil
}

// commands calls handle for each command of their agents to a tool of Earshot, until stop is called. What handle does not
// acknowledge comes again. Commands from before the bridge first came are not taken: nobody expects them any more.
func (j *jets) commands(ctx context.Context, project, agent string, handle func(jetstream.Msg)) (stop func(), err error) {
	consumer, err := j.js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Durable: "earshot_bridge_" + project + "_" + agent + "_tools", Description: "Earshot's bridge takes commands to its tools by it",
		FilterSubject: "cg." + utp.Version + "." + project + ".*.cmd.tool." + agent + ".*",
		AckPolicy:     jetstream.AckExplicitPolicy, AckWait: commandWait, DeliverPolicy: jetstream.DeliverNewPolicy, MaxAckPending: commandsAtOnce,
	})
	if err != nil {
		return nil, cause.Fail(err, "the bridge cannot have a consumer for commands of the stream "+stream, "see that it may make one there")
	}
	consuming, err := consumer.Consume(handle)
	if err != nil {
		return nil, cause.Fail(err, "the stream "+stream+" cannot be listened to", "see that its NATS is up")
	}
	return func() {
		consuming.Stop()
		<-consuming.Closed()
	}, nil
}

// ring wakes the worker whose call has ended. One that is lost is rung by their own watchdog, or when the command comes again.
func (j *jets) ring(ctx context.Context, c theirCall, now time.Time) error {
	if !utp.ValidToken(c.anchor.target) {
		return nil // nobody serves it
	}
	subject, err := utp.Wakeup(c.context.ProjectID, c.context.ChannelID, c.anchor.target)
	if err != nil {
		return err
	}
	header, err := utp.EncodeWakeup(c.context, utp.Stamp{At: now})
	if err != nil {
		return err
	}
	return j.put(ctx, &nats.Msg{Subject: subject.String(), Header: nats.Header(header), Data: []byte("{}")})
}
