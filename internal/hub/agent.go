package hub

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

const (
	// lease is how long a request for a call counts as open without renewal, and renewal is the interval between
	// renewals. If the hub dies, no call waits for longer than a lease.
	lease   = 15 * time.Second
	renewal = 5 * time.Second
	// resultGrace is how long an agent that got an answer before the result may take to ask again. Meanwhile the call
	// may start.
	resultGrace = 5 * time.Second
	// goodbye is the timeout for reporting that a request has closed while somebody waits for that. If it fails, its lease
	// ends the request.
	goodbye = 2 * time.Second
)

// Agent is the hub's interface for one external agent. The agent sees only its own sessions.
type Agent struct {
	hub *Hub
	who access.Principal

	leaves bool
}

// AsAgent returns the hub's interface for an agent.
func (h *Hub) AsAgent(who access.Principal) *Agent { return &Agent{hub: h, who: who} }

// WithdrawOnLeave returns the interface for requests of a program that does not come back for an answer: an open question
// about what it does itself is withdrawn once no request for it has been there for a few seconds. A request that ends with
// [ErrClosing] does not count as gone.
func (a *Agent) WithdrawOnLeave() *Agent { return &Agent{hub: a.hub, who: a.who, leaves: true} }

// acts returns the agent's principal with its current rights, or an error if it has none.
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

// Open opens a session of the agent for a person whom its token names.
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

// Act has one tool called for a person, in a session that ends with that call, or says how that stands.
func (a *Agent) Act(ctx context.Context, q api.ActRequest) (api.ActionAnswer, error) {
	var answer api.ActionAnswer
	who, err := a.acts()
	if err != nil {
		return answer, err
	}
	if q.Owner, err = a.owner(who, q.Owner); err != nil {
		return answer, err
	}
	q.Agent = who.Name
	err = rpc.AskUntil(ctx, a.hub.o.Conn, api.OpAct, q, &answer)
	return answer, err
}

// owner returns the owner of the new session.
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

// Offered lists the tools that the agent may call.
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

// Invoke requests a call with these arguments and waits for its result, for at most wait. The request counts as open
// until it returns. An irreversible call starts only while its request is open.
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
	w, stop := a.waiter(q.Session)
	defer stop()
	if err := a.ask(ctx, api.OpInvoke, q, &s); err != nil || wait <= 0 {
		a.hub.attended.report(callRef{q.Session, s.Call})
		a.looked(ctx, speaks, s)
		return s, err
	}
	joined := s.Joined
	s, err = a.wait(ctx, speaks, s, wait, w)
	s.Joined = joined
	return s, err
}

// Await waits for the result of a call, like Invoke.
func (a *Agent) Await(ctx context.Context, session, call string, wait time.Duration) (api.CallStatus, error) {
	w, stop := a.waiter(session)
	defer stop()
	speaks, s, err := a.status(ctx, session, call, wait > 0)
	if err != nil || wait <= 0 {
		a.looked(ctx, speaks, s)
		return s, err
	}
	return a.wait(ctx, speaks, s, wait, w)
}

// status reads the status of a call; waiting marks a request for it as open.
func (a *Agent) status(ctx context.Context, session, call string, waiting bool) (api.OutsideRequest, api.CallStatus, error) {
	var s api.CallStatus
	speaks, err := a.speaks(session)
	if err != nil {
		return speaks, s, err
	}
	q := api.AwaitRequest{OutsideRequest: speaks, Call: call, Peek: !waiting, AwaitMS: int(lease.Milliseconds())}
	err = a.ask(ctx, api.OpAwait, q, &s)
	return speaks, s, err
}

// ask asks the kernel something that opens a request, and waits for the answer longer than ctx, up to a lease. Otherwise a
// program that hangs up while the kernel is busy would leave a request open that nobody closes: what it asked for could
// start for nobody, until the lease has expired.
func (a *Agent) ask(ctx context.Context, op string, q any, s *api.CallStatus) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) //nolint:wrapcheck // the caller has gone
	}
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(parting(ctx), cancel) })()
	return rpc.AskUntil(asking, a.hub.o.Conn, op, q, s)
}

// Watch yields the status of a call, now and after each change, until the call or the context has ended. The request
// counts as open meanwhile. An error is the last value.
func (a *Agent) Watch(ctx context.Context, session, call string) iter.Seq2[api.CallStatus, error] {
	return func(yield func(api.CallStatus, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w, stop := a.waiter(session)
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
		w.each = func(now api.CallStatus) {
			if changed(now, last) && !now.Ended() && !yield(now, nil) {
				cancel()
			}
			last = now
		}
		s, err = a.wait(ctx, speaks, s, 0, w)
		if ctx.Err() == nil {
			yield(s, err)
		}
	}
}

// changed reports whether the status of a call differs from before.
func changed(now, before api.CallStatus) bool {
	return now.State != before.State || now.Question != before.Question || !now.AnswerBy.Equal(before.AnswerBy) || now.Stopping != before.Stopping
}

// waiter is a request that waits for a call.
type waiter struct {
	news    <-chan struct{}      // of its session
	reports uint64               // see [attendance]; as the request came
	again   again                // of [attendance], once it waits
	each    func(api.CallStatus) // if set, is given each status
}

// waiter returns a request that comes now.
func (a *Agent) waiter(session string) (w waiter, stop func()) {
	w.news, stop = a.hub.feed.watch(session)
	w.reports = a.hub.attended.reported()
	return w, stop
}

// wait waits until the call has ended, for at most wait (0: until the context ends), and keeps a request for it open.
func (a *Agent) wait(ctx context.Context, speaks api.OutsideRequest, s api.CallStatus, wait time.Duration, w waiter) (api.CallStatus, error) {
	call := callRef{speaks.Session, s.Call}
	w.again = a.hub.attended.enter(call, a.leaves, w.reports)
	q := api.AwaitRequest{OutsideRequest: speaks, Call: s.Call, AwaitMS: int(lease.Milliseconds())}
	s, answered, err := a.untilEnd(ctx, q, s, wait, w)
	last, stays := a.hub.attended.exit(call, w.again)
	switch {
	case s.Ended() || !last: // what another request waits for stays open
		return s, err
	case answered:
		q.AwaitMS, q.Answered = int(resultGrace.Milliseconds()), true
		a.close(ctx, q, goodbye)
	default:
		q.AwaitMS = 0
		a.close(ctx, q, parting(ctx))
	}
	if !stays {
		a.depart(ctx, q)
	}
	return s, err
}

// untilEnd waits until the call has ended, or says that the time to wait is over.
func (a *Agent) untilEnd(
	ctx context.Context, q api.AwaitRequest, s api.CallStatus, wait time.Duration, w waiter,
) (_ api.CallStatus, answered bool, _ error) {
	var deadline <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		deadline = timer.C
	}
	renew := time.NewTicker(renewal)
	defer renew.Stop()
	for !s.Ended() {
		q.Peek = true
		select {
		case <-ctx.Done():
			return s, false, context.Cause(ctx) //nolint:wrapcheck // anyone who asked has gone
		case <-deadline:
			return s, true, nil
		case <-renew.C:
			if _, err := a.acts(); err != nil { // its token may have been revoked
				return s, false, err
			}
			q.Peek = false
		case <-w.again:
			q.Peek = false
		case <-w.news:
			if !a.hub.feed.passed(q.Session, s.Last) {
				continue
			}
		}
		var now api.CallStatus
		err := a.ask(ctx, api.OpAwait, q, &now)
		if ctx.Err() != nil {
			continue // it reports that itself
		}
		if err != nil {
			return s, false, err
		}
		if s = now; w.each != nil {
			w.each(s)
		}
	}
	return s, false, nil
}

// looked notes that a program has asked for a call without waiting for it.
func (a *Agent) looked(ctx context.Context, speaks api.OutsideRequest, s api.CallStatus) {
	switch {
	case s.Call == "" || s.Ended():
	case a.leaves:
		a.depart(ctx, api.AwaitRequest{OutsideRequest: speaks, Call: s.Call})
	default:
		a.hub.attended.stay(callRef{speaks.Session, s.Call})
	}
}

// depart withdraws the question of a call unless its program comes back soon.
func (a *Agent) depart(ctx context.Context, q api.AwaitRequest) {
	if errors.Is(context.Cause(ctx), ErrClosing) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	a.hub.attended.depart(callRef{q.Session, q.Call}, func() {
		a.close(ctx, api.AwaitRequest{OutsideRequest: q.OutsideRequest, Call: q.Call, Abandoned: true}, goodbye)
	})
}

// parting is how long the report may take that a request has closed for which nobody waits any more: until its lease ends
// it anyway, unless the server closes.
func parting(ctx context.Context) time.Duration {
	if errors.Is(context.Cause(ctx), ErrClosing) {
		return goodbye
	}
	return lease
}

// close reports how the request for a call has closed.
func (a *Agent) close(ctx context.Context, q api.AwaitRequest, within time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	q.Peek = false
	if err := rpc.AskUntil(ctx, a.hub.o.Conn, api.OpAwait, q, nil); err != nil {
		a.hub.o.Logger.Info("that a request is closed is not noted", "call", q.Call, "reason", err)
	}
	a.hub.attended.report(callRef{q.Session, q.Call})
}

// Received acknowledges that the agent has received the result of a call.
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

// Report forwards the agent's report of what it is doing.
func (a *Agent) Report(ctx context.Context, q api.AgentReportRequest) (err error) {
	if q.OutsideRequest, err = a.speaks(q.Session); err != nil {
		return err
	}
	return rpc.Ask(ctx, a.hub.o.Conn, api.OpAgentReport, q, nil)
}

// Close ends the session with the outcome that the agent reports.
func (a *Agent) Close(ctx context.Context, q api.CloseRequest) (err error) {
	if q.OutsideRequest, err = a.speaks(q.Session); err != nil {
		return err
	}
	return rpc.AskUntil(ctx, a.hub.o.Conn, api.OpClose, q, nil)
}

// Session describes one of the agent's sessions. It returns [ErrNotFound] for a session of another agent.
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
