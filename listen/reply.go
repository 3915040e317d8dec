package listen

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Answer implements [Port]. A question of a server of ours is answered by its API,
// which says what was recorded. Any other is answered by the protocol's own reply,
// of which only the stream tells what became of it.
func (c *Client) Answer(ctx context.Context, a Answer) error {
	if c.numberOf(a.Token) != 0 {
		_, err := c.Say(ctx, a.Question, api.Reply{Token: c.current(a.Token), Decision: string(a.Decision), Response: a.Response.Words()})

		return err
	}

	if a.Decision != "" {
		return c.reply(ctx, aaep.ConfirmationReply{
			Type: aaep.TypeConfirmationReply, ReplyToken: a.Token, Decision: a.Decision, SubscriptionID: c.subscribed(), Timestamp: stamp(a.At),
		})
	}

	return c.reply(ctx, aaep.ClarificationReply{
		Type: aaep.TypeClarificationReply, ReplyToken: a.Token, Response: a.Response, SubscriptionID: c.subscribed(), Timestamp: stamp(a.At),
	})
}

// Extend implements [Port].
func (c *Client) Extend(ctx context.Context, e Extend) error {
	if c.numberOf(e.Token) != 0 {
		if _, err := c.More(ctx, e.Question, c.current(e.Token)); err != nil {
			return err
		}

		c.renew(ctx, e)

		return nil
	}

	return c.reply(ctx, aaep.QuestionExtend{
		Type: aaep.TypeQuestionExtend, ReplyToken: e.Token, SubscriptionID: c.subscribed(), Timestamp: stamp(e.At),
	})
}

// renew learns the token that a question has got with more time. It is the same
// question about the same thing, and an answer to it may be given before the stream has
// told that it is asked again. Where the token cannot be learnt, the stream tells it.
func (c *Client) renew(ctx context.Context, e Extend) {
	open, err := c.Questions(ctx)
	if err != nil {
		return
	}

	i := slices.IndexFunc(open, func(q api.OpenQuestion) bool { return q.Number == e.Question })
	if i < 0 {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.renewed[e.Token] = open[i].Token
	c.numbered[open[i].Token] = e.Question
}

// current is the token that a question has now.
func (c *Client) current(token string) string {
	c.mu.Lock()
	defer c.mu.Unlock()

	for next := c.renewed[token]; next != "" && next != token; next = c.renewed[token] {
		token = next
	}

	return token
}

// reply sends a message of the protocol.
func (c *Client) reply(ctx context.Context, message any) error {
	return c.call(ctx, to(api.RouteSendMessage), message, nil)
}

// stamp is a time as messages carry it.
func stamp(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

// Stop implements [Port]: it stops the session that is listened to, or every open one.
func (c *Client) Stop(ctx context.Context, _ Stop) error {
	if c.o.Session != "" {
		_, err := c.Halt(ctx, c.o.Session)

		return err
	}

	open, err := c.Sessions(ctx, true)
	if err != nil {
		return err
	}

	var failures []string

	for _, s := range open {
		if _, err := c.Halt(ctx, s.ID); err != nil {
			failures = append(failures, s.ID+": "+cause.Of(err))
		}
	}

	if len(failures) > 0 {
		return &Error{Code: CodeConflict, Message: "not everything was stopped: " + strings.Join(failures, ", "), Hint: "try again"}
	}

	return nil
}

// Undo implements [Port].
func (c *Client) Undo(ctx context.Context, u Undo) error {
	_, err := c.TakeBack(ctx, u.Question)

	return err
}

// Arguments implements [Port].
func (c *Client) Arguments(ctx context.Context, r PageRequest) (Page, error) {
	items, err := c.about(ctx, r.Question)
	if err != nil {
		return Page{}, err
	}

	return PageOf(items, r), nil
}

// numberOf is the number that the server itself gave the question with this token; 0
// when it gave none.
func (c *Client) numberOf(token string) int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.numbered[token]
}

func (c *Client) subscribed() string {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.subscription
}
