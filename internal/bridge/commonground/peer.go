package commonground

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// peer is the bridge at Earshot.
type peer struct {
	*bus.Client

	identity

	tools []string // those of its credential's list; only [bridge.offer] uses them
}

// join connects to Earshot's bus, and waits for it where it is away.
func join(ctx context.Context, o Options) (*peer, error) {
	c, err := bus.ReadCredentials(o.Credentials)
	switch {
	case err != nil:
		return nil, cause.Fail(nil, cause.Of(err), "make credentials with `earshot credential add commonground --role foreign --tools TOOL,…`")
	case c.Principal.Kind != bus.External:
		return nil, cause.Misuse("the credentials are those of "+c.Principal.String()+"; the bridge is a third-party peer",
			"make others with `earshot credential add commonground --role foreign --tools TOOL,…`")
	case len(c.Tools) == 0 && !o.provides():
		return nil, cause.Misuse("the credentials of "+c.Principal.String()+" list no tools",
			"list those that may come: `earshot credential add "+c.Principal.Name+" --role foreign --tools TOOL,…`")
	}
	client, err := bus.Join(ctx, bus.JoinOptions{File: o.Credentials, Who: c.Principal, Logger: o.Logger})
	if err != nil {
		return nil, cause.Fail(nil, cause.Of(err), "see that `earshot up --nats-listen ADDRESS` runs")
	}
	return &peer{Client: client, identity: identity{project: c.Project, name: c.Principal.Name}, tools: c.Tools}, nil
}

// relist reads the list of tools again: an operator may have added one. A file that cannot be read now leaves it as it is.
func (p *peer) relist(path string) {
	if c, err := bus.ReadCredentials(path); err == nil && c.Principal.Name == p.name {
		p.tools = c.Tools
	}
}

// register offers a tool to Earshot.
func (p *peer) register(ctx context.Context, d utp.Definition) error {
	return rpc.AskUntil(ctx, p.Client, api.OpRegister, api.RegisterRequest{Definition: d}, nil)
}

// read reads the card of a call.
func (p *peer) read(ctx context.Context, id string) (utp.CallCard, error) {
	var answer api.CardRequest
	if err := rpc.AskUntil(ctx, p.Client, api.OpRead, api.ReadRequest{Card: id}, &answer); err != nil {
		return utp.CallCard{}, err
	}
	card, err := utp.DecodeCard(answer.Card)
	if err != nil {
		return utp.CallCard{}, err
	}
	return utp.DecodeToolCall(card)
}

// give keeps a result and reports it. A call that has ended, or has its result, is no error.
func (p *peer) give(ctx context.Context, r utp.ResultCard, o Options) (outcome string, err error) {
	card, err := utp.NewToolResult(r)
	if err != nil {
		return "", err
	}
	raw, err := utp.EncodeCard(card)
	if err != nil {
		return "", err
	}
	err = rpc.Ask(ctx, p.Client, api.OpCard, api.CardRequest{Card: raw}, nil)
	if rpc.Code(err, utp.CodeDone) {
		return api.ReportSuperseded, nil
	}
	if err != nil {
		return "", err
	}
	o.Reached("bridge.kept")
	return p.report(ctx, r, o)
}

func (p *peer) report(ctx context.Context, r utp.ResultCard, o Options) (string, error) {
	payload, err := utp.EncodeReport(r.Report())
	if err != nil {
		return "", err
	}
	header, err := utp.EncodeHeader(utp.Context{ProjectID: p.project, ToolCallID: r.ToolCallID}, utp.Stamp{At: o.Now()})
	if err != nil {
		return "", err
	}
	raw, err := p.Send(ctx, bus.Message{Subject: "earshot.v1." + p.project + ".kernel." + api.OpReport, Header: header, Payload: payload})
	if err != nil {
		return "", err
	}
	var a api.ReportAnswer
	err = api.DecodeAnswer(raw, &a)
	return a.Outcome, err
}

// coded is an error about a value: it stays what it is.
type coded interface {
	error
	Code() utp.Code
}

// passing reports whether one of the two sides is only in trouble, and not the value itself wrong.
func passing(err error) bool {
	if refused, is := errors.AsType[*api.Fault](err); is {
		return refused.Retry || slices.Contains([]utp.Code{utp.CodeUpstreamUnavailable, utp.CodeStorageError, utp.CodeInternalError}, refused.Code)
	}
	_, is := errors.AsType[coded](err)
	return !is
}

// plain is an error in one line, without the marks of its package.
func plain(err error) string { return strings.TrimSpace(cause.OneLine(cause.Of(err))) }
