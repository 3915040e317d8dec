package producer

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// maxAhead is how far in the future a time may lie, for two clocks that do not agree.
const maxAhead = time.Minute

// terminals end a session.
var terminals = []string{aaep.TypeSessionCompleted, aaep.TypeSessionErrored, aaep.TypeSessionCancelled}

// criticals pass every filter and rate (BP-06).
var criticals = []string{aaep.TypeSessionErrored, aaep.TypeAwaitingConfirmation, aaep.TypeAwaitingClarification, aaep.TypeHandoffRequested}

// consent are rules that only the one who answers can judge: the others do not see the answer, or not even the question.
var consent = []string{"SEQ-22", "SEQ-23", "SEQ-24", "SEQ-25", "SEQ-26", "SEQ-30", "CONF-01", "CONF-02"}

// message judges what comes on a stream.
func (x *exam) message(in input, l *listener, now time.Time) []effect {
	kind := report.TypeOf(in.raw)
	if !x.sse && (kind == aaep.TypeSubscriptionAccepted || kind == aaep.TypeSubscriptionRejected) {
		if l.asked {
			x.renewed(in.raw, l, now)
		}
		return nil
	}
	d := aaep.Read(in.raw)
	sessionID, _ := d.Text("session_id")
	if x.o.Session != "" && sessionID != "" && sessionID != x.o.Session {
		return nil
	}
	l.line++
	id, _ := d.Text("event_id")
	if in.id != "" {
		l.last = in.id
	} else if id != "" {
		l.last = id
	}
	x.framed(in, l, id)
	if _, again := l.index[id]; !again || id == "" {
		x.judge(l, in.raw)
	}
	x.ordered(l, d, id, now)
	return x.heard(in, l, d, now)
}

// ordered judges an event by those before it, and by the terms.
func (x *exam) ordered(l *listener, d aaep.Document, id string, now time.Time) {
	raw, _ := d.Value()
	x.count(l, d, report.TypeOf(raw))
	for _, v := range l.checker.CheckDocument(d) {
		if !l.answers && slices.ContainsFunc(consent, v.Names) {
			continue
		}
		if l.renegotiates != nil && (v.Rule == "BP-11" || v.Rule == "BP-12") {
			if now.Sub(l.renewed) < inFlight {
				continue
			}
			v.Also, v.Rule = append([]string{v.Rule}, v.Also...), "HS-63"
		}
		x.find(l, raw, id, x.provoked(l, x.reused(l, v)))
	}
	if text, ok := d.Text("timestamp"); ok {
		at, valid := aaep.ParseTime(text)
		x.evidence.Saw("ENV-27")
		if valid && at.Sub(now) > maxAhead {
			x.breach(l, raw, id, "ENV-27", fmt.Sprintf("found a time %s in the future, expected the time of the event", at.Sub(now).Round(time.Second)))
		}
	}
	if kind, _ := d.Text("type"); !l.closing.IsZero() && now.Sub(l.closing) > inFlight && kind != aaep.TypeSubscriptionClose {
		l.intrudes = true
		x.breach(l, raw, id, "HS-68", "found an event after subscription.close, expected none")
	}
}

// count counts the calls that cannot be undone.
func (x *exam) count(l *listener, d aaep.Document, kind string) {
	if forever, _ := d.Flag("irreversible"); forever && l.answers && kind == aaep.TypeToolInvoked {
		x.acted++
	}
}

// reused adds to a finding that the producer has acted on the second reply, too, where it has.
func (x *exam) reused(l *listener, v aaep.Violation) aaep.Violation {
	if n := len(x.open); l.answers && n > 0 && x.acted > n && x.o.Answer == aaep.DecisionAccept && (v.Names("SEQ-22") || v.Names("SEQ-23")) {
		v.Also = append(slices.Clone(v.Also), "CONF-59")
	}
	return v
}

// framed judges how the transport carries an event.
func (x *exam) framed(in input, l *listener, id string) {
	if !x.sse {
		return
	}
	x.evidence.Saw("TR-SSE-06")
	switch {
	case l.direct:
	case in.name != "aaep.event" && report.TypeOf(in.raw) != "" && isCore(report.TypeOf(in.raw)):
		x.breach(l, in.raw, id, "TR-SSE-06", fmt.Sprintf("found the event name %q in the stream, expected aaep.event", in.name))
	case in.id != id:
		x.breach(l, in.raw, id, "TR-SSE-06", fmt.Sprintf("found the id %q in the stream, expected the event_id %s", in.id, id))
	}
}

func isCore(kind string) bool {
	m, ok := aaep.Lookup(kind)
	return ok && m.Event
}

// heard remembers an event, and plays on.
func (x *exam) heard(in input, l *listener, d aaep.Document, now time.Time) []effect {
	h := heard{kind: report.TypeOf(in.raw), at: now, line: l.line}
	h.id, _ = d.Text("event_id")
	h.session, _ = d.Text("session_id")
	urgency, _ := d.Text("urgency")
	h.critical = urgency == string(aaep.UrgencyCritical) || slices.Contains(criticals, h.kind)
	from, _ := d.Text("from_state")
	to, _ := d.Text("to_state")
	h.resync = h.kind == aaep.TypeStateChanged && from == to
	h.leaves = h.kind == aaep.TypeStateChanged && from == string(aaep.StateAwaitingInput) && !h.resync
	if h.session == "" {
		return nil
	}
	x.sessions[h.session] = true
	if _, again := l.index[h.id]; again {
		return nil
	}
	if l.broke > 0 && h.resync {
		l.resyncs = true
	}
	l.index[h.id] = len(l.heard)
	l.heard = append(l.heard, h)
	x.paced(l, in.raw, now)
	if slices.Contains(terminals, h.kind) {
		l.ended[h.session] = true
	}
	for _, a := range x.open {
		if l.answers && a.session == h.session && now.After(a.at.Add(-1)) {
			a.followed = true
		}
	}
	x.moved(l, d, h)
	x.brokenSilence(l, h, now)
	effects := x.play(in, l, h, now)
	x.finish(now)
	return effects
}

// rateWindow is over how long a rate is counted, so that a network that holds events up for a moment breaks nothing.
const rateWindow = 5 * time.Second

// paced judges the rate of what is not critical: at most as many as agreed, and a second's worth at once.
func (x *exam) paced(l *listener, raw []byte, now time.Time) {
	rate := l.terms().MaxEventsPerSecond
	h := l.heard[len(l.heard)-1]
	if rate == 0 || h.critical {
		return
	}
	x.evidence.Saw("BP-02", "CAP-01", "HS-34")
	count := 0
	for _, other := range slices.Backward(l.heard) {
		if now.Sub(other.at) >= rateWindow {
			break
		}
		if !other.critical {
			count++
		}
	}
	if most := rate * (int(rateWindow/time.Second) + 1); count > most {
		x.breach(l, raw, h.id, "BP-02", fmt.Sprintf("found %d events that are not critical within %v, expected at most %d a second", count, rateWindow, rate), "CAP-01")
	}
}

// finish ends the exam a while after the sessions have ended: soon, if everybody has heard the end, otherwise when the
// others have had the time for it.
func (x *exam) finish(now time.Time) {
	main := x.listeners[len(x.listeners)-1]
	if !main.ended[x.o.Session] && (x.o.Sessions == 0 || len(main.ended) < x.o.Sessions) {
		return
	}
	wait := linger
	for _, l := range x.listeners {
		closes := !l.closing.IsZero()
		if l.live() && (!closes && len(l.ended) < len(main.ended) || closes && now.Sub(l.closing) < inFlight) {
			wait = settle
		}
	}
	if end := now.Add(wait); end.Before(x.until) {
		x.until = end
	}
}

// play is what a listener does about an event.
func (x *exam) play(in input, l *listener, h heard, now time.Time) []effect {
	switch {
	case l.cuts && l.broke == 0 && len(l.heard) == cutAfter:
		l.broke = len(l.heard)
		return []effect{{who: in.who, kind: doResume, after: l.last, raw: x.dial(in.who).raw}}
	case l.closes && l.closing.IsZero():
		l.closing = now
		raw, err := aaep.SubscriptionClose{SubscriptionID: l.accepted.SubscriptionID, ReasonCode: "subscriber_shutdown"}.Encode()
		if err != nil {
			return nil
		}
		return []effect{{who: in.who, kind: doSend, raw: raw, of: aaep.TypeSubscriptionClose}}
	case l.answers && !l.direct && (h.kind == aaep.TypeAwaitingConfirmation || h.kind == aaep.TypeAwaitingClarification):
		return x.asked(in, l, h, now)
	}
	return nil
}

// reply answers a question, if the script has an answer that it takes.
func (x *exam) reply(in input, l *listener, h heard, now time.Time) []effect {
	event, err := aaep.DecodeEvent(in.raw)
	if err != nil {
		return nil // it has findings of its own
	}
	var raw []byte
	var of, token string
	switch p := event.Payload.(type) {
	case aaep.AwaitingConfirmation:
		if len(p.AllowedReplies) > 0 && !slices.Contains(p.AllowedReplies, x.o.Answer) {
			return nil
		}
		of, token = aaep.TypeConfirmationReply, p.ReplyToken
		raw, err = aaep.ConfirmationReply{
			ReplyToken: token, Decision: x.o.Answer, SubscriptionID: l.accepted.SubscriptionID, Timestamp: now, DecidedBy: l.request.SubscriberID,
		}.Encode()
	case aaep.AwaitingClarification:
		if x.o.Answer != aaep.DecisionAccept {
			return nil
		}
		of, token = aaep.TypeClarificationReply, p.ReplyToken
		raw, err = aaep.ClarificationReply{
			ReplyToken: token, Response: response(p), SubscriptionID: l.accepted.SubscriptionID, Timestamp: now, DecidedBy: l.request.SubscriberID,
		}.Encode()
	}
	if err != nil || raw == nil {
		return nil
	}
	l.checker.Check(raw)
	x.open[token] = &asked{session: h.session, decision: x.o.Answer, at: now, finding: report.Finding{Peer: l.name, Line: h.line, EventID: h.id, Message: report.Beginning(in.raw)}}
	effects := []effect{{who: in.who, kind: doSend, raw: raw, of: of}}
	switch {
	case of != aaep.TypeConfirmationReply:
	case x.sse:
		l.repeats = raw // once the first has come
	default:
		effects = append(effects, x.again(in.who, raw))
	}
	return effects
}

// again sends a reply once more. Its token is used, so that it is to be ignored, without a word of why.
func (x *exam) again(who int, raw []byte) effect {
	x.evidence.Saw("CONF-52", "CONF-56", "CONF-59", "SEC-19")
	return effect{who: who, kind: doSend, raw: raw, of: repeated}
}

// repeated stands for the type of a reply that is sent once more.
const repeated = "repeated"

// response is any answer that the question takes.
func response(p aaep.AwaitingClarification) aaep.Response {
	kinds := p.AcceptedResponseKinds
	switch {
	case len(p.Choices) > 0:
		return aaep.TextResponse(p.Choices[0].Value)
	case slices.Contains(kinds, aaep.ResponseYesNo):
		return aaep.YesNoResponse(false)
	case slices.Contains(kinds, aaep.ResponseNumeric):
		return aaep.NumberResponse(1)
	default:
		return aaep.TextResponse("Any.")
	}
}
