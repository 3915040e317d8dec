package commonground

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// bridge is a running bridge.
type bridge struct {
	o      Options
	log    *slog.Logger
	at     place
	target string // of their wakeups for it

	theirs *database
	jets   *jets
	ours   *peer

	collecting sync.Mutex // one look at the inbox at a time

	mu        sync.Mutex
	tools     map[string]tool   // that are offered, as they were registered, by their names at Earshot
	leftOut   map[string]string // why others of the list are not offered
	published map[string]bool   // calls whose commands this process has sent; bounded by [maxPublished]
}

// maxPublished bounds what is remembered of sent commands. What is forgotten costs a plainer error message, no more.
const maxPublished = 10_000

// Run connects the two sides and works until ctx ends. It returns an error if one of them cannot be used as it is; the
// errors say what was found and what to do. What only goes away for a while is waited for.
func Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	b := &bridge{o: o, log: o.Logger, tools: map[string]tool{}, published: map[string]bool{}}
	if err := b.openTheirs(ctx); err != nil {
		return stopped(ctx, err)
	}
	defer b.theirs.close()
	if b.jets, err = openStream(ctx, o); err != nil {
		return stopped(ctx, err)
	}
	defer b.jets.close()
	if b.ours, err = join(ctx, o); err != nil {
		return stopped(ctx, err)
	}
	defer b.ours.Close()
	if o.provides() {
		p := &provider{o: o, log: b.log, at: b.at, theirs: b.theirs, jets: b.jets}
		stop, err := p.run(ctx)
		if err != nil {
			return stopped(ctx, err)
		}
		defer stop()
	}
	return stopped(ctx, b.ours.Reconnect(ctx, b.work))
}

// stopped is nil where an error comes of being told to end.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to end
	}
	return err
}

func (b *bridge) openTheirs(ctx context.Context) (err error) {
	if b.theirs, err = openDatabase(ctx, b.o.DSN, b.o.provides()); err != nil {
		return err
	}
	b.at = place{project: b.o.Project, channel: b.o.Channel, agent: b.o.Agent}
	if b.at.project == "" {
		b.at.project, err = b.theirs.project(ctx)
	}
	if err == nil && !utp.ValidToken(b.at.project) {
		err = cause.Fail(nil, "the project "+utp.Shown(b.at.project)+" cannot be a part of a subject", "name another one with --project")
	}
	if err == nil {
		b.target, err = b.theirs.target(ctx, b.at.project, b.at.agent)
	}
	if err != nil {
		b.theirs.close()
	}
	return err
}

// work serves one connection to Earshot's bus, until ctx ends.
func (b *bridge) work(ctx context.Context) error {
	b.mu.Lock()
	clear(b.tools) // another kernel may be there
	b.mu.Unlock()
	if _, err := b.offer(ctx); err != nil {
		return err
	}
	stop, err := b.jets.wakeups(ctx, b.at.project, b.at.agent, b.target, func() error { return b.collect(ctx) })
	if err != nil {
		return err
	}
	defer stop()
	commands, err := b.ours.Commands(ctx, b.command)
	if err != nil {
		return err
	}
	defer commands.Close()
	b.o.Ready(b.offered())
	tick := time.NewTicker(b.o.Poll)
	defer tick.Stop()
	for {
		if err := b.collect(ctx); err != nil && ctx.Err() == nil {
			b.log.Warn("commonground: results cannot be collected now", "error", plain(err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		switch changed, err := b.offer(ctx); {
		case err != nil && ctx.Err() == nil:
			b.log.Warn("commonground: tools cannot be looked at now", "error", plain(err))
		case changed:
			b.o.Ready(b.offered())
		}
	}
}

// offer registers the tools of the credential's list that they have, each time one has changed, and reports whether
// anything has.
func (b *bridge) offer(ctx context.Context) (changed bool, err error) {
	b.ours.relist(b.o.Credentials)
	all, err := b.theirs.tools(ctx, b.at.project, b.ours.tools...)
	if err != nil {
		return false, cause.Fail(err, "the tools of the project "+b.at.project+" cannot be read", "see that the database is up and the user may read resource.tools")
	}
	out := map[string]string{}
	for _, name := range b.ours.tools {
		news, err := b.offerOne(ctx, name, all)
		switch {
		case err != nil && passing(err):
			return false, cause.Fail(err, "the tool "+name+" cannot be registered", "see that `earshot up` runs")
		case err != nil:
			out[name] = plain(err)
		}
		changed = changed || news
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range out {
		delete(b.tools, name)
		delete(b.tools, b.ours.name+"."+name)
	}
	changed = changed || !maps.Equal(out, b.leftOut)
	b.leftOut = out
	return changed, nil
}

// errAgain: their PMO keeps no account of the calls that it has had, and would have the same work done twice.
var errAgain = errors.New("the call has been entered before, and a command to CommonGround's PMO leaves once")

var errNoTool = errors.New("the project has no such tool")

func (b *bridge) offerOne(ctx context.Context, name string, all map[string]tool) (changed bool, err error) {
	t, found := all[name]
	if !found {
		return false, &utp.DefinitionError{Tool: name, Field: "the tool", Found: "not there", Expected: "a tool of the project " + b.at.project, Err: errNoTool}
	}
	subject, err := t.subject(b.at.project, b.at.channel, b.at.agent)
	switch {
	case err != nil:
		return false, err
	case b.o.provides() && subject.Component == utp.ComponentTool && subject.Target == b.at.agent:
		return false, &utp.DefinitionError{Tool: name, Field: "target_subject", Found: t.target, Expected: "a service of theirs: this one is Earshot's", Err: errNoTool}
	}
	d, err := t.definition(b.ours.name)
	if err != nil {
		return false, err
	}
	if b.registered(t) {
		return false, nil
	}
	if err := b.ours.register(ctx, d); err != nil {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tools[d.Tool] = t
	return true, nil
}

// registered reports whether Earshot has a tool exactly as it stands in their table.
func (b *bridge) registered(t tool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tools[nameAt(b.ours.name, t.name, t.target)].equal(t)
}

// offered describes what the bridge offers.
func (b *bridge) offered() Offer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Offer{Project: b.at.project, Agent: b.at.agent, Target: b.target, Tools: slices.Sorted(maps.Keys(b.tools)), Serves: b.o.Serve, Asks: b.o.Ask, LeftOut: maps.Clone(b.leftOut)}
}

// command takes a command of Earshot: it writes their rows and sends the command on. What certainly has not left is told at
// once; where that is not certain, the call's own time decides.
func (b *bridge) command(ctx context.Context, m bus.Message) {
	header, err := utp.DecodeHeader(m.Header)
	if err == nil {
		var c utp.Command
		if c, header, err = utp.DecodeCommand(m.Payload, header); err == nil {
			err = b.forward(ctx, c, header)
		}
	}
	if err != nil && ctx.Err() == nil {
		b.log.Warn("commonground: a command was not sent on", "call", header.ToolCallID, "error", plain(err))
	}
}

func (b *bridge) forward(ctx context.Context, command utp.Command, header utp.Context) error {
	ours, err := b.ours.read(ctx, command.ToolCallCardID)
	if err != nil {
		return err
	}
	t, found, err := b.named(ctx, command.ToolName)
	switch {
	case err != nil:
		return errors.Join(err, b.refuse(ctx, ours, utp.CodeUpstreamUnavailable, "CommonGround's database cannot be read at the moment"))
	case !found:
		return b.refuse(ctx, ours, utp.CodeNotFound, "CommonGround has no tool "+command.ToolName+" any more")
	case !b.registered(t): // what was reviewed, and perhaps consented to, was another definition
		return b.refuse(ctx, ours, utp.CodeConflict, "CommonGround has changed the tool "+command.ToolName+"; look at it again before it is used")
	}
	c, err := newCall(b.at, t, command, header, ours, b.o.Now())
	if err != nil {
		return b.refuse(ctx, ours, utp.CodeBadRequest, "the call cannot be handed to CommonGround: "+plain(err))
	}
	switch served, err := b.jets.served(ctx, c.subject); {
	case err != nil:
		return errors.Join(err, b.refuse(ctx, ours, utp.CodeUpstreamUnavailable, "CommonGround's NATS cannot be used at the moment"))
	case !served:
		return b.refuse(ctx, ours, utp.CodeUpstreamUnavailable, "no service of CommonGround hears "+c.subject+" at the moment")
	}
	switch entered, err := b.theirs.insert(ctx, c); {
	case refusedValue(err):
		return b.refuse(ctx, ours, utp.CodeBadRequest, "CommonGround's database does not take these arguments: "+plain(err))
	case err != nil:
		return errors.Join(err, b.refuse(ctx, ours, utp.CodeUpstreamUnavailable, "CommonGround's database cannot be written to at the moment"))
	case !entered && ofPMO(t.name, t.target):
		return errAgain
	}
	b.o.Reached("bridge.inserted")
	b.remember(c.id)
	if err := b.jets.publish(ctx, c); err != nil {
		return err // it may be in the stream
	}
	b.o.Reached("bridge.published")
	return nil
}

// named finds the tool of theirs that a tool of Earshot stands for.
func (b *bridge) named(ctx context.Context, ours string) (tool, bool, error) {
	now, err := b.theirs.tools(ctx, b.at.project, namesOf(b.ours.name, ours)...)
	for _, t := range now {
		if nameAt(b.ours.name, t.name, t.target) == ours {
			return t, true, err
		}
	}
	return tool{}, false, err
}

func (b *bridge) remember(call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.published) >= maxPublished {
		clear(b.published)
	}
	b.published[call] = true
}

// refuse ends a call that has not left, unless an earlier command of it has.
func (b *bridge) refuse(ctx context.Context, ours utp.CallCard, code utp.Code, message string) error {
	b.mu.Lock()
	earlier := b.published[ours.ToolCallID]
	b.mu.Unlock()
	if earlier {
		return errors.New(message)
	}
	_, err := b.ours.give(ctx, b.ours.failed(ours.ToolCallID, ours.ToolName, ours.Lineage, unsent(code, message), b.o.Now()), b.o)
	return err
}

// collect gives Earshot every report in the bridge's inbox. A row is consumed when Earshot has it.
func (b *bridge) collect(ctx context.Context) error {
	b.collecting.Lock()
	defer b.collecting.Unlock()
	for {
		rows, err := b.theirs.reports(ctx, b.at.project, b.at.agent)
		if err != nil {
			return err
		}
		var failed error
		for _, r := range rows {
			if err := b.apply(ctx, r); err != nil { // it stays, and the others are not held up by it
				failed = errors.Join(failed, err)
			}
		}
		if failed != nil || len(rows) < reportsAtOnce {
			return failed
		}
	}
}

func (b *bridge) apply(ctx context.Context, r report) error {
	if r.tool == "" || r.call == "" {
		return b.theirs.consume(ctx, b.at.project, b.at.agent, r.inbox, "Earshot: the row names no call of the bridge")
	}
	given, err := b.resultOf(ctx, r)
	if err != nil {
		return err
	}
	b.o.Reached("bridge.reported")
	outcome, err := b.ours.give(ctx, given, b.o)
	if err != nil && !passing(err) && !isUnknown(err) {
		b.log.Warn("commonground: a result was refused", "call", r.call, "error", plain(err))
		outcome, err = b.ours.give(ctx, b.ours.failed(r.call, r.ours(b.ours.identity), r.lineage(), unreadable(err), b.o.Now()), b.o)
	}
	reason := ""
	switch {
	case err != nil && passing(err):
		return err
	case err != nil:
		reason = "Earshot: " + plain(err)
	}
	b.log.Debug("commonground: a result was given", "call", r.call, "outcome", outcome, "reason", reason)
	return b.theirs.consume(ctx, b.at.project, b.at.agent, r.inbox, reason)
}

// isUnknown reports whether the ledger has no such call, or another peer's: nothing is to be told there.
func isUnknown(err error) bool {
	refused, is := errors.AsType[*api.Fault](err)
	return is && (refused.Code == utp.CodeUnknownCall || refused.Code == utp.CodeAuthFailed)
}

// resultOf reads the result of a report. What cannot be read becomes a result that says so.
func (b *bridge) resultOf(ctx context.Context, r report) (utp.ResultCard, error) {
	id, after, err := r.resultCard()
	if err == nil {
		var card utp.Card
		if card, err = b.theirs.card(ctx, b.at.project, id); err == nil {
			var given utp.ResultCard
			if given, err = result(b.ours.identity, r, card, after); err == nil {
				return given, nil
			}
		}
	}
	if passing(err) { // their database is in trouble
		return utp.ResultCard{}, err
	}
	return b.ours.failed(r.call, r.ours(b.ours.identity), r.lineage(), unreadable(err), b.o.Now()), nil
}
