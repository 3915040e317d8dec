package client

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// Questions lists the open questions that the token may access, oldest first. Those that the token's owner can answer
// count as shown: their time to answer begins.
func (c *Client) Questions(ctx context.Context) ([]api.OpenQuestion, error) {
	return c.questions(ctx, url.Values{})
}

// PeekQuestions is [Client.Questions] for a program that shows the questions to no one: none counts as shown.
func (c *Client) PeekQuestions(ctx context.Context) ([]api.OpenQuestion, error) {
	return c.questions(ctx, url.Values{"look": {"true"}})
}

// questionPage is the page size of the list of questions.
const questionPage = "100"

func (c *Client) questions(ctx context.Context, query url.Values) ([]api.OpenQuestion, error) {
	var all []api.OpenQuestion

	query.Set("limit", questionPage)

	for after := 0; ; {
		var list api.QuestionList

		if err := c.call(ctx, to(api.RouteQuestions).with(query), nil, &list); err != nil {
			return nil, err
		}

		all = append(all, list.Questions...)

		if list.Next <= after {
			return all, nil
		}

		after = list.Next
		query.Set("after", strconv.Itoa(after))
	}
}

// Reply answers the question with this number and returns what was recorded. The reply needs the question's current
// token. If the question was already answered or has expired, the error is [ErrConflict], and Error.Closed says how it
// ended. If the arguments have not been shown in full, an accept fails with [ErrArgumentsNotSeen]: read them with
// [Client.Arguments].
func (c *Client) Reply(ctx context.Context, question int, r api.Reply) (api.ReplyAnswer, error) {
	return c.replied(ctx, to(api.RouteReply, strconv.Itoa(question)), r)
}

// Extend asks for more time for a question. It needs the question's token, and changes it.
func (c *Client) Extend(ctx context.Context, question int, token string) (api.ReplyAnswer, error) {
	return c.replied(ctx, to(api.RouteExtend, strconv.Itoa(question)), api.Reply{Token: token})
}

// Undo withdraws an accept. Once the action has started it fails with [ErrConflict].
func (c *Client) Undo(ctx context.Context, question int) (api.ReplyAnswer, error) {
	return c.replied(ctx, to(api.RouteUndo, strconv.Itoa(question)), api.Reply{})
}

func (c *Client) replied(ctx context.Context, to target, r api.Reply) (api.ReplyAnswer, error) {
	var recorded api.ReplyAnswer

	err := c.call(ctx, to, r, &recorded)

	return recorded, err
}

// Arguments returns all the arguments that a question is about, as JSON. The server records that the token's owner has
// read them, which an accept may require (arguments_not_seen).
func (c *Client) Arguments(ctx context.Context, question int) (jsontext.Value, error) {
	return c.arguments(ctx, question, false)
}

// PeekArguments is [Client.Arguments] for a program that does not show all of them at once: nothing counts as read.
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
