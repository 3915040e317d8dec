package producer

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// compare holds what the others have heard of each session that has ended against what the main listener has.
func (x *exam) compare() {
	main := x.listeners[len(x.listeners)-1]
	for _, l := range x.listeners {
		if l != main && !l.probe && !l.closes && l.renegotiates == nil && l.terms().MaxEventsPerSecond == 0 && len(l.heard) > 0 {
			x.missing(main, l)
		}
	}
}

// missing finds events of the main listener, between the first that both have heard and the end of its session, that
// the other was to hear and has not.
func (x *exam) missing(main, l *listener) {
	common := map[string]bool{} // sessions of which both have heard something
	for _, h := range main.heard {
		at, has := l.index[h.id]
		switch {
		case has:
			common[h.session] = true
			x.delivered(l, h)
			x.inOrder(l, main, at)
		case !common[h.session] || !main.ended[h.session] || h.resync || !l.wants(h) || !l.complete():
		default:
			x.lost(l, h)
		}
	}
}

// complete reports whether the listener was to hear everything to the end.
func (l *listener) complete() bool { return l.problem == "" || len(l.ended) > 0 }

// everything are the rules by which the listener hears every event, although it has asked for others.
func (l *listener) everything() []string {
	if l.asks.PreferredVerbosity == "" {
		return nil
	}
	return []string{"ENV-38", "I18N-15", "I18N-18"}
}

// delivered notes what the arrival of an event shows.
func (x *exam) delivered(l *listener, h heard) {
	x.evidence.Saw("TR-05", "MS-02", "TR-04", "MS-10")
	x.evidence.Saw(l.everything()...)
	if h.critical && l.asks.EventFilters != nil {
		x.evidence.Saw("BP-06")
	}
	if h.kind == aaep.TypeAwaitingConfirmation {
		x.evidence.Saw("MS-06")
	}
	if l.broke > 0 && l.index[h.id] >= l.broke && x.sse {
		x.evidence.Saw("TR-SSE-10")
	}
}

// inOrder finds events that the listener got in another order than the main one.
func (x *exam) inOrder(l, main *listener, at int) {
	if at == 0 {
		return
	}
	here, before := l.heard[at], l.heard[at-1]
	i, has := main.index[before.id]
	if has && before.session == here.session && i > main.index[here.id] {
		f := x.evidence.Violation("TR-04", fmt.Sprintf("found it behind %s, which the main listener got after it; expected one order for all", before.id), "MS-10")
		x.note(f, report.Finding{Peer: l.name, Line: here.line, EventID: here.id})
	}
}

// lost judges an event that a listener did not get.
func (x *exam) lost(l *listener, h heard) {
	where := report.Finding{Peer: l.name, EventID: h.id}
	said := fmt.Sprintf("found no %s, which the main listener got on its line %d", h.kind, h.line)
	switch {
	case h.kind == aaep.TypeAwaitingConfirmation:
		x.note(x.evidence.Violation("BP-06", said+"; expected a question on every subscription that can take it", "MS-06"), where)
	case slices.Contains(criticals, h.kind):
		x.note(x.evidence.Violation("BP-06", said+"; expected critical events on every subscription"), where)
	case l.broke == 0:
		x.note(x.evidence.Violation("TR-05", said+"; expected that none is lost", append(l.everything(), "MS-02")...), where)
	case !x.sse: // a new subscription, which need not go on where the old one was
	case !l.resyncs:
		x.note(x.evidence.Violation("TR-SSE-10", said+"; expected to go on behind the last event, or a state.changed that tells where the session is"), where)
	}
}

// note adds a finding that is about no single message.
func (x *exam) note(v aaep.Violation, where report.Finding) { x.evidence.Note(v, where, false) }

// conclude judges what only shows at the end.
func (x *exam) conclude(now time.Time) {
	main := x.listeners[len(x.listeners)-1]
	for _, a := range x.open {
		rules := []string{"SEQ-30"}
		if a.decision == aaep.DecisionReject {
			rules = append(rules, "SEQ-25", "CONF-04")
		}
		x.evidence.Saw(rules...)
		x.evidence.Saw("CONF-03", "CONF-78", "SEQ-22", "SEQ-26")
		if !a.followed && (main.ended[a.session] || now.Sub(a.at) >= patience) {
			said := fmt.Sprintf("found nothing of its session in the %v after its answer, expected a follow-up", now.Sub(a.at).Round(time.Second))
			x.note(x.evidence.Violation("SEQ-30", said, rules[1:]...), a.finding)
		}
	}
	x.lapsed(now)
	for _, l := range x.listeners {
		if l.closing.IsZero() || l.finished.IsZero() && now.Sub(l.closing) < inFlight {
			continue
		}
		x.evidence.Saw("HS-68", "HS-70")
		if l.finished.IsZero() && !l.intrudes {
			said := fmt.Sprintf("found the stream open %v after subscription.close, expected its end", now.Sub(l.closing).Round(time.Second))
			x.note(x.evidence.Violation("HS-70", said, "TR-07"), report.Finding{Peer: l.name})
		}
	}
}
