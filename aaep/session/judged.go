package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// judged is what a checker knows of one session.
type judged struct {
	id         string
	ids        []string // event ids, oldest first
	overflowed bool
	forgotten  bool

	started  bool
	ended    bool
	terminal string
	last     time.Time

	chains    map[string]*chain // by producer.agent_id (SEQ-47)
	calls     calls
	outputs   map[string]*output
	questions []*question
	fresh     []*question // asked by the present event
}

func newJudged(id string) *judged {
	return &judged{id: id, chains: map[string]*chain{}, outputs: map[string]*output{}, calls: calls{done: map[string]bool{}}}
}

// release lets go of what an ended session needs no more.
func (s *judged) release() {
	s.chains, s.outputs, s.questions, s.calls = nil, nil, nil, calls{}
}

// judge takes the next event of the session.
func (s *judged) judge(f facts, r *report) {
	if s.ended {
		s.afterEnd(f, r)
		return
	}
	s.bracket(f, r)
	s.clock(f, r)
	switch f.kind {
	case aaep.TypeStateChanged:
		s.moved(f, r)
	case aaep.TypeToolInvoked:
		s.consent(f, r)
		s.calls.invoked(f, r)
	case aaep.TypeToolCompleted:
		s.calls.completed(f, r)
	case aaep.TypeOutputStreaming:
		s.streamed(f, r)
	case aaep.TypeAwaitingConfirmation, aaep.TypeAwaitingClarification:
		s.asked(f, r)
	}
	if word := f.implied(); word != "" {
		s.chain(f.agentID).implied = append(s.chain(f.agentID).implied, word)
	}
	if f.terminal() {
		s.end(f, r)
	}
}

// bracket judges the beginning: exactly one session.started, and it is first.
func (s *judged) bracket(f facts, r *report) {
	switch {
	case f.kind == aaep.TypeSessionStarted && s.started:
		r.error("/type", "§4.1.1", "found a second session.started, expected exactly one", "SEQ-01")
	case f.kind == aaep.TypeSessionStarted:
		s.started = true
	case !s.started:
		r.error("/type", "§4.1.1", fmt.Sprintf("found %s as the first event of session %s, expected session.started", f.kind, s.id), "SEQ-01", "SEQ-02")
		s.started = true // said once
	}
}

// afterEnd judges whatever comes behind the terminal event.
func (s *judged) afterEnd(f facts, r *report) {
	rules := []string{"SEQ-04"}
	if f.terminal() {
		rules = append(rules, "SEQ-03")
		if f.kind != s.terminal {
			rules = append(rules, "SEQ-05")
		}
	}
	if f.kind == aaep.TypeSessionStarted {
		rules = append(rules, "SEQ-01", "SEQ-06", "ENV-23")
	}
	r.error("/type", "§4.5.1", fmt.Sprintf("found %s behind %s of session %s, expected nothing more", f.kind, s.terminal, s.id), rules...)
}

// clock judges that time does not run back (ENV-28).
func (s *judged) clock(f facts, r *report) {
	if !f.timed {
		return
	}
	if f.when.Before(s.last) {
		r.error("/timestamp", "§3.2.5", fmt.Sprintf("found %s, expected no earlier than %s, the time of the event before", aaep.FormatTime(f.when), aaep.FormatTime(s.last)), "ENV-28")
		return
	}
	s.last = f.when
}

// end judges what a terminal event must not leave open.
func (s *judged) end(f facts, r *report) {
	s.ended, s.terminal = true, f.kind
	s.leftOpen(r, "/type", "SEQ-36")
	if f.kind == aaep.TypeSessionCompleted {
		s.untold(r)
	}
}

// unfinished judges a session that the stream left without a terminal event.
func (s *judged) unfinished(r *report) {
	r.error("", "§4.5.1", fmt.Sprintf("session %s has no terminal event, expected exactly one at its end", s.id), "SEQ-03")
	s.leftOpen(r, "", "")
	for _, q := range s.questions {
		if q.confirmation && !q.told && q.refusedBy(s.last) {
			r.error("", "§4.5.3", fmt.Sprintf("session %s: the question %s was refused and nothing followed, expected a state.changed that says so", s.id, q.token), "SEQ-25", "SEQ-30")
		}
	}
}

// leftOpen notes open calls and outputs.
func (s *judged) leftOpen(r *report, path, rule string) {
	for _, call := range s.calls.open {
		r.error(path, "§9.3.1", fmt.Sprintf("session %s: the call %s was never completed, expected exactly one tool.completed", s.id, call.name()), "SEQ-16", rule)
	}
	for _, id := range sortedKeys(s.outputs) {
		if s.outputs[id].complete {
			continue
		}
		rules := []string{"SEQ-31", rule}
		if id == "" {
			rules = append(rules, "SEQ-33")
		}
		r.error(path, "§4.5.4", fmt.Sprintf("session %s: the output %q was never complete, expected one chunk with complete=true", s.id, id), rules...)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
