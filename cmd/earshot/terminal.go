package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// hubPort is the surface of one run: the terminal in which it was started. It implements terminal.Port on the hub.
type hubPort struct {
	hub     *hub.Hub
	session string
	person  string
	now     func() time.Time
	// live reports whether a question is still open; nil: every one is. A question that an earlier run has asked and
	// that was answered is not asked again.
	live func(ctx context.Context, token string) bool

	mu        sync.Mutex
	arguments map[int][]terminal.Item // by question, read once; under mu
}

// surface is the name of this surface in receipts.
const surface = "terminal"

func newHubPort(h *hub.Hub, session string, now func() time.Time) *hubPort {
	return &hubPort{hub: h, session: session, person: instance.LocalUser(), now: now, arguments: map[int][]terminal.Item{}}
}

// Events implements terminal.Port.
func (t *hubPort) Events(ctx context.Context) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		for row, err := range t.hub.Follow(ctx, t.session, 0) {
			if err != nil {
				yield(client.Event{}, err)
				return
			}
			event, err := aaep.DecodeEvent(row.Body)
			if err != nil {
				yield(client.Event{}, fmt.Errorf("event %d: %w", row.Seq, err))
				return
			}
			d := client.Event{Event: event, Raw: row.Body}
			if t.isClosed(ctx, event) {
				d.Event = aaep.Event{}
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// isClosed reports whether the event is a question that is no longer open.
func (t *hubPort) isClosed(ctx context.Context, e aaep.Event) bool {
	if t.live == nil {
		return false
	}
	switch p := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		return !t.live(ctx, p.ReplyToken)
	case aaep.AwaitingClarification:
		return !t.live(ctx, p.ReplyToken)
	default:
		return false
	}
}

func (t *hubPort) reply() api.ReplyRequest {
	return api.ReplyRequest{Session: t.session, By: t.person, Surface: surface, Lists: true}
}

// Answer implements terminal.Port.
func (t *hubPort) Answer(ctx context.Context, a terminal.Answer) error {
	r := t.reply()
	r.Token, r.Decision, r.At = a.Token, string(a.Decision), a.At
	if a.Decision == "" {
		r.Response = a.Response.Plain()
	}
	said, err := t.hub.Answer(ctx, r)
	if err == nil && said.Resolution == string(aaep.ResolutionAccepted) {
		t.hub.Noticed(ctx, api.ReplyRequest{Question: said.Question, Token: r.Token, By: r.By, Surface: r.Surface})
	}
	return t.personError(err)
}

// Extend implements terminal.Port.
func (t *hubPort) Extend(ctx context.Context, e terminal.Extend) error {
	r := t.reply()
	r.Token, r.At = e.Token, e.At
	_, err := t.hub.Extend(ctx, r)
	return t.personError(err)
}

// Stop implements terminal.Port.
func (t *hubPort) Stop(ctx context.Context, s terminal.Stop) error {
	r := t.reply()
	r.At, r.Reason = s.At, "the person said stop"
	_, err := t.hub.Stop(ctx, r)
	return t.personError(err)
}

// Undo implements terminal.Port.
func (t *hubPort) Undo(ctx context.Context, u terminal.Undo) error {
	r := t.reply()
	r.Question, r.At = u.Question, u.At
	_, err := t.hub.Undo(ctx, r)
	return t.personError(err)
}

// Arguments implements terminal.Port.
func (t *hubPort) Arguments(ctx context.Context, q terminal.PageRequest) (terminal.Page, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	items, known := t.arguments[q.Question]
	if !known {
		raw, err := t.whole(ctx, api.ArgumentsRequest{Question: q.Question, Peek: true})
		if err != nil {
			return terminal.Page{}, t.personError(err)
		}
		items = cli.ItemsOf(q.Tool, raw)
		t.arguments[q.Question] = items
	}
	page := terminal.PageOf(items, q)
	if page.Number < page.Pages {
		return page, nil
	}
	_, err := t.whole(ctx, api.ArgumentsRequest{Question: q.Question, By: t.person, Surface: surface}) // now all of it is shown
	return page, t.personError(err)
}

// whole reads all arguments of a question.
func (t *hubPort) whole(ctx context.Context, q api.ArgumentsRequest) ([]byte, error) {
	var all []byte
	for {
		q.Offset = int64(len(all))
		piece, size, err := t.hub.Arguments(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, piece...)
		if int64(len(all)) >= size || len(piece) == 0 {
			return all, nil
		}
	}
}

// personError converts an error to one for the person, without its code. Times in it are in the terminal's zone.
func (t *hubPort) personError(err error) error {
	fault := cli.AsFault(err)
	switch {
	case fault == nil:
		return err
	case fault.Closed == nil:
		return fmt.Errorf("%s", fault.Message)
	}
	c, now := fault.Closed, t.now()
	told := announce.Closed{Question: c.Question, Resolution: aaep.Resolution(c.Resolution), By: c.By, Surface: c.Surface, At: c.At}
	return fmt.Errorf("%s", told.Text(now, now.Location()))
}

// console returns the options of the terminal where a run narrates and takes commands.
func (m *Main) console(f runFlags, l *line, a attendance) terminal.Options {
	out, prompt := m.Stdout, m.Stdout
	o := terminal.Options{
		Now: m.Now, Zone: cli.ZoneOf(a.prefers, m.Now().Location()), Person: a.person, Verbosity: aaep.Verbosity(api.Chosen(a.prefers.Verbosity)),
		OneQuestion: api.Chosen(a.prefers.Questions) == "one", Away: m.Away,
	}
	if f.asJSON {
		o.JSON = l.to(m.Stdout)
		out, prompt = m.Stderr, m.Stderr
	}
	o.Width = cli.WidthOf(out)
	o.Out, o.Prompt = l.to(out), l.to(prompt)
	if f.noInput {
		o.NoInput, o.Alone = "--no-input", a.absent != nil
	}
	if m.Stdin != nil && !f.noInput && !f.inputRead {
		o.In = m.Stdin
		if cli.IsTerminal(m.Stdin) {
			o.FlushInput = func() { terminal.FlushTerminal(m.Stdin) }
			if file, is := prompt.(*os.File); is && cli.IsTerminal(file) { // keys are echoed where the questions are
				o.RawKeys = func() (func(), error) { return terminal.RawKeys(m.Stdin) }
			}
		}
	}
	return o
}
