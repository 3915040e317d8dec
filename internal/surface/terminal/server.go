package terminal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Server is a [Port] to a running server. Create it with [NewServer].
type Server struct {
	client  *client.Client
	session string
	items   func(tool string, arguments jsontext.Value) []Item
	resumed bool

	mu      sync.Mutex
	renewed map[string]string // a question's new token after more time, by the old one
	read    map[int][]Item    // a question's items, by its number
}

// ServerOptions select what to follow.
type ServerOptions struct {
	// Session is the one session to follow, to its end; "" means all that may be followed.
	Session string
	// Resumed skips the questions of Session's past that are no longer open.
	Resumed bool
	// Items lists the items of a question from the tool and the JSON of its arguments; default [Values].
	Items func(tool string, arguments jsontext.Value) []Item
}

// NewServer returns a port to a client's server.
func NewServer(c *client.Client, o ServerOptions) *Server {
	if o.Items == nil {
		o.Items = func(_ string, arguments jsontext.Value) []Item { return Values(arguments) }
	}

	return &Server{
		client: c.ForSession(o.Session), session: o.Session, items: o.Items, resumed: o.Resumed,
		renewed: map[string]string{}, read: map[int][]Item{},
	}
}

// Events implements [Port].
func (s *Server) Events(ctx context.Context) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		for e, err := range s.client.Events(ctx) {
			if err == nil && s.resumed && s.isClosed(ctx, e.Event) {
				e.Event = aaep.Event{}
			}

			if !yield(e, err) {
				return
			}
		}
	}
}

// isClosed reports whether the event is a question that is no longer open.
func (s *Server) isClosed(ctx context.Context, e aaep.Event) bool {
	token := ""

	switch p := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		token = p.ReplyToken
	case aaep.AwaitingClarification:
		token = p.ReplyToken
	default:
		return false
	}

	open, err := s.client.Questions(ctx)

	return err == nil && !slices.ContainsFunc(open, func(q api.OpenQuestion) bool { return q.Token == token })
}

// Answer implements [Port].
func (s *Server) Answer(ctx context.Context, a Answer) error {
	_, err := s.client.Reply(ctx, a.Question, api.Reply{Token: s.current(a.Token), Decision: string(a.Decision), Response: api.Response{Text: a.Response.Plain()}, Standing: a.Standing})

	return err
}

// Propose implements [Permitter].
func (s *Server) Propose(ctx context.Context, p Proposal) (Proposed, error) {
	open, err := s.client.PeekQuestions(ctx)
	if err != nil {
		return Proposed{}, err
	}

	i := slices.IndexFunc(open, func(q api.OpenQuestion) bool { return q.Number == p.Question && q.Token == s.current(p.Token) })
	if i < 0 {
		return Proposed{}, cause.Misuse(fmt.Sprintf("question %d is not open any more, or has changed", p.Question), "press Enter to see what is open")
	}

	raw, err := s.client.PeekArguments(ctx, p.Question)
	if err != nil {
		return Proposed{}, err
	}

	var proposed Proposed

	proposed.Asked, proposed.Means, err = p.Standing.For(open[i], raw, p.At)

	return proposed, err
}

// Permissions implements [Permitter].
func (s *Server) Permissions(ctx context.Context) ([]api.StandingPermission, error) {
	return s.client.Permissions(ctx)
}

// Revoke implements [Permitter].
func (s *Server) Revoke(ctx context.Context, r Revoke) (ended []api.StandingPermission, err error) {
	all := []api.StandingPermission{{Number: r.Number}}
	if r.Number == 0 {
		if all, err = s.client.Permissions(ctx); err != nil {
			return nil, err
		}
	}

	for _, p := range all {
		one, err := s.client.RevokePermission(ctx, p.Number)
		if errors.Is(err, client.ErrNotFound) {
			err = cause.Misuse(fmt.Sprintf("there is no standing permission %d", p.Number), "type permissions to see which there are")
		}

		if err != nil {
			return ended, err
		}

		ended = append(ended, one)
	}

	return ended, nil
}

// Extend implements [Port].
func (s *Server) Extend(ctx context.Context, e Extend) error {
	if _, err := s.client.Extend(ctx, e.Question, s.current(e.Token)); err != nil {
		return err
	}

	s.renew(ctx, e)

	return nil
}

// renew reads the new token of a question after more time was given. It is the same question about the same thing, and
// an answer may come before the stream has reported that it is asked again. If the token cannot be read, the stream
// brings it.
func (s *Server) renew(ctx context.Context, e Extend) {
	open, err := s.client.Questions(ctx)
	if err != nil {
		return
	}

	i := slices.IndexFunc(open, func(q api.OpenQuestion) bool { return q.Number == e.Question })
	if i < 0 {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed[e.Token] = open[i].Token
}

// current returns the current token of a question.
func (s *Server) current(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()

	for next := s.renewed[token]; next != "" && next != token; next = s.renewed[token] {
		token = next
	}

	return token
}

// Stop implements [Port]: it stops the followed session, or every open one.
func (s *Server) Stop(ctx context.Context, _ Stop) error {
	if s.session != "" {
		_, err := s.client.StopSession(ctx, s.session)

		return err
	}

	open, err := s.client.Sessions(ctx, true)
	if err != nil {
		return err
	}

	var failures []string

	for _, one := range open {
		if _, err := s.client.StopSession(ctx, one.ID); err != nil {
			failures = append(failures, one.ID+": "+cause.Of(err))
		}
	}

	if len(failures) > 0 {
		return &client.Error{Code: client.CodeConflict, Message: "not everything was stopped: " + strings.Join(failures, ", "), Hint: "try again"}
	}

	return nil
}

// Undo implements [Port].
func (s *Server) Undo(ctx context.Context, u Undo) error {
	_, err := s.client.Undo(ctx, u.Question)

	return err
}

// Arguments implements [Port]. It reads the arguments once; they count as read when the last page is shown.
func (s *Server) Arguments(ctx context.Context, r PageRequest) (Page, error) {
	s.mu.Lock()
	items, known := s.read[r.Question]
	s.mu.Unlock()

	if !known {
		raw, err := s.client.PeekArguments(ctx, r.Question)
		if err != nil {
			return Page{}, err
		}

		items = s.items(r.Tool, raw)

		s.mu.Lock()
		s.read[r.Question] = items
		s.mu.Unlock()
	}

	page := PageOf(items, r)
	if page.Number < page.Pages {
		return page, nil
	}

	_, err := s.client.Arguments(ctx, r.Question)

	return page, err
}
