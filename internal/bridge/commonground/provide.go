package commonground

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// commandsAtOnce is how many commands of theirs are worked on at once; the others wait in the stream.
	commandsAtOnce = 64
	// alive is the time between two words to the stream that a command is still worked on; it sends one again after commandWait.
	alive       = 10 * time.Second
	commandWait = 30 * time.Second
	again       = 2 * time.Second
	// parting bounds what is said to Earshot when nobody waits any more.
	parting = 10 * time.Second
)

// provider lets agents of CommonGround use tools of Earshot, and ask its agents: it takes their commands from the stream, asks Earshot for the
// calls as an outside agent, and reports the results in their tables.
//
// It decides nothing. The key of a session and of its call is the id of their call, so a command that comes again, also to
// the next bridge, finds the same call; and their tables take one result for each.
type provider struct {
	o      Options
	log    *slog.Logger
	at     place
	theirs *database
	jets   *jets
	works  sync.WaitGroup // one for each command that is worked on
}

// run takes commands until ctx ends, and waits for those that it has taken.
func (p *provider) run(ctx context.Context) (stop func(), err error) {
	stopTaking, err := p.jets.commands(ctx, p.at.project, p.at.agent, func(m jetstream.Msg) {
		p.works.Go(func() { p.take(ctx, m) })
	})
	if err != nil {
		return nil, err
	}
	return func() {
		stopTaking()
		p.works.Wait()
	}, nil
}

// take works on one delivery of a command. What is not acknowledged comes again.
func (p *provider) take(ctx context.Context, m jetstream.Msg) {
	ctx, cancel := context.WithCancel(ctx)
	var living sync.WaitGroup
	living.Go(func() { stillAlive(ctx, m) })
	err := p.handle(ctx, m)
	ended := ctx.Err() != nil
	cancel()
	living.Wait()
	switch {
	case ended: // the next bridge goes on with it
	case errors.Is(err, errUnusable):
		p.log.Warn("commonground: a command was dropped", "subject", m.Subject(), "error", plain(err))
		_ = m.Term()
	case err != nil:
		p.log.Warn("commonground: a command is tried again", "subject", m.Subject(), "error", plain(err))
		_ = m.NakWithDelay(again)
	default:
		_ = m.Ack() // without it, it comes again, and changes nothing
	}
}

// stillAlive keeps the stream from sending a command again while it is worked on.
func stillAlive(ctx context.Context, m jetstream.Msg) {
	tick := time.NewTicker(alive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = m.InProgress()
		}
	}
}

// errUnusable: nobody can be told of the command, now or later.
var errUnusable = errors.New("it names no call that its sender has entered")

// handle answers a command. An error means that nothing was answered.
func (p *provider) handle(ctx context.Context, m jetstream.Msg) error {
	c, bad := readCommand(m)
	if c.context.ToolCallID == "" || c.context.AgentID == "" || c.context.TurnID == "" {
		return errors.Join(errUnusable, bad)
	}
	a, err := p.theirs.anchor(ctx, p.at.project, c.context)
	if err != nil {
		return err
	}
	c.anchor = a
	switch answered, err := p.theirs.answered(ctx, p.at.project, c.context.ToolCallID); {
	case err != nil:
		return err
	case answered: // by an earlier delivery, or their own watchdog
		return p.jets.ring(ctx, c, p.o.Now())
	}
	if bad == nil {
		bad, err = p.prepare(ctx, &c, m)
		if err != nil {
			return err
		}
	}
	if bad != nil {
		return p.answer(ctx, c, c.refused(p.at, codeOf(bad), plain(bad), p.o.Now()))
	}
	return p.ask(ctx, c)
}

// prepare reads the card of a command and the tool that it names. Bad says what is wrong with the command, err what is
// wrong with the database.
func (p *provider) prepare(ctx context.Context, c *theirCall, m jetstream.Msg) (bad, err error) {
	card, err := p.theirs.card(ctx, p.at.project, c.command.ToolCallCardID)
	if err == nil {
		c.card, err = utp.DecodeToolCall(card)
	}
	if err != nil {
		if passing(err) {
			return nil, err
		}
		return err, nil
	}
	tools, err := p.theirs.tools(ctx, p.at.project, c.command.ToolName)
	if err != nil {
		return nil, err
	}
	t, found := tools[c.command.ToolName]
	if !found {
		return &refusal{utp.CodeNotFound, "the project has no tool " + utp.Shown(c.command.ToolName)}, nil
	}
	if meta, err := m.Metadata(); err == nil {
		c.until = meta.Timestamp.Add(t.patience())
	} else {
		c.until = p.o.Now().Add(t.patience())
	}
	c.tool, c.args = p.named(t.name), c.card.Arguments
	agent := ""
	if c.tool == "" {
		if agent = p.asked(t.name); agent != "" {
			c.tool = askExpert
		}
	}
	if bad := c.check(p.at, t, m.Subject()); bad != nil || agent == "" {
		return bad, nil
	}
	c.args, bad = question(agent, c.card.Arguments, t.patience())
	return bad, nil
}

// named returns the tool of Earshot that they mean: its name, or that with _ for what the APIs of models refuse.
func (p *provider) named(theirs string) string {
	i := slices.IndexFunc(p.o.Serve, func(ours string) bool { return ours == theirs || strings.ReplaceAll(ours, ".", "_") == theirs })
	if i < 0 {
		return ""
	}
	return p.o.Serve[i]
}

// ask has Earshot make the call, and reports what comes of it. Where their time is over first, the session ends: then a call
// that waits for a person does not begin any more.
func (p *provider) ask(ctx context.Context, c theirCall) error {
	if !p.o.Now().Before(c.until) {
		return p.answer(ctx, c, c.refused(p.at, utp.CodeToolTimeout, "the command came when its time was over; nothing was done", p.o.Now()))
	}
	within, cancel := context.WithDeadline(ctx, c.until)
	defer cancel()
	key := "commonground-" + c.short()
	session, err := p.o.As.Open(within, api.AgentOpen{Label: c.context.AgentID, Key: key, Idle: p.idle(c)})
	call := api.AgentCall{}
	if err == nil {
		call, err = p.call(within, session, api.AgentInvoke{Tool: c.tool, Args: c.args, HostCall: key, Key: key})
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		p.o.Reached("bridge.called")
		err = p.answer(ctx, c, c.result(p.at, call, p.o.Now()))
	case within.Err() != nil:
		err = p.answer(ctx, c, p.late(ctx, c, session, call))
	case call.ID != "" || mayPass(err): // it may be under way
		return err
	default:
		err = p.answer(ctx, c, c.refused(p.at, clientCode(err), plain(err), p.o.Now()))
	}
	if err == nil && session != nil && session.ID != "" {
		p.leave(ctx, session, api.AgentEnd{Status: utp.StatusSuccess, Summary: "CommonGround has the result."})
	}
	return err
}

// call makes a call and waits for its result. It returns the call also if its time is over before the result is there.
func (p *provider) call(ctx context.Context, session *client.AgentSession, q api.AgentInvoke) (api.AgentCall, error) {
	made, err := session.Invoke(ctx, q, 0)
	if err == nil && made.Ended() {
		return made, nil
	}
	// The same key is the same call, also where its answer was lost.
	call, err := session.Call(ctx, q)
	if call.ID == "" {
		call = made
	}
	return call, err
}

// idle is after how many seconds without a bridge a session ends by itself: not before their time is over.
func (p *provider) idle(c theirCall) int {
	const most = 24 * time.Hour
	return int(min(c.until.Sub(p.o.Now())+time.Minute, most) / time.Second)
}

// late is the result of a call whose time at theirs is over.
func (p *provider) late(ctx context.Context, c theirCall, session *client.AgentSession, call api.AgentCall) utp.ResultCard {
	if session == nil || session.ID == "" {
		return c.refused(p.at, utp.CodeToolTimeout, "Earshot was not reached in time; nothing was done", p.o.Now())
	}
	p.leave(ctx, session, api.AgentEnd{Status: utp.StatusCanceled, Summary: "CommonGround waits no longer."})
	ctx, cancel := context.WithTimeout(ctx, parting)
	defer cancel()
	if call.ID != "" {
		if last, err := session.Wait(ctx, call.ID, 0); err == nil && last.Ended() {
			return c.result(p.at, last, p.o.Now())
		}
	}
	return c.refused(p.at, utp.CodeToolTimeout, "its time is over, and it may still be done; the session of Earshot is "+session.ID, p.o.Now())
}

// leave ends a session. If that is lost, the session ends by itself when nothing has been asked in it for long.
func (p *provider) leave(ctx context.Context, session *client.AgentSession, q api.AgentEnd) {
	ctx, cancel := context.WithTimeout(ctx, parting)
	defer cancel()
	if err := session.End(ctx, q); err != nil {
		p.log.Debug("commonground: a session was not ended", "session", session.ID, "error", plain(err))
	}
}

// answer writes a result into their tables, and rings for the worker.
func (p *provider) answer(ctx context.Context, c theirCall, r utp.ResultCard) error {
	a, err := c.rows(r)
	if err != nil {
		return err
	}
	if err := p.theirs.answer(ctx, a); err != nil {
		if !refusedValue(err) {
			return err
		}
		if a, err = c.rows(c.unwritable(p.at, r, p.o.Now())); err != nil {
			return err
		}
		if err := p.theirs.answer(ctx, a); err != nil {
			return err
		}
	}
	p.o.Reached("bridge.answered")
	return p.jets.ring(ctx, c, p.o.Now())
}

// mayPass reports whether Earshot is only away for a while, or will take the same request later.
func mayPass(err error) bool {
	e, is := errors.AsType[*client.Error](err)
	return !is || e.Retry || e.Code == client.CodeUnreachable || e.Code == client.CodeUnauthenticated
}

// clientCode is why Earshot has refused a call.
func clientCode(err error) utp.Code {
	e, is := errors.AsType[*client.Error](err)
	switch {
	case !is:
		return utp.CodeInternalError
	case e.Stopped:
		return utp.CodeStopped
	case utp.Code(e.Code).Known():
		return utp.Code(e.Code)
	case e.Code == client.CodeForbidden, e.Code == client.CodeUnauthenticated:
		return utp.CodeAuthFailed
	default:
		return utp.CodeBadRequest
	}
}

// codeOf is the code of an error about a value.
func codeOf(err error) utp.Code {
	if c, is := errors.AsType[coded](err); is {
		return c.Code()
	}
	return utp.CodeBadRequest
}
