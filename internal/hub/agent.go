package hub

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

const (
	// lease is for how long a request for a call counts as open without another word, and renewal how soon that is said again.
	// A hub that dies keeps no call waiting for longer.
	lease   = 15 * time.Second
	renewal = 5 * time.Second
	// resultGrace is how long an agent that was answered before the result may take to ask again: what may begin begins meanwhile.
	resultGrace = 5 * time.Second
	// goodbye is how long it may take to say that a request is closed. If that fails, its lease ends it.
	goodbye = 2 * time.Second
)

// Agent is the hub as one agent may use it that is a program outside. It sees its own sessions and nothing else.
type Agent struct {
	hub *Hub
	who access.Principal
}

// AsAgent returns the hub as an agent may use it.
func (h *Hub) AsAgent(who access.Principal) *Agent { return &Agent{hub: h, who: who} }

// acts returns the agent's name, if it may act at all.
func (a *Agent) acts() (access.Principal, error) {
	who, err := a.hub.current(a.who)
	if err != nil {
		return who, err
	}
	if !who.May(api.Act) {
		return who, notAllowed("only an agent acts as one", "use a token with the role agent, such as `earshot token add NAME --role agent` makes")
	}
	return who, nil
}

func (a *Agent) speaks(session string) (api.OutsideRequest, error) {
	who, err := a.acts()
	return api.OutsideRequest{Session: session, Agent: who.Name}, err
}

// Open opens a session for the agent, of a person whom its token is for.
func (a *Agent) Open(ctx context.Context, q api.OpenRequest) (api.OpenAnswer, error) {
	var answer api.OpenAnswer
	who, err := a.acts()
	if err != nil {
		return answer, err
	}
	if q.Owner, err = a.owner(who, q.Owner); err != nil {
		return answer, err
	}
	q.Agent = who.Name
	err = rpc.Ask(ctx, a.hub.o.Conn, api.OpOpen, q, &answer)
	return answer, err
}

// owner is whose session it is to be.
func (a *Agent) owner(who access.Principal, requested string) (string, error) {
	people := slices.DeleteFunc(slices.Clone(who.Owners), func(owner string) bool { return owner == access.Everybody })
	if len(people) == 0 {
		people = []string{a.hub.o.Owner}
	}
	if requested == "" {
		return people[0], nil
	}
	if slices.Contains(people, requested) || slices.Contains(who.Owners, access.Everybody) {
		return requested, nil
	}
	return "", notAllowed("the agent's token is not for sessions of that person", "leave the owner out, or make a token with --owner")
}

// Offered lists the tools that the agent may ask for.
func (a *Agent) Offered(ctx context.Context) ([]api.OfferedTool, error) {
	who, err := a.acts()
	if err != nil {
		return nil, err
	}
	var all []api.OfferedTool
	for q := (api.OfferedRequest{Agent: who.Name}); ; {
		var page api.OfferedAnswer
		if err := rpc.AskUntil(ctx, a.hub.o.Conn, api.OpOffered, q, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		if q.After = page.Next; q.After == "" {
			return all, nil
		}
	}
}

// Invoke asks for a call with these arguments and waits for its result, at most so long. The request counts as open until then,
// and no longer than its context: what cannot be repeated starts only meanwhile.
func (a *Agent) Invoke(ctx context.Context, q api.InvokeRequest, args jsontext.Value, wait time.Duration) (api.CallStatus, error) {
	var s api.CallStatus
	speaks, err := a.speaks(q.Session)
	if err != nil {
		return s, err
	}
	q.OutsideRequest, q.AwaitMS = speaks, int(lease.Milliseconds())
	if wait <= 0 {
		q.AwaitMS, q.Answered = int(resultGrace.Milliseconds()), true
	}
	if q.Question == nil {
		if q.Args, err = rpc.StoreFor(ctx, a.hub.o.Conn, q.Agent, args); err != nil {
			return s, err
		}
	}
	news, stop := a.hub.feed.watch(q.Session)
	defer stop()
	if err := rpc.AskUntil(ctx, a.hub.o.Conn, api.OpInvoke, q, &s); err != nil || wait <= 0 {
		return s, err
	}
	joined := s.Joined
	s, err = a.wait(ctx, speaks, s, wait, news, nil)
	s.Joined = joined
	return s, err
}

// Await waits for the result of a call, as Invoke does.
func (a *Agent) Await(ctx context.Context, session, call string, wait time.Duration) (api.CallStatus, error) {
	news, stop := a.hub.feed.watch(session)
	defer stop()
	speaks, s, err := a.status(ctx, session, call, wait > 0)
	if err != nil || wait <= 0 {
		return s, err
	}
	return a.wait(ctx, speaks, s, wait, news, nil)
}

// status asks how a call stands; waiting says that a request for it is open.
func (a *Agent) status(ctx context.Context, session, call string, waiting bool) (api.OutsideRequest, api.CallStatus, error) {
	var s api.CallStatus
	speaks, err := a.speaks(session)
	if err != nil {
		return speaks, s, err
	}
	q := api.AwaitRequest{OutsideRequest: speaks, Call: call, Peek: !waiting, AwaitMS: int(lease.Milliseconds())}
	err = rpc.AskUntil(ctx, a.hub.o.Conn, api.OpAwait, q, &s)
	return speaks, s, err
}

// Watch yields how a call stands, now and after each change, until it has ended or the context has. The request counts as open
// meanwhile. An error is the last thing that it yields.
func (a *Agent) Watch(ctx context.Context, session, call string) iter.Seq2[api.CallStatus, error] {
	return func(yield func(api.CallStatus, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		news, stop := a.hub.feed.watch(session)
		defer stop()
		speaks, s, err := a.status(ctx, session, call, true)
		if err != nil {
			yield(s, err)
			return
		}
		if !yield(s, nil) || s.Ended() {
			return
		}
		last := s
		s, err = a.wait(ctx, speaks, s, 0, news, func(now api.CallStatus) {
			if changed(now, last) && !now.Ended() && !yield(now, nil) {
				cancel()
			}
			last = now
		})
		if ctx.Err() == nil {
			yield(s, err)
		}
	}
}

// changed reports whether a call stands otherwise than before.
func changed(now, before api.CallStatus) bool {
	return now.State != before.State || now.Question != before.Question || !now.AnswerBy.Equal(before.AnswerBy) || now.Stopping != before.Stopping
}

// wait waits until the call has ended, at most so long (0: as long as the context), and keeps a request for it open meanwhile.
func (a *Agent) wait(ctx context.Context, speaks api.OutsideRequest, s api.CallStatus, wait time.Duration, news <-chan struct{}, each func(api.CallStatus)) (api.CallStatus, error) {
	var deadline <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		deadline = timer.C
	}
	renew := time.NewTicker(renewal)
	defer renew.Stop()
	q := api.AwaitRequest{OutsideRequest: speaks, Call: s.Call, AwaitMS: int(lease.Milliseconds())}
	for !s.Ended() {
		q.Peek = true
		select {
		case <-ctx.Done():
			a.letGo(ctx, q)
			return s, context.Cause(ctx) //nolint:wrapcheck // anyone who asked has gone
		case <-deadline:
			q.AwaitMS, q.Answered = int(resultGrace.Milliseconds()), true
			a.close(ctx, q)
			return s, nil
		case <-renew.C:
			if _, err := a.acts(); err != nil { // its token may have been revoked
				a.letGo(ctx, q)
				return s, err
			}
			q.Peek = false
		case <-news:
		}
		var now api.CallStatus
		err := rpc.AskUntil(ctx, a.hub.o.Conn, api.OpAwait, q, &now)
		if ctx.Err() != nil {
			continue // it says so itself
		}
		if err != nil {
			a.letGo(ctx, q)
			return s, err
		}
		if s = now; each != nil {
			each(s)
		}
	}
	return s, nil
}

// letGo says that the request for a call is closed, and nobody has an answer.
func (a *Agent) letGo(ctx context.Context, q api.AwaitRequest) {
	q.AwaitMS = 0
	a.close(ctx, q)
}

// close says how the request for a call has closed.
func (a *Agent) close(ctx context.Context, q api.AwaitRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	q.Peek = false
	if err := rpc.AskUntil(ctx, a.hub.o.Conn, api.OpAwait, q, nil); err != nil {
		a.hub.o.Logger.Info("that a request is closed is not noted", "call", q.Call, "reason", err)
	}
}

// Received says that the agent has got the result of a call.
func (a *Agent) Received(ctx context.Context, session, call string) {
	speaks, err := a.speaks(session)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	q := api.AwaitRequest{OutsideRequest: speaks, Call: call, Received: true}
	if err := rpc.AskUntil(ctx, a.hub.o.Conn, api.OpAwait, q, nil); err != nil {
		a.hub.o.Logger.Info("that a result was received is not noted", "call", call, "reason", err)
	}
}

// Result reads the result of a call.
func (a *Agent) Result(ctx context.Context, s api.CallStatus) (jsontext.Value, error) {
	return rpc.Fetch(ctx, a.hub.o.Conn, s.Result)
}

// Report passes on what the agent says of its work.
func (a *Agent) Report(ctx context.Context, q api.AgentReportRequest) (err error) {
	if q.OutsideRequest, err = a.speaks(q.Session); err != nil {
		return err
	}
	return rpc.Ask(ctx, a.hub.o.Conn, api.OpAgentReport, q, nil)
}

// Close ends the session with the agent's own word.
func (a *Agent) Close(ctx context.Context, q api.CloseRequest) (err error) {
	if q.OutsideRequest, err = a.speaks(q.Session); err != nil {
		return err
	}
	return rpc.AskUntil(ctx, a.hub.o.Conn, api.OpClose, q, nil)
}

// Session describes a session of the agent's. What is another's is [ErrNotFound].
func (a *Agent) Session(ctx context.Context, id string) (api.SessionRow, error) {
	who, err := a.acts()
	if err != nil {
		return api.SessionRow{}, err
	}
	row, found, err := a.hub.session(ctx, api.SessionsRequest{Session: id})
	if err == nil && (!found || row.Agent != who.Name) {
		err = ErrNotFound
	}
	return row, err
}
