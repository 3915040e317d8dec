package client

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// Questions lists the open questions that the token may hear, oldest first. Those that its owner can answer count as
// shown: their time to answer begins.
func (c *Client) Questions(ctx context.Context) ([]api.OpenQuestion, error) {
	return c.questions(ctx, url.Values{})
}

// PeekQuestions lists what [Client.Questions] does, and no question counts as shown: for who shows them to nobody.
func (c *Client) PeekQuestions(ctx context.Context) ([]api.OpenQuestion, error) {
	return c.questions(ctx, url.Values{"look": {"true"}})
}

func (c *Client) questions(ctx context.Context, query url.Values) ([]api.OpenQuestion, error) {
	var list api.QuestionList

	err := c.call(ctx, to(api.RouteQuestions).with(query), nil, &list)

	return list.Questions, err
}

// Reply answers the question with this number and returns what was recorded. The reply needs the question's present
// token. A question that was answered or has expired before is [ErrConflict], with how it ended in Error.Closed.
// An accept of what has not been shown in full is [ErrArgumentsNotSeen]: read it with [Client.Arguments].
func (c *Client) Reply(ctx context.Context, question int, r api.Reply) (api.ReplyAnswer, error) {
	return c.replied(ctx, to(api.RouteReply, strconv.Itoa(question)), r)
}

// Extend asks for more time for a question, whose token it needs and changes.
func (c *Client) Extend(ctx context.Context, question int, token string) (api.ReplyAnswer, error) {
	return c.replied(ctx, to(api.RouteExtend, strconv.Itoa(question)), api.Reply{Token: token})
}

// Undo takes an accept back. Once the action has started that is [ErrConflict].
func (c *Client) Undo(ctx context.Context, question int) (api.ReplyAnswer, error) {
	return c.replied(ctx, to(api.RouteUndo, strconv.Itoa(question)), api.Reply{})
}

func (c *Client) replied(ctx context.Context, to target, r api.Reply) (api.ReplyAnswer, error) {
	var recorded api.ReplyAnswer

	err := c.call(ctx, to, r, &recorded)

	return recorded, err
}

// Arguments reads all the arguments that a question is about, as JSON. The server notes that the token's owner has read
// them, which an accept may need (arguments_not_seen).
func (c *Client) Arguments(ctx context.Context, question int) (jsontext.Value, error) {
	return c.arguments(ctx, question, false)
}

// PeekArguments reads what [Client.Arguments] does, and nothing counts as read: for who does not show all of it at once.
func (c *Client) PeekArguments(ctx context.Context, question int) (jsontext.Value, error) {
	return c.arguments(ctx, question, true)
}

func (c *Client) arguments(ctx context.Context, question int, peek bool) (jsontext.Value, error) {
	var (
		all strings.Builder
		at  int64
	)

	for {
		var part api.ArgumentsPart

		query := url.Values{"offset": {strconv.FormatInt(at, 10)}}
		if peek {
			query.Set("look", "true")
		}

		if err := c.call(ctx, to(api.RouteArguments, strconv.Itoa(question)).with(query), nil, &part); err != nil {
			return nil, err
		}

		all.WriteString(part.Text)

		if part.Next <= at {
			break
		}

		at = part.Next
	}

	return jsontext.Value(all.String()), nil
}
