package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// listPage is the page size of the list of sessions.
const listPage = 100

// Sessions lists all sessions that the token may access, oldest first; if open is true, only those that have not ended.
func (c *Client) Sessions(ctx context.Context, open bool) ([]api.Session, error) {
	all, _, err := c.NewestSessions(ctx, open, 0)

	slices.Reverse(all)

	return all, err
}

// NewestSessions lists the n newest sessions that the token may access (all if n is 0), newest first; if open is true,
// only those that have not ended. More reports whether there are older ones.
func (c *Client) NewestSessions(ctx context.Context, open bool, n int) (all []api.Session, more bool, err error) {
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

// sessionsBefore reads one page of the list, of at most so many sessions if most is above 0.
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

// Session describes one session, including how it ended, if it has.
func (c *Client) Session(ctx context.Context, id string) (api.Session, error) {
	var one api.Session

	err := c.call(ctx, to(api.RouteSession, id), nil, &one)

	return one, err
}

// PastEvents yields the events of a session up to now, and ends.
func (c *Client) PastEvents(ctx context.Context, session string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()

		answer, err := c.send(ctx, to(api.RouteEvents, session), nil, nil)
		if err != nil {
			yield(Event{}, err)

			return
		}

		defer func() { _ = answer.Body.Close() }()

		if answer.StatusCode != http.StatusOK {
			yield(Event{}, refused(answer))

			return
		}

		lines := newLines(answer.Body)
		for {
			line, err := lines.next()
			if err != nil && len(line) == 0 {
				if !errors.Is(err, io.EOF) {
					yield(Event{}, unreachable(answer.Request.URL, err))
				}

				return
			}

			if event, err := aaep.DecodeEvent(line); err == nil && !yield(Event{Event: event, Raw: line}, nil) {
				return
			}
		}
	}
}

// StopSession stops a session: its agent takes no further step. A tool that has already begun may still finish.
func (c *Client) StopSession(ctx context.Context, session string) (api.ReplyAnswer, error) {
	return c.replied(ctx, to(api.RouteStopSession, session), api.Reply{})
}

// Recap returns the last n announcements of a session again; if n is 0, the server chooses the number.
func (c *Client) Recap(ctx context.Context, session string, n int) ([]api.Announcement, error) {
	var list api.AnnouncementList

	query := url.Values{}
	if n > 0 {
		query.Set("n", strconv.Itoa(n))
	}

	err := c.call(ctx, to(api.RouteRecap, session).with(query), nil, &list)

	return list.Announcements, err
}
