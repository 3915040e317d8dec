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

// MaxWait is the longest time that one request may wait for the result of a call.
const MaxWait = 60 * time.Second

// Agent is the client of an agent program: it opens sessions at a server and requests calls in them. It is safe for
// concurrent use and needs no closing. Use [DialAgent] to create one.
type Agent struct{ c *Client }

// DialAgent connects to the server and reads what the token may do; the token needs the role agent. DialAgent and all
// methods return errors of type [*Error]. The context covers dialling only.
func DialAgent(ctx context.Context, o Options) (*Agent, error) {
	a := &Agent{c: newClient(o)}
	if _, err := a.Tools(ctx); err != nil {
		return nil, err
	}

	return a, nil
}

// NewAgent returns the client of an agent program without asking the server for anything: what is wrong with the options or the token is the
// error of the first request.
func NewAgent(o Options) *Agent { return &Agent{c: newClient(o)} }

// Tools lists the tools that the agent may request.
func (a *Agent) Tools(ctx context.Context) ([]api.AgentTool, error) {
	var list api.AgentTools

	err := a.c.call(ctx, to(api.RouteAgentTools), nil, &list)

	return list.Tools, err
}

// Open opens a session. Within a day, the same request with the same key opens only one session, however often it is
// sent. Without a key, Open generates one.
func (a *Agent) Open(ctx context.Context, q api.AgentOpen) (*AgentSession, error) {
	var opened api.OpenAnswer

	err := a.c.again(ctx, &q.Key, func(ctx context.Context, header map[string]string) error {
		return a.c.callWith(ctx, header, to(api.RouteAgentOpen), q, &opened)
	})

	return &AgentSession{c: a.c, ID: opened.Session, Turn: opened.Turn, Name: opened.Name}, err
}

// Act has one tool called, as a person asks for it at a user interface, or says what became of that: the same action again
// is the same call. It returns at once; an action that is [api.ActionAccepted] is under way.
func (a *Agent) Act(ctx context.Context, q api.AgentAction) (api.ActionAnswer, error) {
	var answer api.ActionAnswer

	err := a.c.call(ctx, to(api.RouteAgentAct), q, &answer)

	return answer, err
}

// Session returns a session that the agent has opened elsewhere, by its id. It asks the server for nothing: an unknown id
// is the error of the first request.
func (a *Agent) Session(id string) *AgentSession { return &AgentSession{c: a.c, ID: id} }

// AgentSession is one session of an agent. It is safe for concurrent use; calls run concurrently.
type AgentSession struct {
	c *Client
	// ID and Turn are the session's ids, Name is its name for people.
	ID, Turn, Name string

	leaves bool
}

// WithdrawOnLeave returns the session for a program that does not come back for an answer: if no request of
// [AgentSession.Permission], [AgentSession.RequestPermission] or [AgentSession.Wait] has waited for a permission for some
// seconds, its question is withdrawn. Otherwise it stays open for the next request. After a lost connection,
// [AgentSession.Permission] goes on with the same question if it comes back in time; if not, its result is not a yes and has
// the code [utp.CodeConsentWithdrawn].
func (s *AgentSession) WithdrawOnLeave() *AgentSession {
	other := *s
	other.leaves = true

	return &other
}

// Call requests a call and waits for its result until ctx ends. A call that fails still has a result; an error means
// that no result is known. If an answer is lost, Call repeats the request with the same key (AgentInvoke.Key, or a new
// one), so that only one call is made.
func (s *AgentSession) Call(ctx context.Context, q api.AgentInvoke) (api.AgentCall, error) {
	key := keyOf(q.Key)

	return s.until(ctx, func(ctx context.Context) (api.AgentCall, error) {
		return s.ask(ctx, api.RouteAgentInvoke, key, q, MaxWait)
	})
}

// Invoke requests a call with one request, which waits at most the given time (up to [MaxWait]). Without a key, it
// joins an identical call that was interrupted, or returns that call's result until it is acknowledged with
// [AgentSession.Received].
func (s *AgentSession) Invoke(ctx context.Context, q api.AgentInvoke, wait time.Duration) (api.AgentCall, error) {
	return s.ask(ctx, api.RouteAgentInvoke, q.Key, q, wait)
}

// Received acknowledges that the agent has the result of a call.
func (s *AgentSession) Received(ctx context.Context, call string) error {
	return s.c.call(ctx, to(api.RouteAgentReceived, s.ID, call), nil, nil)
}

// Permission asks, as Call does, whether the agent may do something itself. [api.AgentCall] describes the answer.
func (s *AgentSession) Permission(ctx context.Context, q api.AgentPermission) (api.AgentCall, error) {
	key := keyOf(q.Key)

	return s.until(ctx, func(ctx context.Context) (api.AgentCall, error) {
		return s.ask(ctx, api.RouteAgentPermission, key, q, MaxWait)
	})
}

// RequestPermission asks, with one request as Invoke does, whether the agent may do something itself.
func (s *AgentSession) RequestPermission(ctx context.Context, q api.AgentPermission, wait time.Duration) (api.AgentCall, error) {
	return s.ask(ctx, api.RouteAgentPermission, q.Key, q, wait)
}

// Ask asks the person a question, and waits as Call does.
func (s *AgentSession) Ask(ctx context.Context, q api.AgentQuestion) (api.AgentCall, error) {
	key := keyOf(q.Key)

	return s.until(ctx, func(ctx context.Context) (api.AgentCall, error) {
		return s.ask(ctx, api.RouteAgentQuestion, key, q, MaxWait)
	})
}

// Question asks the person with one request, which waits at most the given time (up to [MaxWait]).
func (s *AgentSession) Question(ctx context.Context, q api.AgentQuestion, wait time.Duration) (api.AgentCall, error) {
	return s.ask(ctx, api.RouteAgentQuestion, q.Key, q, wait)
}

// Wait waits for the result of a call with one request, at most the given time (up to [MaxWait]).
func (s *AgentSession) Wait(ctx context.Context, call string, wait time.Duration) (api.AgentCall, error) {
	var c api.AgentCall

	err := s.c.callFor(ctx, wait+callTime, nil, to(api.RouteAgentCall, s.ID, call).with(s.waits(wait)), nil, &c)

	return c, err
}

// Report reports something about the agent's work, once.
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

// Describe returns the state of the session.
func (s *AgentSession) Describe(ctx context.Context) (api.Session, error) {
	var session api.Session

	err := s.c.call(ctx, to(api.RouteAgentSession, s.ID), nil, &session)

	return session, err
}

// ask makes one request that waits for a result.
func (s *AgentSession) ask(ctx context.Context, route, key string, q any, wait time.Duration) (api.AgentCall, error) {
	var c api.AgentCall

	var header map[string]string
	if key != "" {
		header = map[string]string{api.KeyHeader: key}
	}

	err := s.c.callFor(ctx, wait+callTime, header, to(route, s.ID).with(s.waits(wait)), q, &c)

	return c, err
}

// until repeats a request until there is a result. It retries a lost server for up to Options.ReconnectTimeout.
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

// again repeats a request with the same key for up to half a minute if no answer comes.
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

// waits returns the query of a request that waits.
func (s *AgentSession) waits(d time.Duration) url.Values {
	query := url.Values{"wait": {strconv.Itoa(int(min(max(d, 0), MaxWait) / time.Second))}, "receipt": {"later"}}
	if s.leaves {
		query.Set("leave", "withdraw")
	}

	return query
}

// Stopped reports whether err means that a person has stopped the session, so that nothing more can be done in it.
func Stopped(err error) bool {
	var e *Error

	return errors.As(err, &e) && e.Stopped
}
