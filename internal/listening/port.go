package listening

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// answerTime is how long a producer may take to go on from a question that was answered.
const answerTime = 10 * time.Second

// Options configure a [Port]. Subscription is required.
type Options struct {
	Subscription *subscribe.Subscription
	// Person is the name that goes with the answers; "" for none.
	Person string
	// Found is called for each finding of a kind, in a message with this event id, by the goroutine of the events.
	Found func(event string, v aaep.Violation)
	// Lost is called where messages may be missing, or one cannot be acted on, by the same goroutine.
	Lost func(err error)
	Now  func() time.Time // default time.Now
}

// Port is a producer, as a terminal hears it. Create it with [New].
type Port struct {
	o     Options
	judge *judge

	mu      sync.Mutex
	highest int
	open    []*question
}

var _ terminal.Port = (*Port)(nil)

// question is an open question of the producer.
type question struct {
	announce.Question

	token    string
	arrived  time.Time
	timeout  time.Duration // 0: it waits
	numbered bool          // by the producer
	items    []terminal.Item
	answered aaep.Resolution       // what was answered here; "" if nothing was
	ended    chan aaep.Resolution  // how it ended, for the one who has answered
	refused  chan *subscribe.Error // why an answer was not taken
}

// New returns the port to a producer.
func New(o Options) *Port {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Port{o: o, judge: newJudge()}
}

// Verdict returns what was found; call it when the events have ended.
func (p *Port) Verdict() Verdict { return p.judge.verdict }

// Close leaves the producer, and tells it why.
func (p *Port) Close(ctx context.Context, reason string) { p.o.Subscription.Close(ctx, reason) }

// Events implements [terminal.Port]. Every message is passed on as it came, and those that are not events are not shown.
func (p *Port) Events(ctx context.Context) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		var seen aaep.Seen
		for m, err := range p.o.Subscription.Messages(ctx) {
			if errors.Is(err, subscribe.ErrLost) {
				p.judge.verdict.Lost++
				p.o.Lost(err)
				continue
			}
			if err != nil {
				yield(client.Event{}, failure(err))
				return
			}
			if !yield(p.message(m.Raw, &seen), nil) {
				return
			}
		}
	}
}

// failure is an error of the producer, as those who run a terminal tell it.
func failure(err error) error {
	if e, is := errors.AsType[*subscribe.Error](err); is {
		return &client.Error{Code: client.Code(e.Code), Message: e.Message, Hint: e.Hint, Err: err}
	}
	return err
}

// plain is why a message cannot be read, without the code that programs go by.
func plain(err error) string {
	if e, is := errors.AsType[*aaep.Error](err); is {
		return e.Message
	}
	return cause.Of(err)
}

// message judges a message, and reads it for the person.
func (p *Port) message(raw []byte, seen *aaep.Seen) client.Event {
	document := aaep.Read(raw)
	kind, _ := document.Text("type")
	if kind == transport.TypeReplyRefused {
		p.refuse(document)
		return client.Event{Raw: raw}
	}
	id, _ := document.Text("event_id")
	for _, v := range p.judge.message(raw) {
		p.o.Found(id, v)
	}
	switch kind {
	case aaep.TypeSubscriptionAccepted, aaep.TypeSubscriptionRejected, aaep.TypeSubscriptionClose: // what follows is told as a connection that ends
		return client.Event{Raw: raw}
	}
	event, err := aaep.DecodeEvent(raw)
	switch {
	case err != nil:
		p.o.Lost(cause.Fail(err, "a message cannot be shown: "+plain(err), ""))
		return client.Event{Raw: raw}
	case !seen.Add(event.ID):
		return client.Event{Raw: raw}
	}
	return client.Event{Event: p.track(event), Raw: raw}
}

// track notes questions and their ends, and says in the event what a producer without numbers leaves open.
func (p *Port) track(e aaep.Event) aaep.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if asked, asks := announce.ReadQuestion(e); asks {
		return p.ask(asked, e)
	}
	if changed, is := e.Payload.(aaep.StateChanged); is && changed.FromState == aaep.StateAwaitingInput && changed.ToState != aaep.StateAwaitingInput {
		return p.end(e)
	}
	if e.IsTerminal() {
		for _, q := range p.of(e.SessionID) {
			p.close(q, "")
		}
	}
	return e
}

// ask adds a question, with a number.
func (p *Port) ask(asked announce.Question, e aaep.Event) aaep.Event {
	q := &question{Question: asked, arrived: p.o.Now(), numbered: asked.Number > 0, ended: make(chan aaep.Resolution, 1), refused: make(chan *subscribe.Error, 1)}
	switch payload := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		q.token, q.timeout = payload.ReplyToken, time.Duration(payload.TimeoutSeconds)*time.Second
	case aaep.AwaitingClarification:
		q.token, q.timeout = payload.ReplyToken, time.Duration(payload.TimeoutSeconds)*time.Second
	}
	if !q.numbered {
		q.Number = p.highest + 1
		if numbered, err := e.Extend(aaep.PrefixEarshot, "question", q.Number); err == nil {
			e = numbered
		}
	}
	p.highest = max(p.highest, q.Number)
	if arguments, is := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Value("arguments"); is {
		q.items = terminal.Values(arguments)
	}
	for _, old := range p.of(e.SessionID) {
		if old.token == q.token || old.Number == q.Number { // asked again
			p.close(old, aaep.ResolutionExtended)
		}
	}
	p.open = append(p.open, q)
	return e
}

// of lists the open questions of a session, in the order in which they were asked.
func (p *Port) of(session string) (open []*question) {
	for _, q := range p.open {
		if q.Session == session {
			open = append(open, q)
		}
	}
	return open
}

// told closes the question of which the producer says how it ended: by its token, or by its number.
func (p *Port) told(e aaep.Event, ours aaep.Document, how aaep.Resolution) aaep.Event {
	number, _ := ours.Whole("question")
	token, named := ours.Text("reply_token")
	for _, q := range p.of(e.SessionID) {
		if named && q.token != token || !named && q.Number != int(number) {
			continue
		}
		p.close(q, how)
		if numbered, err := e.Extend(aaep.PrefixEarshot, "question", q.Number); err == nil && !q.numbered {
			e = numbered
		}
	}
	return e
}

// end closes the question that a change of state is about. A producer may say which, and how it ended. Of another, it is the
// oldest of the session, and what was answered here is how; else its time is over, or nobody here knows.
func (p *Port) end(e aaep.Event) aaep.Event {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	if how, said := ours.Text("resolution"); said {
		return p.told(e, ours, aaep.Resolution(how))
	}
	open := p.of(e.SessionID)
	if len(open) == 0 {
		return e
	}
	q := open[0]
	for _, other := range open {
		if other.answered != "" {
			q = other
			break
		}
	}
	how := q.answered
	switch {
	case q.timeout > 0 && p.o.Now().Sub(q.arrived) >= q.timeout: // also of one that was answered: the default may have been sooner
		how = aaep.ResolutionExpired
	case how == "":
		how = aaep.ResolutionWithdrawn
	}
	p.close(q, how)
	annotated, err := e.Extend(aaep.PrefixEarshot, "question", q.Number)
	if err == nil {
		annotated, err = annotated.Extend(aaep.PrefixEarshot, "resolution", string(how))
	}
	if err == nil && q.answered != "" && p.o.Person != "" {
		annotated, err = annotated.Extend(aaep.PrefixEarshot, "by", p.o.Person)
	}
	if err != nil {
		return e
	}
	return annotated
}

// close forgets a question, and tells the one who has answered it how it ended; "" is with its session.
func (p *Port) close(q *question, how aaep.Resolution) {
	for i, other := range p.open {
		if other == q {
			p.open = append(p.open[:i:i], p.open[i+1:]...)
			break
		}
	}
	select {
	case q.ended <- how:
	default:
	}
}
