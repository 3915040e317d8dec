package producer

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// listener is one subscriber while it plays its role.
type listener struct {
	role

	request  aaep.SubscriptionRequest
	plain    bool // asks again without grease
	accepted *aaep.SubscriptionAccepted
	answered bool // accepted, rejected, or it never will be
	problem  string
	gone     bool // the connection has ended

	checker *session.Checker
	line    int
	last    string // the id of the last event
	heard   []heard
	index   map[string]int // of heard, by event id
	ended   map[string]bool

	broke    int  // how many events it had heard when it broke off; 0 has not
	back     bool // it has come back since
	resyncs  bool
	intrudes bool      // events have come after its close
	closing  time.Time // when it has sent its close
	finished time.Time // when the stream of a closing listener has ended
	renewed  time.Time // when its new terms were granted
	asked    bool      // for new terms
	repeats  []byte    // the reply that is sent once more, when the producer has it
}

// heard is one event, as far as it is compared.
type heard struct {
	id, session, kind string
	critical, resync  bool
	leaves            bool // a state in which it waited
	at                time.Time
	line              int
}

// live reports whether it gets events.
func (l *listener) live() bool {
	return !l.probe && !l.gone && l.problem == "" && (l.accepted != nil || l.direct && l.answered)
}

// connected begins what is judged of one connection.
func (l *listener) connected(fresh bool) {
	stream := session.Stream{JoinedLate: !fresh, CutShort: true}
	if l.accepted != nil {
		stream.Terms = &l.accepted.HonoredCapabilities
	}
	l.checker = session.NewStreamChecker(stream)
}

// terms are those that were granted.
func (l *listener) terms() aaep.Capabilities {
	if l.accepted == nil {
		return aaep.Capabilities{SupportsConfirmationReply: new(true), SupportsClarificationReply: new(true)}
	}
	return l.accepted.HonoredCapabilities
}

// wants reports whether the terms let an event through that the main listener has heard.
func (l *listener) wants(h heard) bool {
	terms := l.terms()
	switch h.kind {
	case aaep.TypeAwaitingConfirmation:
		return terms.SupportsConfirmationReply != nil && *terms.SupportsConfirmationReply
	case aaep.TypeAwaitingClarification:
		return terms.SupportsClarificationReply != nil && *terms.SupportsClarificationReply
	}
	return h.critical || terms.EventFilters.Passes(h.kind, nil)
}
