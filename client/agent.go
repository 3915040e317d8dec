package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// MaxWait is the longest that one request waits for the result of a call.
const MaxWait = 60 * time.Second

// Agent is a program that is an agent: it opens sessions at a server and asks for calls in them. It is safe for concurrent
// use, and there is nothing to close. Make it with [DialAgent].
type Agent struct{ c *Client }

// DialAgent finds the server and asks it what the token, which has the role agent, may ask for. Its errors, and those of all
// that follows, are of type [*Error]. The context is for dialling alone.
func DialAgent(ctx context.Context, o Options) (*Agent, error) {
	a := &Agent{c: newClient(o)}
	if _, err := a.Tools(ctx); err != nil {
		return nil, err
	}

	return a, nil
}

// Tools lists the tools that the agent may ask for.
func (a *Agent) Tools(ctx context.Context) ([]api.AgentTool, error) {
	var list api.AgentTools

	err := a.c.call(ctx, to(api.RouteAgentTools), nil, &list)

	return list.Tools, err
}

// Open opens a session. The same request with the same key opens one within a day, however often it is sent; without a key it
// has a new one.
func (a *Agent) Open(ctx context.Context, q api.AgentOpen) (*AgentSession, error) {
	var opened api.OpenAnswer

	err := a.c.again(ctx, &q.Key, func(ctx context.Context, header map[string]string) error {
		return a.c.callWith(ctx, header, to(api.RouteAgentOpen), q, &opened)
	})

	return &AgentSession{c: a.c, ID: opened.Session, Turn: opened.Turn, Name: opened.Name}, err
}

// AgentSession is one session of an agent. It is safe for concurrent use: calls run side by side.
type AgentSession struct {
	c *Client
	// ID and Turn are its ids, Name is what people call it.
	ID, Turn, Name string
}

// Call asks for a call and waits for its result as long as ctx lives. What is wrong with the call is its result; an error says
// that none is known. Where an answer is lost the request is sent again, with the same key (AgentInvoke.Key, or a new one),
// so that there is one call.
func (s *AgentSession) Call(ctx context.Context, q api.AgentInvoke) (api.AgentCall, error) {
	key := keyOf(q.Key)

	return s.until(ctx, func(ctx context.Context) (api.AgentCall, error) {
		return s.ask(ctx, api.RouteAgentInvoke, key, q, MaxWait)
	})
}

// Invoke asks for a call by one request, which waits at most so long (up to [MaxWait]). Without a key it joins a call that was
// cut off and is otherwise the same, or gets its result until [AgentSession.Received] says that somebody has it.
func (s *AgentSession) Invoke(ctx context.Context, q api.AgentInvoke, wait time.Duration) (api.AgentCall, error) {
	return s.ask(ctx, api.RouteAgentInvoke, q.Key, q, wait)
}

// Received says that the agent has the result of a call.
func (s *AgentSession) Received(ctx context.Context, call string) error {
	return s.c.call(ctx, to(api.RouteAgentReceived, s.ID, call), nil, nil)
}

// Permission asks, as Call does, whether the agent may do something by itself. [api.AgentCall] says how to read the answer.
func (s *AgentSession) Permission(ctx context.Context, q api.AgentPermission) (api.AgentCall, error) {
	key := keyOf(q.Key)

	return s.until(ctx, func(ctx context.Context) (api.AgentCall, error) {
		return s.ask(ctx, api.RouteAgentPermission, key, q, MaxWait)
	})
}

// Ask asks the person, as Call does.
func (s *AgentSession) Ask(ctx context.Context, q api.AgentQuestion) (api.AgentCall, error) {
	key := keyOf(q.Key)

	return s.until(ctx, func(ctx context.Context) (api.AgentCall, error) {
		return s.ask(ctx, api.RouteAgentQuestion, key, q, MaxWait)
	})
}

// Question asks the person by one request, which waits at most so long (up to [MaxWait]).
func (s *AgentSession) Question(ctx context.Context, q api.AgentQuestion, wait time.Duration) (api.AgentCall, error) {
	return s.ask(ctx, api.RouteAgentQuestion, q.Key, q, wait)
}

// Wait waits for the result of a call by one request, at most so long (up to [MaxWait]).
func (s *AgentSession) Wait(ctx context.Context, call string, wait time.Duration) (api.AgentCall, error) {
	var c api.AgentCall

	err := s.c.callFor(ctx, wait+callTime, nil, to(api.RouteAgentCall, s.ID, call).with(waits(wait)), nil, &c)

	return c, err
}

// Report tells something of the agent's work, once.
func (s *AgentSession) Report(ctx context.Context, q api.AgentReport) error {
	return s.c.again(ctx, &q.Key, func(ctx context.Context, header map[string]string) error {
		return s.c.callWith(ctx, header, to(api.RouteAgentReport, s.ID), q, nil)
	})
}

// End ends the session.
func (s *AgentSession) End(ctx context.Context, q api.AgentEnd) error {
	key := ""

	return s.c.again(ctx, &key, func(ctx context.Context, _ map[string]string) error {
		return s.c.call(ctx, to(api.RouteAgentEnd, s.ID), q, nil)
	})
}

// Describe says how the session stands.
func (s *AgentSession) Describe(ctx context.Context) (api.Session, error) {
	var session api.Session

	err := s.c.call(ctx, to(api.RouteAgentSession, s.ID), nil, &session)

	return session, err
}

// ask makes one request that waits.
func (s *AgentSession) ask(ctx context.Context, route, key string, q any, wait time.Duration) (api.AgentCall, error) {
	var c api.AgentCall

	var header map[string]string
	if key != "" {
		header = map[string]string{api.KeyHeader: key}
	}

	err := s.c.callFor(ctx, wait+callTime, header, to(route, s.ID).with(waits(wait)), q, &c)

	return c, err
}

// until asks and waits until there is a result. A lost server is tried for again until it has been away for the client's patience.
func (s *AgentSession) until(ctx context.Context, ask func(context.Context) (api.AgentCall, error)) (api.AgentCall, error) {
	var (
		known api.AgentCall
		lost  time.Time
	)

	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		var (
			c   api.AgentCall
			err error
		)

		if known.ID == "" {
			c, err = ask(ctx)
		} else {
			c, err = s.Wait(ctx, known.ID, MaxWait)
		}

		switch {
		case err == nil && c.Ended():
			return c, nil
		case err == nil:
			known, lost, pause = c, time.Time{}, firstPause

			continue
		case lost.IsZero():
			lost = s.c.o.Now()
		}

		if !s.c.maySendAgain(err, true) || s.c.o.Now().Sub(lost) > s.c.o.ReconnectTimeout || wait(ctx, pause) != nil {
			return known, err
		}
	}
}

// again makes a request again where no answer comes, for up to half a minute, with the same key.
func (c *Client) again(ctx context.Context, key *string, request func(ctx context.Context, header map[string]string) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()

	*key = keyOf(*key)
	header := map[string]string{api.KeyHeader: *key}
	lost := false

	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := request(ctx, header)
		if err == nil || !c.maySendAgain(err, lost) || wait(ctx, pause) != nil {
			return err
		}

		lost = true
	}
}

func keyOf(key string) string {
	if key == "" {
		return rand.Text()
	}

	return key
}

// waits is the query of a request that waits.
func waits(d time.Duration) url.Values {
	return url.Values{"wait": {strconv.Itoa(int(min(max(d, 0), MaxWait) / time.Second))}, "receipt": {"later"}}
}

// Stopped reports whether an error says that a person has stopped the session: nothing more is done in it.
func Stopped(err error) bool {
	var e *Error

	return errors.As(err, &e) && e.Stopped
}
