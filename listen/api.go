package listen

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// listPage is how many sessions are asked for at once.
const listPage = 100

// Me says who the token stands for.
func (c *Client) Me(ctx context.Context) (api.Identity, error) {
	var me api.Identity

	err := c.call(ctx, to(api.RouteMe), nil, &me)

	return me, err
}

// Sessions lists all sessions that may be heard, oldest first; open leaves those out
// that have ended.
func (c *Client) Sessions(ctx context.Context, open bool) ([]api.Session, error) {
	all, _, err := c.Newest(ctx, open, 0)

	slices.Reverse(all)

	return all, err
}

// Newest lists the newest sessions that may be heard, n of them (0 is all), the newest
// first; open leaves those out that have ended. More says that there are older ones.
func (c *Client) Newest(ctx context.Context, open bool, n int) (all []api.Session, more bool, err error) {
	for before := ""; ; {
		page, next, err := c.sessionsBefore(ctx, open, before, n-len(all))
		if err != nil {
			return nil, false, err
		}

		all = append(all, page...)

		switch {
		case n > 0 && len(all) >= n:
			return all[:n], next != "" || len(all) > n, nil
		case next == "" || next == before || len(page) == 0:
			return all, false, nil
		}

		before = next
	}
}

// sessionsBefore reads one page of the list, of most sessions where that is above 0.
func (c *Client) sessionsBefore(ctx context.Context, open bool, before string, most int) ([]api.Session, string, error) {
	var page api.SessionList

	query := url.Values{"limit": {strconv.Itoa(listPage)}}
	if most > 0 {
		query.Set("limit", strconv.Itoa(min(most, listPage)))
	}

	if open {
		query.Set("open", "true")
	}

	if before != "" {
		query.Set("before", before)
	}

	err := c.call(ctx, to(api.RouteSessions).with(query), nil, &page)

	return page.Sessions, page.Next, err
}

// Session describes one session; of one that has ended it says how.
func (c *Client) Session(ctx context.Context, id string) (api.Session, error) {
	var one api.Session

	err := c.call(ctx, to(api.RouteSession, id), nil, &one)

	return one, err
}

// Questions lists the open questions that may be heard, oldest first.
func (c *Client) Questions(ctx context.Context) ([]api.OpenQuestion, error) {
	var list api.QuestionList

	err := c.call(ctx, to(api.RouteQuestions), nil, &list)

	return list.Questions, err
}

// Past yields the events of a session up to now.
func (c *Client) Past(ctx context.Context, session string) iter.Seq2[Delivered, error] {
	return func(yield func(Delivered, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()

		answer, err := c.send(ctx, to(api.RouteEvents, session), nil, nil)
		if err != nil {
			yield(Delivered{}, err)

			return
		}

		defer func() { _ = answer.Body.Close() }()

		if answer.StatusCode != http.StatusOK {
			yield(Delivered{}, refused(answer))

			return
		}

		lines := newLines(answer.Body)
		for {
			line, err := lines.next()
			if err != nil && len(line) == 0 {
				if !over(err) {
					yield(Delivered{}, unreachable(answer.Request.URL, err))
				}

				return
			}

			if event, err := aaep.DecodeEvent(line); err == nil && !yield(Delivered{Event: event, Raw: line}, nil) {
				return
			}
		}
	}
}

// Say answers a question by its number and returns what the ledger then holds.
func (c *Client) Say(ctx context.Context, question int, r api.Reply) (api.ReplyAnswer, error) {
	return c.word(ctx, to(api.RouteReply, strconv.Itoa(question)), r)
}

// More asks for more time for a question.
func (c *Client) More(ctx context.Context, question int, token string) (api.ReplyAnswer, error) {
	return c.word(ctx, to(api.RouteExtend, strconv.Itoa(question)), api.Reply{Token: token})
}

// TakeBack takes an accept back before its action has started.
func (c *Client) TakeBack(ctx context.Context, question int) (api.ReplyAnswer, error) {
	return c.word(ctx, to(api.RouteUndo, strconv.Itoa(question)), api.Reply{})
}

// Halt stops a session: no further step is taken in it.
func (c *Client) Halt(ctx context.Context, session string) (api.ReplyAnswer, error) {
	return c.word(ctx, to(api.RouteStopSession, session), api.Reply{})
}

func (c *Client) word(ctx context.Context, to target, r api.Reply) (api.ReplyAnswer, error) {
	var said api.ReplyAnswer

	err := c.call(ctx, to, r, &said)

	return said, err
}

// Retell tells the last n sentences about a session again; 0 is the server's own number.
func (c *Client) Retell(ctx context.Context, session string, n int) ([]api.Announcement, error) {
	var list api.AnnouncementList

	query := url.Values{}
	if n > 0 {
		query.Set("n", strconv.Itoa(n))
	}

	err := c.call(ctx, to(api.RouteRecap, session).with(query), nil, &list)

	return list.Announcements, err
}

// Prefer sets what the token's person wishes, as far as it is not nil, and tells what then holds.
func (c *Client) Prefer(ctx context.Context, wanted api.Preferences) (api.Preferences, error) {
	route, in := api.RoutePreferences, any(nil)
	if wanted != (api.Preferences{}) {
		route, in = api.RouteSetPreferences, wanted
	}

	var now api.Preferences

	err := c.call(ctx, to(route), in, &now)

	return now, err
}

// Code makes a new one-time code to log a browser in.
func (c *Client) Code(ctx context.Context) (api.LoginCode, error) {
	var code api.LoginCode

	err := c.call(ctx, to(api.RouteCode), api.Empty{}, &code)

	return code, err
}

// about lists what a question is about; it is read once.
func (c *Client) about(ctx context.Context, question int) ([]Item, error) {
	c.mu.Lock()
	items, known := c.arguments[question]
	c.mu.Unlock()

	if known {
		return items, nil
	}

	raw, err := c.About(ctx, question)
	if err != nil {
		return nil, err
	}

	items = c.o.Items(raw)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.arguments[question] = items

	return items, nil
}

// About reads all the arguments that a question is about, page by page. The server takes note that the
// token's owner has read them.
func (c *Client) About(ctx context.Context, question int) (jsontext.Value, error) {
	var (
		all strings.Builder
		at  int64
	)

	for {
		var part api.ArgumentsPart

		query := url.Values{"offset": {strconv.FormatInt(at, 10)}}
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
