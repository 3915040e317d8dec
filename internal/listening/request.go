package listening

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// Answer implements [terminal.Port]: it sends the answer, and waits until the producer goes on from the question.
func (p *Port) Answer(ctx context.Context, a terminal.Answer) error {
	if a.Standing != nil {
		return cause.Misuse("this producer takes no standing permission", "answer this question only")
	}
	how := aaep.ResolutionAnswered
	switch a.Decision {
	case aaep.DecisionAccept:
		how = aaep.ResolutionAccepted
	case aaep.DecisionReject:
		how = aaep.ResolutionRejected
	}
	q, err := p.answering(a.Token, how)
	if err != nil {
		return err
	}
	if err := p.send(ctx, a); err != nil {
		p.unanswered(q)
		return err
	}
	timer := time.NewTimer(answerTime)
	defer timer.Stop()
	select {
	case ended := <-q.ended:
		return endedAs(q, how, ended)
	case refused := <-q.refused:
		p.unanswered(q)
		return refused
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the terminal is ending
	case <-timer.C:
		return cause.Fail(nil, "the answer was sent, and the producer has not gone on yet", "wait for what it does next; it is not known whether the answer counts")
	}
}

// endedAs is nil if a question ended as it was answered here.
func endedAs(q *question, how, ended aaep.Resolution) error {
	if ended == how {
		return nil
	}
	if ended == "" {
		return cause.Fail(nil, "the session has ended, and the producer has not said whether your answer counted", "")
	}
	return cause.Fail(nil, fmt.Sprintf("your answer did not count: question %d had ended", q.Number), "")
}

// answering notes what is about to be answered.
func (p *Port) answering(token string, how aaep.Resolution) (*question, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.open, func(q *question) bool { return q.token == token })
	if i < 0 {
		return nil, cause.Misuse("the question is not open any more", "press Enter to see what is open")
	}
	p.open[i].answered = how
	return p.open[i], nil
}

func (p *Port) unanswered(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.answered = ""
}

func (p *Port) send(ctx context.Context, a terminal.Answer) error {
	if a.Decision == "" {
		r := aaep.ClarificationReply{ReplyToken: a.Token, Response: a.Response, Timestamp: a.At, DecidedBy: p.o.Person}
		return p.o.Subscription.Clarify(ctx, r)
	}
	r := aaep.ConfirmationReply{ReplyToken: a.Token, Decision: a.Decision, Timestamp: a.At, DecidedBy: p.o.Person}
	return p.o.Subscription.Confirm(ctx, r)
}

// refuse tells the one who has answered why that was not taken.
func (p *Port) refuse(message aaep.Document) {
	token, _ := message.Text("reply_token")
	e := &subscribe.Error{Code: subscribe.CodeReplyRefused, Message: "the producer has not taken the answer"}
	if text, is := message.Text("error", "message"); is {
		e.Message = text
	}
	e.Hint, _ = message.Text("error", "hint")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.open {
		if q.token == token {
			select {
			case q.refused <- e:
			default:
			}
		}
	}
}

// Extend implements [terminal.Port]: only Earshot's own producers give more time.
func (p *Port) Extend(ctx context.Context, e terminal.Extend) error {
	if !slices.Contains(p.o.Subscription.Terms().HonoredCapabilities.SupportedExtensions, aaep.ExtensionContext) {
		return cause.Misuse("this producer gives no more time", "answer in time, or let the default hold")
	}
	return p.o.Subscription.Extend(ctx, aaep.QuestionExtend{ReplyToken: e.Token, Timestamp: e.At})
}

// Stop implements [terminal.Port]. AAEP has no message for it.
func (*Port) Stop(context.Context, terminal.Stop) error {
	return cause.Misuse("an agent cannot be stopped through AAEP", "stop it where it runs, or type reject when it asks")
}

// Undo implements [terminal.Port]. AAEP has no message for it.
func (*Port) Undo(context.Context, terminal.Undo) error {
	return cause.Misuse("an answer cannot be taken back through AAEP", "do it where the agent runs")
}

// Arguments implements [terminal.Port], with what the question carries.
func (p *Port) Arguments(_ context.Context, r terminal.PageRequest) (terminal.Page, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.open, func(q *question) bool { return q.Number == r.Question })
	if i < 0 || p.open[i].items == nil {
		return terminal.Page{}, cause.Misuse("this producer lists nothing beside its question", "press Enter to see the question again")
	}
	return terminal.PageOf(p.open[i].items, r), nil
}
