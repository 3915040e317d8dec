package producer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// input is what happens to a listener.
type input struct {
	who  int // index of the listener
	kind inputKind
	raw  []byte // a message, or the answer to one
	// status and place, where the stream is, are of an answer over HTTP; status 0 is over a WebSocket.
	status  int
	place   string
	name    string // of an event of a stream, and id, as the transport has them; or the subprotocol of a WebSocket
	id      string
	code    int    // a close code
	problem string // why it ended
	of      string // the type of the message that was answered
}

type inputKind int

const (
	inAnswer  inputKind = iota + 1 // to the request
	inStream                       // the stream is open
	inMessage                      // an event, or on a WebSocket another message
	inReplied                      // the answer to what was sent back
	inEnded                        // the connection has ended, or there is none
)

// effect is what a listener does.
type effect struct {
	who   int
	kind  effectKind
	raw   []byte
	of    string // the type of raw
	place string // of the stream, as the producer has named it
	after string // the id of the last event that came
	bare  bool   // it is sent without the token
}

type effectKind int

const (
	doDial   effectKind = iota + 1 // connect and send the request
	doListen                       // take the stream that was granted
	doSend                         // send a message back
	doResume                       // break off, and go on behind the last event
	doLeave                        // end the connection
)

// exam judges one producer. It is a pure machine; its owner passes inputs in the order in which they happen.
type exam struct {
	o         Options
	url       string
	area      string // the area of the rules for its transport
	sse       bool   // whether that is server-sent events
	evidence  *report.Evidence
	listeners []*listener
	began     time.Time
	until     time.Time // when it ends at the latest
	sessions  map[string]bool
	open      map[string]*asked // questions that were answered, by token
	ready     bool
	refused   *report.Error // nobody is let in
	acted     int           // calls that cannot be undone, as the one who answers has heard them
	tries     *tries        // the replies that do not count, once they have begun
	silent    []*silence    // questions that were left alone
}

// asked is a question that was answered.
type asked struct {
	session  string
	decision aaep.Decision
	at       time.Time
	followed bool
	finding  report.Finding // where it was
}

// newExam returns an exam, and what is to be done first.
func newExam(o Options, rules []conform.Rule, area string, direct bool, now time.Time) (*exam, []effect) {
	x := &exam{
		o: o, url: o.URL, area: area, sse: area == "tr-sse", evidence: report.NewEvidence(rules), began: now, until: now.Add(o.For),
		sessions: map[string]bool{}, open: map[string]*asked{},
	}
	for _, r := range cast(o.Level, direct) {
		r.direct = direct
		x.listeners = append(x.listeners, &listener{role: r, request: r.request(), index: map[string]int{}, ended: map[string]bool{}})
	}
	effects := x.dialNext()
	return x, effects
}

// dialNext connects the first listener that has not been answered: they come one by one, so that the last hears nothing
// that the others miss.
func (x *exam) dialNext() []effect {
	for i, l := range x.listeners {
		if !l.answered {
			return []effect{x.dial(i)}
		}
	}
	x.ready = true
	return nil
}

func (x *exam) dial(who int) effect {
	l := x.listeners[who]
	if l.direct {
		return effect{who: who, kind: doDial}
	}
	request := l.request
	if l.plain {
		request.Capabilities.Extensions, request.Capabilities.SupportedExtensions, request.Capabilities.EventFilters, request.Extensions = nil, nil, nil, nil
	}
	raw, err := request.Encode()
	if err != nil {
		panic(fmt.Sprintf("the request of %s: %v", l.name, err)) // it is written in this package
	}
	return effect{who: who, kind: doDial, raw: raw, of: aaep.TypeSubscriptionRequest}
}

// step takes one input.
func (x *exam) step(in input, now time.Time) []effect {
	l := x.listeners[in.who]
	switch in.kind {
	case inAnswer:
		return x.answer(in, l)
	case inStream:
		return x.streams(in, l)
	case inMessage:
		return x.message(in, l, now)
	case inReplied:
		return x.replied(in, l, now)
	case inEnded:
		return x.end(in, l, now)
	}
	return nil
}

// streams notes that events may come now.
func (x *exam) streams(in input, l *listener) []effect {
	l.gone = false
	if l.broke > 0 {
		l.back = true
		x.evidence.Saw("HS-67")
		l.connected(false)
		return nil
	}
	l.answered = true
	l.connected(x.o.Fresh)
	effects := x.dialNext()
	if l.renegotiates != nil && !l.asked {
		l.asked = true
		raw, err := aaep.SubscriptionRenegotiate{
			SubscriptionID: l.accepted.SubscriptionID, Capabilities: aaep.Capabilities{EventFilters: l.renegotiates},
		}.Encode()
		if err == nil {
			effects = append(effects, effect{who: in.who, kind: doSend, raw: raw, of: aaep.TypeSubscriptionRenegotiate})
		}
	}
	return effects
}

// end notes that a connection has ended, or that there is none.
func (x *exam) end(in input, l *listener, now time.Time) []effect {
	l.gone = true
	if !l.answered {
		l.answered, l.problem = true, in.problem
		if l.large {
			x.evidence.Saw("TR-12")
			x.breach(l, nil, "", "TR-12", fmt.Sprintf("found no answer to a request of %d bytes (%s), expected that messages of 64 KiB pass", largeRequest, in.problem))
		}
		if l.name == "main" {
			x.refused = &report.Error{Message: in.problem, Hint: "see that the producer runs, and check the address and the token"}
		}
		return x.dialNext()
	}
	if in.code == int(transport.NotText) || in.code == int(transport.NotUTF8) {
		x.breach(l, nil, "", "TR-WS-03", in.problem)
	}
	if !l.closing.IsZero() && l.finished.IsZero() {
		l.finished = now
	}
	x.finish(now)
	if l.problem == "" && l.closing.IsZero() && in.problem != "" && !l.probe {
		l.problem = in.problem
		if l.broke > 0 && !l.back {
			x.breach(l, nil, "", "HS-67", "found that it does not come back after its connection broke ("+in.problem+"), expected a producer that bears it")
		}
	}
	return nil
}

// next is when the exam wants to be asked again.
func (x *exam) next() time.Time {
	if t := x.tries; t != nil && !t.due.IsZero() && t.due.Before(x.until) {
		return t.due
	}
	return x.until
}

// tick goes on where time has passed.
func (x *exam) tick(now time.Time) []effect {
	if t := x.tries; t != nil && !t.due.IsZero() && !now.Before(t.due) {
		return x.nextTry(now)
	}
	return nil
}

// over reports whether the exam has ended.
func (x *exam) over(now time.Time) bool { return x.refused != nil || !now.Before(x.until) }

// find notes findings about the present message of a listener.
func (x *exam) find(l *listener, raw []byte, eventID string, found ...aaep.Violation) {
	for _, v := range found {
		x.evidence.Note(v, report.Finding{Peer: l.name, Line: l.line, EventID: eventID, Message: report.Beginning(raw)}, l.answers)
	}
}

// breach is a finding that only an exchange shows.
func (x *exam) breach(l *listener, raw []byte, eventID, rule, text string, also ...string) {
	x.find(l, raw, eventID, x.evidence.Violation(rule, text, also...))
}

// report ends the exam.
func (x *exam) report(now time.Time) report.Report {
	x.compare()
	x.conclude(now)
	x.evidence.Sort(func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(x.place(a.Peer), x.place(b.Peer)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.EventID, b.EventID))
	})
	r := report.Report{
		Judges: report.Producer, URL: x.url, Level: x.o.Level, Began: x.began, Length: now.Sub(x.began), Sessions: len(x.sessions),
		Verdicts: x.evidence.Verdicts(x.o.Level, func(r conform.Rule) (int, bool) { return expectedFrom(r), judged(r, x.area) }),
	}
	for _, l := range x.listeners {
		r.Peers = append(r.Peers, report.Peer{Name: l.name, Role: l.about, Messages: l.line, Problem: l.problem})
	}
	return r
}

// place is that of a listener in the order of connecting, backwards: what the main one heard comes first.
func (x *exam) place(name string) int {
	return -slices.IndexFunc(x.listeners, func(l *listener) bool { return l.name == name })
}

// leave returns the closes of those that still listen.
func (x *exam) leave() []effect {
	var effects []effect
	for i, l := range x.listeners {
		if !l.live() || l.accepted == nil || !l.closing.IsZero() {
			continue
		}
		if raw, err := (aaep.SubscriptionClose{SubscriptionID: l.accepted.SubscriptionID, ReasonCode: "subscriber_shutdown"}).Encode(); err == nil {
			effects = append(effects, effect{who: i, kind: doSend, raw: raw, of: aaep.TypeSubscriptionClose})
		}
	}
	return effects
}
