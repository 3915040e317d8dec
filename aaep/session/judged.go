package session

import (
	"bytes"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// judged is what a checker knows of one open session.
type judged struct {
	checker      *Checker
	key          uint64
	serial       uint32
	newer, older *judged
	id           []byte
	agent        string // of the first event

	ids     keyRing // event ids and tokens, oldest first
	used    keyRing // calls that are completed, outputs that are complete
	counted int     // things that the checker has counted

	begun bool // the first event is judged
	late  bool // it began before the stream did
	first bool // nothing but session.started so far
	end   kind // of the terminal event, or other
	began time.Time
	last  time.Time

	chains      []chain
	calls       []invocation
	invocations int64
	noIDs       bool // that calls carry no ids has been told
	outputs     []output
	questions   []*question
	numbers     numbers
	spanned     int64 // the last event that a delivery stood for
	merged      bool  // the present event stands for several
	aside       bool  // one of its producers has just left calling_tool while a tool runs
	crowded     bool  // that it holds too much has been told
}

// reset forgets everything but the room that it took.
func (s *judged) reset() {
	clear(s.questions)
	*s = judged{
		id: s.id[:0], chains: s.chains[:0], calls: s.calls[:0], outputs: s.outputs[:0], questions: s.questions[:0],
		ids: s.ids.emptied(), used: s.used.emptied(),
	}
}

// things is what the session holds beside ids.
func (s *judged) things() int {
	return len(s.chains) + len(s.calls) + len(s.outputs) + len(s.questions)
}

// view is what the checker was told of the stream.
func (s *judged) view() *view { return &s.checker.view }

// partial reports whether the stream may leave out or merge events.
func (s *judged) partial() bool { return s.view().Terms != nil }

// judge takes the next event of the session.
func (s *judged) judge(f *facts, r *report) {
	s.spans(f, r)
	s.bracket(f, r)
	s.clock(f, r)
	s.numbers.judge(s, f, r)
	if s.partial() {
		s.agreed(f, r)
	}
	if s.view().Mode != aaep.ModeEnvelope {
		s.payload(f, r)
	}
	s.first = f.kind == started
	if f.kind.terminal() {
		s.close(f, r)
	}
	if s.merged {
		r.merging()
	}
}

// payload takes what the event says beside its envelope.
func (s *judged) payload(f *facts, r *report) {
	if s.aside {
		s.strays(f, r)
	}
	switch f.kind {
	case stateChanged:
		s.moved(f, r)
	case toolInvoked:
		s.follow()
		s.consent(f, r)
		s.invoked(f, r)
	case toolCompleted:
		s.completed(f, r)
	case outputStreaming:
		s.follow()
		s.streamed(f, r)
	case confirmation, clarification:
		s.asked(f, r)
	default: // others have nothing to do with order
	}
	s.imply(f, r)
}

// bracket judges the beginning: exactly one session.started, and it is first.
func (s *judged) bracket(f *facts, r *report) {
	switch {
	case f.kind == started && s.begun:
		r.error("/type", "§4.1.1", "found a second session.started, expected exactly one", "SEQ-01")
		return
	case f.kind == started:
		s.began = f.when
		s.versioned(f, r)
	case s.begun:
		return
	case s.view().JoinedLate || s.view().hidden[started]:
		s.late = true
	default:
		rules := []string{"SEQ-01", "SEQ-02"}
		if other := s.sibling(); other != nil {
			rules = append(rules, "ENV-22")
		}
		r.error("/type", "§4.1.1", fmt.Sprintf("found %s as the first event of session %s, expected session.started", f.written, s.id), rules...)
	}
	s.begun = true // what is missing is said once
}

// sibling is a session of the same producer that is under way: what comes under an id
// that no session has started may be meant for it. Only the latest are looked at.
func (s *judged) sibling() *judged {
	const latest = 64
	for n, other := 0, s.checker.newest; other != nil && n < latest; n, other = n+1, other.older {
		if other != s && other.agent == s.agent {
			return other
		}
	}
	return nil
}

// versioned judges ENV-30 as far as one event shows it: the name of a producer does
// not change with its version.
func (s *judged) versioned(f *facts, r *report) {
	if embeds(f.agentID, f.version) {
		r.warn("/producer/agent_id", "§3.2.6.1", fmt.Sprintf("found the version %q in the agent_id %q, expected a name that stays the same across versions", f.version, f.agentID), "ENV-30")
	}
}

// clock judges that time does not run back (ENV-28). What a listener who comes late is
// told of the present state is told beside the session, and what it is then sent again
// is older.
func (s *judged) clock(f *facts, r *report) {
	if !f.timed {
		return
	}
	if f.when.Before(s.last) {
		r.error("/timestamp", "§3.2.5", fmt.Sprintf("found %s, expected no earlier than %s, the time of the event before", f.text("timestamp"), s.last.Format(time.RFC3339Nano)), "ENV-28")
		return
	}
	if !s.resyncs(f) {
		s.last = f.when
	}
}

// resyncs reports whether a listener who has come late is told where the session is: right
// behind its start, as a move from a state to itself (C-91).
func (s *judged) resyncs(f *facts) bool {
	return f.kind == stateChanged && s.first && (s.view().JoinedLate || s.partial()) && bytes.Equal(f.from, f.to)
}

// producer returns the name of a producer, which in most sessions is the first one's,
// as a text that may be kept.
func (s *judged) producer(agentID []byte) string {
	if string(agentID) == s.agent {
		return s.agent
	}
	return s.checker.intern(agentID)
}

// crowd says once that a session holds more of something than is followed.
func (s *judged) crowd(what, rule, spec string, r *report) {
	if s.crowded {
		return
	}
	s.crowded = true
	r.info(rule, spec, fmt.Sprintf("session %s has more than %d %s open at once; the oldest are judged no further", s.id, maxEach, what))
}
