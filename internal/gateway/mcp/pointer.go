package mcp

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
)

// pointers have the host show a person where an open question is answered (elicitation), once for each question. The
// host's answer counts for nothing: the host is on the agent's side of the gate, and many answer by themselves.
type pointers struct {
	owned sync.WaitGroup

	mu     sync.Mutex
	closed bool
	shown  map[string]pointer // by the call whose question it is
}

type pointer struct {
	question int
	end      context.CancelFunc
}

// longestShown ends what is shown for a question of which it is not known how long it can be answered.
const longestShown = 24 * time.Hour

// follow shows where the call's question is answered, and ends what was shown for an earlier one.
func (p *pointers) follow(g *Gateway, s *sdk.ServerSession, c api.AgentCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.State != api.CallWaiting && c.State != api.CallUnknown {
		c.Question = 0 // it is answered
	}
	last, there := p.shown[c.ID]
	if there && last.question == c.Question {
		return
	}
	if there {
		last.end()
		delete(p.shown, c.ID)
	}
	if c.Question == 0 || p.closed || !opensAddresses(s) || g.o.Where == nil {
		return
	}
	address := g.o.Where()
	if address == "" {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), cmp.Or(time.Duration(c.SecondsLeft)*time.Second, longestShown))
	if p.shown == nil {
		p.shown = map[string]pointer{}
	}
	p.shown[c.ID] = pointer{c.Question, end}
	p.owned.Go(func() {
		defer end()
		show(ctx, g, s, &sdk.ElicitParams{
			Mode: "url", URL: address, ElicitationID: fmt.Sprintf("%s question %d", c.ID, c.Question), Message: pointTo(c.Question),
		})
	})
}

// pointTo is what the host shows. Its reader must not believe that the host's own button answers.
func pointTo(question int) string {
	return fmt.Sprintf("Question %d of Earshot waits for you. Answer it on Earshot's page, or in a terminal with: earshot reply %d. "+
		"Accepting here accepts nothing, and declining here declines nothing: it only opens an address that leads to the page.", question, question)
}

// show asks the host to offer the address, until the question ends. A host that has offered it is told of the end.
func show(ctx context.Context, g *Gateway, s *sdk.ServerSession, q *sdk.ElicitParams) {
	said, err := s.Elicit(ctx, q)
	if err != nil {
		g.o.Logger.Debug("the host does not show where to answer", "reason", err)
		return
	}
	if said.Action != "accept" {
		return
	}
	<-ctx.Done()
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if err := s.NotifyElicitationComplete(late, &sdk.ElicitationCompleteParams{ElicitationID: q.ElicitationID}); err != nil {
		g.o.Logger.Debug("the host is not told that a question has ended", "reason", err)
	}
}

// leave ends what is shown for a call that the host has given up. It is not shown again.
func (p *pointers) leave(call string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, there := p.shown[call]; there {
		last.end()
	}
}

// close ends everything that is shown, and waits for it.
func (p *pointers) close() {
	p.mu.Lock()
	p.closed = true
	for _, one := range p.shown {
		one.end()
	}
	p.mu.Unlock()
	p.owned.Wait()
}

// opensAddresses reports whether the host can be asked to open an address. Since version 2026-07-28 it could only be
// asked by ending the call's request, and then nothing would wait for the person's answer.
func opensAddresses(s *sdk.ServerSession) bool {
	if s == nil {
		return false
	}
	host := s.InitializeParams()
	return host != nil && host.ProtocolVersion < withoutSessions && host.Capabilities != nil &&
		host.Capabilities.Elicitation != nil && host.Capabilities.Elicitation.URL != nil
}
