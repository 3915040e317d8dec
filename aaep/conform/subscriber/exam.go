package subscriber

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// input is what the subscriber does.
type input struct {
	conn int // of the connection; over HTTP each request has its own
	kind inputKind
	via  carrier
	raw  []byte // a message
	// of a stream: the subscription that it names, and the event after which it goes on
	subscription, after string
	flaws               []aaep.Violation // of the transport; only rule and text
	code                int              // with which it has closed a WebSocket; 0 is without one
}

type inputKind int

const (
	inRequest inputKind = iota + 1 // a message that is to be a subscription.request
	inStream                       // the stream is wanted
	inMessage                      // another message
	inOpened                       // a connection is open that carries a whole subscription
	inEnded                        // the connection has ended
)

// effect is what the script does.
type effect struct {
	conn   int
	kind   effectKind
	status int    // of an answer over HTTP
	raw    []byte // a message
	id     string // of the event
}

type effectKind int

const (
	doAnswer effectKind = iota + 1
	doSend
	doEnd  // break the connection off
	doStop // the subscriber is to be stopped
)

// subscription is one that was granted.
type subscription struct {
	id     string
	honors aaep.Capabilities
	conn   int // of its stream; 0 is none
	via    carrier
	closed time.Time // when the subscriber has closed it
}

// sent is an event of the script that has been sent.
type sent struct {
	id  string
	raw []byte
}

// exam judges one subscriber. It is a pure machine; its owner passes inputs in the order in which they happen.
type exam struct {
	o        Options
	evidence *report.Evidence
	began    time.Time
	until    time.Time // when it ends at the latest

	script []step
	at     int       // of the script; -1 before the first
	due    time.Time // when the next step comes, or the script gives up; zero while it waits for the first connection
	parts  []report.Peer

	subscriptions map[string]*subscription
	current       *subscription // the last one that has a stream
	questions     map[string]*question
	log           []sent
	lines         int
	via           carrier
	away          bool // the connection is lost, and is to come back
	cut           bool // the script has broken it
	stopping      bool
	gone          bool // it has left, or its connection has ended, while it was stopped
	said          bool // with subscription.close
}

func newExam(o Options, rules []conform.Rule, now time.Time) *exam {
	x := &exam{
		o: o, evidence: report.NewEvidence(rules), began: now, until: now.Add(o.For), at: -1,
		subscriptions: map[string]*subscription{}, questions: map[string]*question{},
	}
	for _, s := range append(tolerance(), consent(o.Person)...) {
		if s.level <= o.Level {
			x.script = append(x.script, s)
			x.parts = append(x.parts, report.Peer{Name: s.name, Role: s.about})
		}
	}
	return x
}

// next is when the exam wants to be asked again.
func (x *exam) next() time.Time {
	if x.due.IsZero() || x.due.After(x.until) {
		return x.until
	}
	return x.due
}

func (x *exam) over(now time.Time) bool { return !now.Before(x.until) }

// step takes one input.
func (x *exam) step(in input, now time.Time) []effect {
	for _, flaw := range in.flaws {
		x.breach(nil, flaw.Rule, flaw.Message)
	}
	switch in.kind {
	case inOpened:
		x.via = in.via
		x.evidence.Saw(in.via.duties().opened...)
	case inRequest:
		x.lines++
		return x.request(in, now)
	case inStream:
		return x.stream(in, now)
	case inMessage:
		x.lines++
		return x.message(in, now)
	case inEnded:
		x.end(in, now)
	}
	return nil
}

// tick goes on with the script.
func (x *exam) tick(now time.Time) []effect {
	if x.due.IsZero() || now.Before(x.due) {
		return nil
	}
	switch {
	case x.stopping:
		x.until = now
		return nil
	case x.away:
		x.part().Problem = "it has not come back"
		x.until = now
		return nil
	}
	effects := x.finish(now)
	for x.at++; x.at < len(x.script); x.at++ {
		if s := &x.script[x.at]; s.ask == nil || x.takes(s.ask) {
			return append(effects, x.play(s, now)...)
		}
		x.part().Problem = "the subscriber takes no such questions"
	}
	x.at = len(x.script) - 1
	x.stopping, x.due = true, now.Add(patience)
	return append(effects, effect{kind: doStop})
}

// takes reports whether the subscriber has said that it can answer.
func (x *exam) takes(q *question) bool {
	can := x.current.honors.SupportsConfirmationReply
	if q.kinds != nil {
		can = x.current.honors.SupportsClarificationReply
	}
	return can != nil && *can
}

// finish ends a step for which the connection has held.
func (x *exam) finish(now time.Time) []effect {
	if x.at < 0 {
		return nil
	}
	s := &x.script[x.at]
	x.evidence.Saw(s.rules...)
	q := s.ask
	if q == nil || q.closes || q.trap != "" {
		return nil
	}
	if q.open() {
		x.evidence.Saw("L2S-3")
	}
	if q.open() && q.replies == 0 {
		x.breach(nil, "L2S-3", fmt.Sprintf("found no reply in %d seconds, expected %s", questionSeconds, q.wants))
	}
	return x.emit(ended, now)
}

// play begins a step.
func (x *exam) play(s *step, now time.Time) []effect {
	x.due = now.Add(max(s.wait, settle))
	if s.cut {
		x.away, x.cut, x.due = true, true, now.Add(patience)
		return []effect{{conn: x.current.conn, kind: doEnd}}
	}
	if q := s.ask; q != nil {
		q.asked = now
		x.questions[q.token] = q
		if q.closes {
			q.closed = now
		} else if q.open() {
			x.due = now.Add(questionSeconds * time.Second)
		}
	}
	events := s.events
	if s.burst {
		for range min(max(x.current.honors.MaxEventsPerSecond, defaultBurst), maxBurst) - 1 {
			events = append(slices.Clip(events), progress)
		}
	}
	var effects []effect
	for _, e := range events {
		effects = append(effects, x.emit(e, now)...)
	}
	return effects
}

// emit sends an event, or the one before the last again.
func (x *exam) emit(template string, now time.Time) []effect {
	if template == "again" {
		return x.send(x.log[len(x.log)-1])
	}
	id := fmt.Sprintf("evt_%d", len(x.log)+1)
	raw := strings.NewReplacer("evt_#", id, `"@"`, `"`+aaep.FormatTime(now)+`"`).Replace(template)
	e := sent{id: id, raw: []byte(raw)}
	if !strings.Contains(raw, id) {
		e.id = "" // it is not an event
	}
	x.log = append(x.log, e)
	return x.send(e)
}

func (x *exam) send(e sent) []effect {
	if x.current == nil || x.current.conn == 0 {
		return nil
	}
	kind, filters := report.TypeOf(e.raw), x.current.honors.EventFilters
	if kind != "" && kind != aaep.TypeAwaitingConfirmation && kind != aaep.TypeAwaitingClarification && !filters.Passes(kind, nil) {
		return nil
	}
	return []effect{{conn: x.current.conn, kind: doSend, raw: e.raw, id: e.id}}
}

// end notes that a connection has ended.
func (x *exam) end(in input, now time.Time) {
	if x.current == nil || x.current.conn != in.conn {
		return
	}
	x.current.conn = 0
	closed := !x.current.closed.IsZero()
	if in.via == overSocket && in.code != 0 {
		x.evidence.Saw("TR-WS-07")
		if code := transport.Code(in.code); code >= transport.Clean && code != transport.EndedBySubscriber {
			x.breach(nil, "TR-WS-07", fmt.Sprintf("found the close code %d, expected %d of who ends its own subscription, or one of WebSocket", in.code, transport.EndedBySubscriber))
		}
	}
	switch {
	case x.cut: // as the script wants
		return
	case x.stopping:
		x.leaves(closed || transport.Code(in.code) == transport.EndedBySubscriber, now)
		return
	case closed: // that has been judged
		return
	case len(in.flaws) > 0: // it was ended here, because of them
		x.credit(now)
		x.away, x.due = true, now.Add(patience)
		return
	}
	x.breaks(now)
}

// breaks notes that the subscriber has ended its connection while the script goes on.
func (x *exam) breaks(now time.Time) {
	x.evidence.Saw(x.script[x.at].rules...)
	x.breach(nil, x.blamed(), fmt.Sprintf("found the connection ended by the subscriber after %s, expected that it goes on", x.script[x.at].about))
	x.away, x.due = true, now.Add(patience)
}

// blamed is the rule that is broken where the connection ends in the present step.
func (x *exam) blamed() string {
	s := x.script[x.at]
	return cmp.Or(s.blame, append(slices.Clip(s.rules), "L1S-1")[0])
}

// leaves notes that a subscriber has been stopped. What it sends after that is still heard for a while.
func (x *exam) leaves(said bool, now time.Time) {
	x.said = x.said || said
	if !x.gone {
		x.gone, x.until = true, now.Add(lastWords)
		x.due = x.until
	}
}

// farewell judges how a subscriber has left, if it has.
func (x *exam) farewell() {
	if !x.gone {
		return
	}
	x.evidence.Saw("HS-71", "L3S-7")
	if x.said {
		x.evidence.Saw("TR-08")
	}
	if !x.said && x.o.Level == 3 {
		x.breach(nil, "HS-71", "found the connection ended without subscription.close, expected one of who shuts down", "L3S-7")
	}
}

// part is the present step in the report.
func (x *exam) part() *report.Peer { return &x.parts[max(x.at, 0)] }

// breach is a finding that only an exchange shows.
func (x *exam) breach(raw []byte, rule, text string, also ...string) {
	x.note(raw, x.evidence.Violation(rule, text, also...))
}

func (x *exam) note(raw []byte, v aaep.Violation) {
	x.evidence.Note(v, report.Finding{Peer: x.part().Name, Line: x.lines, Message: report.Beginning(raw)}, false)
}

// judge validates one message by itself.
func (x *exam) judge(raw []byte) aaep.Document {
	x.part().Messages++
	d := aaep.Read(raw)
	x.evidence.Shape(d)
	for _, v := range d.Validate(aaep.ModeProducer) {
		x.note(raw, v)
	}
	return d
}

// report ends the exam.
func (x *exam) report(url string, now time.Time) report.Report {
	x.farewell()
	return report.Report{
		Judges: report.Subscriber, URL: url, Level: x.o.Level, Began: x.began, Length: now.Sub(x.began), Sessions: min(len(x.log), 1), Peers: x.parts,
		Verdicts: x.evidence.Verdicts(x.o.Level, func(r conform.Rule) (int, bool) { return expectedFrom(r), judged(r, x.via) }),
	}
}
