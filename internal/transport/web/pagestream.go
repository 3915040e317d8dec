package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

const (
	// comeBack is how soon a page reconnects after its stream has broken.
	comeBack = time.Second
	// stale is the maximum age of missed events that are announced in full; older ones are summarized.
	stale = 2 * time.Minute
	// glance is the interval at which the lists are refreshed without an event: a queued turn has no events yet, but
	// belongs there. Each refresh sends a heartbeat to the page. If the page gets none for three intervals, something
	// has stopped.
	glance = 10 * time.Second
)

// pageEvents is the stream of one page (not of AAEP): what it has to say and to show.
// It begins behind Last-Event-ID, or behind ?after= where a browser cannot send that;
// with ?fresh=true what was before is summed up. ?session= is the session that the page
// shows, and ?from= the number of the last event of it that the page has. ?lists= are the
// marks of the lists that it was made with: they are sent when they have changed. [Server.pageSocket] sends the same.
//
//	earshot.announce   one finished sentence for a live region
//	earshot.questions  the list of open questions, as HTML, and the page's title
//	earshot.sessions   the lists of sessions, as HTML, and the summary of their states
//	earshot.steps      new lines of the chosen session, as HTML, and chunks of its output
//	earshot.open       the open questions as sentences, for a page that reconnects
//	earshot.at         carries the id: everything that belongs to the event has been sent
//	earshot.heartbeat  every ten seconds: the server, the kernel and its ledger answer
func (s *Server) pageEvents(w http.ResponseWriter, r *http.Request, v visitor) error {
	p, err := s.pageStream(r, v)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		stream.Head(w)
		return nil
	}
	ctx, leave, err := s.enter(r.Context(), v.Principal)
	if err != nil {
		return err
	}
	subscription, err := p.subscribe(ctx)
	if err != nil {
		leave()
		return err
	}
	leave = both(subscription.Close, leave)
	s.serve(ctx, leave, w, r, s.watch(v), stream.Frame{Retry: comeBack}, func(ctx context.Context, send func([]stream.Frame) bool) error {
		return p.run(ctx, subscription, send)
	})
	return nil
}

// heartbeat says that the server, the kernel and its ledger answer.
var heartbeat = stream.Frame{Event: "earshot.heartbeat", Data: []byte("{}")}

// pageStream makes the frames of one page's stream.
type pageStream struct {
	speaker

	since time.Time
	after string // the resume point from which the page has to hear
	fresh bool   // what was before is summed up
	send  func([]stream.Frame) bool

	language string
	chosen   string
	story    page.Story
	due      []stream.Frame // of deliveries that others follow at once
	more     bool           // others follow these at once
	point    string         // the resume point behind these, if there is one
	moved    bool           // one of these may have changed the lists
	stepped  bool           // one of these belongs to the chosen session
	last     string         // the marks of the lists as the page has them
}

// pageStream is what a request asks for. Nothing is subscribed to yet.
func (s *Server) pageStream(r *http.Request, v visitor) (*pageStream, error) {
	query := r.URL.Query()
	from, err := number(r, "from")
	if err != nil {
		return nil, err
	}
	after := r.Header.Get("Last-Event-ID")
	fresh := after == "" && query.Get("fresh") == "true"
	v.reads(query.Get("lang"))
	p := &pageStream{
		language: query.Get("lang"), chosen: query.Get("session"), story: page.Story{Last: from}, since: s.now(), last: query.Get("lists"),
		after: cmp.Or(after, query.Get("after")), fresh: fresh,
	}
	if !fresh {
		p.since = p.since.Add(-stale)
	}
	p.speaker = s.speaker(v, announce.Preferences{Language: p.language, Surface: page.Surface, Since: p.since})
	return p, nil
}

// subscribe begins the subscription of the page. Its caller closes it.
func (p *pageStream) subscribe(ctx context.Context) (Subscription, error) {
	yes := p.visitor.May(api.Answer)
	return p.server.subscribeTo(ctx, p.visitor, aaep.SubscriptionRequest{
		SubscriberID: "earshot-page", SubscriberName: "The page of this server",
		Capabilities: aaep.Capabilities{SupportsConfirmationReply: &yes, SupportsClarificationReply: &yes},
	}, p.language)
}

// in is the language of the page.
func (p *pageStream) in() *page.Language { return p.server.pages.In(p.server.language(p.visitor)) }

// run sends the present state, and then updates.
func (p *pageStream) run(ctx context.Context, from Subscription, send func([]stream.Frame) bool) error {
	p.send = send
	taken, err := p.begin(ctx)
	if err != nil || !taken {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	next, done := pump(ctx, from, p.after)
	defer drain(done) // until its goroutine has ended
	defer cancel()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	peek := time.NewTicker(glance)
	defer peek.Stop()
	for {
		p.wind(timer)
		var group []stream.Frame
		select {
		case <-ctx.Done():
			return nil
		case err := <-done:
			return err
		case d := <-next:
			if group, err = p.delivered(ctx, d); err != nil {
				return err
			}
			p.server.counts.deliveries.Add(1)
		case <-timer.C:
			group = p.tick()
		case <-peek.C:
			if group, _, err = p.lists(ctx); err != nil {
				return err
			}
			group = append(group, heartbeat)
		}
		if len(group) > 0 && !p.send(group) {
			return nil
		}
	}
}

// tick returns the announcer's timed announcements that are due.
func (p *pageStream) tick() []stream.Frame {
	answer := announced(p.announcer.Tick(p.server.now()))
	if !p.more {
		return answer
	}
	p.due = append(p.due, answer...)
	return nil
}

// begin sends the first frames of a page: the lists where they have changed, the events of the chosen session since the page was
// made, and then what is said of what was before. It reports whether the page took them.
func (p *pageStream) begin(ctx context.Context) (taken bool, err error) {
	group, n, err := p.lists(ctx)
	if err != nil {
		return false, err
	}
	if p.chosen == "" && n.Chosen != nil {
		p.chosen = n.Chosen.ID
	}
	steps, err := p.catchUp(ctx)
	if err != nil {
		return false, err
	}
	if group = append(group, steps...); len(group) == 0 { // it is connected, and has everything
		group = append(group, heartbeat)
	}
	if !p.send(group) {
		return false, nil
	}
	before := p.open
	if p.fresh {
		before = p.sumUp
	}
	group, err = before(ctx, n)
	return err == nil && p.send(group), err
}

// sumUp returns the summary of the running sessions for a fresh page.
func (p *pageStream) sumUp(ctx context.Context, n page.News) ([]stream.Frame, error) {
	var group []stream.Frame
	for _, l := range n.Sessions.Running {
		if l.Last == 0 { // it waits to be taken up, and has told nothing
			continue
		}
		err := p.learn(ctx, l.ID, l.Last, func(e aaep.Event, seq int64) {
			group = append(group, announced(p.announcer.Event(p.server.now(), e, seq))...)
		})
		if err != nil {
			return nil, err
		}
	}
	return append(group, announced(p.announcer.Tick(p.server.now()))...), nil
}

// openFrame contains the announcements of the open questions.
type openFrame struct {
	Questions []api.Announcement `json:"questions"`
}

// open announces all open questions again: after a reconnect the person may not know them any more. Each has the id
// that it has on the stream, so that a page announces it only once.
func (p *pageStream) open(ctx context.Context, n page.News) ([]stream.Frame, error) {
	questions := n.Open
	if p.visitor.single() {
		var err error
		if questions, err = p.server.allOpen(ctx, p.visitor); err != nil {
			return nil, err
		}
		p.observeOpen(questions)
	}
	announcer := announce.New(announce.Preferences{
		Language: p.language, Person: p.visitor.Name, Surface: page.Surface, Zone: p.visitor.zone, OneQuestion: p.visitor.single(),
		Translation: p.in().Announcers(),
	})
	f := openFrame{Questions: []api.Announcement{}}
	var asked []aaep.Event
	for _, q := range questions {
		e, err := aaep.DecodeEvent(q.Event)
		if err != nil {
			continue // it is in the list
		}
		asked = append(asked, e)
		// If several sessions ask, each question names its own; the announcer must therefore know all of them
		// beforehand.
		announcer.Observe(aaep.Event{SessionID: e.SessionID, Time: e.Time, Producer: e.Producer, Payload: aaep.StateChanged{}}, 0)
	}
	for _, e := range asked {
		for _, a := range announcer.Event(p.server.now(), e, 0) {
			f.Questions = append(f.Questions, page.Announcement(a))
		}
	}
	return encoded("earshot.open", f)
}

// delivered returns the frames of one delivery, and of the earlier ones that it follows at once: the lists are read
// once for all of them, and one id ends them: a page that resumes is sent thousands. Only the last frame carries the id. A page
// that lost some of them therefore gets all of them again, and recognizes by their own ids which it has.
func (p *pageStream) delivered(ctx context.Context, d Delivery) ([]stream.Frame, error) {
	answer, err := p.announce(ctx, d)
	if err != nil {
		return nil, err
	}
	p.due, p.more = append(p.due, answer...), d.More
	if id := point(d); id != "" {
		p.point = id
	}
	if p.more {
		return nil, nil
	}
	var group []stream.Frame
	if p.moved {
		lists, _, err := p.lists(ctx)
		if err != nil {
			return nil, err
		}
		group = append(group, lists...)
	}
	if p.stepped {
		steps, err := p.catchUp(ctx)
		if err != nil {
			return nil, err
		}
		group = append(group, steps...)
	}
	group = append(group, p.due...)
	if p.point != "" {
		group = append(group, stream.Frame{ID: p.point, Event: "earshot.at", Data: []byte("{}")})
	}
	p.due, p.point, p.moved, p.stepped = nil, "", false, false
	return group, nil
}

// announce passes a delivery to the announcer.
func (p *pageStream) announce(ctx context.Context, d Delivery) ([]stream.Frame, error) {
	said, e, err := p.delivery(ctx, d)
	if err != nil {
		return nil, err
	}
	if e.Payload != nil {
		p.moved = p.moved || changes(e)
		p.stepped = p.stepped || d.Session == p.chosen
	}
	return announced(said), nil
}

// changes reports whether an event may change the lists.
func changes(e aaep.Event) bool {
	switch e.Payload.(type) {
	case aaep.OutputStreaming, aaep.ProgressUpdated, aaep.ToolInvoked, aaep.ToolCompleted:
		return false
	}
	return true
}

// stepsFrame contains the updates of the chosen session.
type stepsFrame struct {
	Session  string       `json:"session_id"`
	Last     int64        `json:"last"`
	HTML     string       `json:"html,omitzero"`
	Outputs  []page.Piece `json:"outputs,omitzero"`
	Progress string       `json:"progress"`
	// Undo is a question whose yes can be taken back from now on, Over one whose cannot any more.
	Undo int `json:"undo,omitzero"`
	Over int `json:"over,omitzero"`
	// Yes is the text that the accept is recorded.
	Yes string `json:"yes,omitzero"`
}

// catchUp reads the events of the chosen session since it was last shown.
func (p *pageStream) catchUp(ctx context.Context) ([]stream.Frame, error) {
	if p.chosen == "" {
		return nil, nil
	}
	f := stepsFrame{Session: p.chosen}
	begun, answer, undo := p.story.Last, p.story.Progress, p.story.Undo
	p.story.UndoEnded = 0
	for row, err := range p.server.hub.Events(ctx, p.visitor.Principal, p.chosen, p.story.Last, p.server.language(p.visitor)) {
		if err != nil {
			return nil, err
		}
		line, text := p.story.Add(row.Body, row.Seq)
		if line.Text != "" {
			html, err := p.in().Render("step", line)
			if err != nil {
				return nil, err
			}
			f.HTML += string(html)
		}
		if text.Complete {
			if text.HTML, err = p.laid(ctx, text.ID); err != nil {
				return nil, err
			}
		}
		if text.ID != "" {
			f.Outputs = append(f.Outputs, text)
		}
	}
	p.story.Shown()
	f.Last, f.Progress, f.Over = p.story.Last, p.in().Say(p.story.Progress), p.story.UndoEnded
	if (p.story.Undo != undo || f.Over == p.story.Undo) && p.visitor.May(api.Answer) {
		f.Undo = p.story.Undo
	}
	if f.Undo != 0 {
		f.Yes = p.in().Say(announce.Recorded(f.Undo, aaep.ResolutionAccepted))
	}
	if f.Last == begun || f.HTML == "" && len(f.Outputs) == 0 && p.story.Progress == answer && f.Undo == 0 && f.Over == 0 {
		return nil, nil
	}
	return encoded("earshot.steps", f)
}

// laid is an output of the chosen session that is complete, as it is laid out. One that had begun before the stream is read
// from the record.
func (p *pageStream) laid(ctx context.Context, output string) (template.HTML, error) {
	if html, whole := p.story.Laid(output); whole {
		return html, nil
	}
	one, err := p.server.hub.Session(ctx, p.visitor.Principal, p.chosen)
	if err != nil {
		return "", err
	}
	var html template.HTML
	err = p.server.record(ctx, p.visitor, one, func(r *page.Record) { html = r.Laid(output) })
	return html, err
}

// announced returns the frames of announcements.
func announced(answer []Announcement) []stream.Frame {
	var group []stream.Frame
	for _, a := range answer {
		frames, err := encoded("earshot.announce", page.Announcement(a))
		if err != nil {
			continue // cannot happen: it contains only text and numbers
		}
		group = append(group, frames...)
	}
	return group
}

func encoded(event string, value any) ([]stream.Frame, error) {
	data, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return nil, &Refusal{Kind: "internal_error", Message: "a part of the page could not be written", Cause: err}
	}
	return []stream.Frame{{Event: event, Data: data}}, nil
}
