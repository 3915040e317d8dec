package session

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// What a [Checker] remembers. Beyond these limits it says with an info that it is no
// longer exact.
const (
	maxIDs      = 65_536  // event ids of one open session
	maxEndedIDs = 64      // event ids of an ended session: enough to know a late redelivery
	maxSessions = 100_000 // sessions, ended ones first to be forgotten
)

// Checker judges the order of the events of any number of sessions that interleave in
// one stream. It does not repeat what [aaep.Validate] says of single events. Use
// [NewChecker].
type Checker struct {
	sessions map[string]*judged
	order    []*judged       // by first appearance, forgotten ones left out
	ids      map[string]seen // event ids of all remembered sessions
	tokens   map[string]*question
	forgot   bool // that ended sessions are forgotten has been said
}

// seen is an event id and what the event said.
type seen struct {
	content [sha256.Size]byte
	session string
}

// Unfinished is what shows only at the end of a stream.
type Unfinished struct {
	SessionID  string
	Violations []aaep.Violation
}

// NewChecker returns a checker that has seen nothing.
func NewChecker() *Checker {
	return &Checker{sessions: map[string]*judged{}, ids: map[string]seen{}, tokens: map[string]*question{}}
}

// Check judges the next message of the stream, an event or a reply. An event that was
// seen before, byte for byte, is a redelivery and judged no more (SEQ-45). Bytes that
// are not a JSON object get the findings of [aaep.Read]; an event without a session_id
// cannot be placed and gets none.
func (c *Checker) Check(raw []byte) []aaep.Violation {
	document := aaep.Read(raw)
	if !document.Readable() {
		return document.Violations()
	}
	f := read(document)
	switch f.kind {
	case aaep.TypeConfirmationReply, aaep.TypeClarificationReply:
		c.reply(f)
		return nil
	case aaep.TypeQuestionExtend:
		return nil
	default:
		if f.sessionID == "" {
			return nil
		}
		return c.event(raw, f)
	}
}

// CheckEvent judges an event that is still typed. An event that cannot be encoded gets
// the findings of [aaep.Event.Encode].
func (c *Checker) CheckEvent(e aaep.Event) []aaep.Violation {
	raw, err := e.Encode()
	if err != nil {
		return violationsOf(err)
	}
	return c.Check(raw)
}

// Close judges what only the end of the stream shows: sessions without a terminal
// event and what they left open. The checker can go on afterwards.
func (c *Checker) Close() []aaep.Violation {
	var all []aaep.Violation
	for _, u := range c.CloseEach() {
		all = append(all, u.Violations...)
	}
	return all
}

// CloseEach is [Checker.Close] by session, in the order of their first events;
// sessions without findings are left out.
func (c *Checker) CloseEach() []Unfinished {
	var all []Unfinished
	for _, s := range c.order {
		if s.ended {
			continue
		}
		r := &report{}
		s.unfinished(r)
		all = append(all, Unfinished{SessionID: s.id, Violations: r.found})
	}
	return all
}

func (c *Checker) event(raw []byte, f facts) []aaep.Violation {
	r := &report{}
	s := c.session(f.sessionID, r)
	if c.repeated(raw, f, s, r) {
		return r.found
	}
	s.judge(f, r)
	for _, q := range s.fresh {
		c.tokens[q.token] = q
	}
	s.fresh = nil
	if s.ended {
		c.trim(s, maxEndedIDs)
		for _, q := range s.questions {
			delete(c.tokens, q.token)
		}
		s.release()
	}
	return r.found
}

// session finds or begins the record of a session.
func (c *Checker) session(id string, r *report) *judged {
	if s, ok := c.sessions[id]; ok {
		return s
	}
	if len(c.order) >= maxSessions {
		c.forget(r)
	}
	s := newJudged(id)
	c.sessions[id] = s
	c.order = append(c.order, s)
	return s
}

// forget drops a tenth of the sessions, ended ones and then the oldest.
func (c *Checker) forget(r *report) {
	doomed := slices.Clone(c.order)
	slices.SortStableFunc(doomed, func(a, b *judged) int { return cmp.Compare(weight(b), weight(a)) })
	for _, s := range doomed[:maxSessions/10] {
		if s.ended && !c.forgot {
			c.forgot = true
			r.info("SEQ-06", "§3.2.4", fmt.Sprintf("more than %d sessions; that an early one is reopened is no longer seen", maxSessions))
		}
		if !s.ended {
			r.info("SEQ-06", "§3.2.4", fmt.Sprintf("more than %d sessions are open; %s is judged no further", maxSessions, s.id))
		}
		c.trim(s, 0)
		for _, q := range s.questions {
			delete(c.tokens, q.token)
		}
		delete(c.sessions, s.id)
		s.forgotten = true
	}
	c.order = slices.DeleteFunc(c.order, func(s *judged) bool { return s.forgotten })
}

func weight(s *judged) int {
	if s.ended {
		return 1
	}
	return 0
}

// repeated answers whether the event is a redelivery, and notes an id that names two
// different events.
func (c *Checker) repeated(raw []byte, f facts, s *judged, r *report) bool {
	if f.eventID == "" {
		return false
	}
	content := sha256.Sum256(raw)
	old, known := c.ids[f.eventID]
	if known && old.content == content {
		return true
	}
	if known {
		r.error("/event_id", "§3.2.3", fmt.Sprintf("found %s again with other content (first in %s), expected an id of its own", f.eventID, old.session), "ENV-19", "ENV-20")
		return false
	}
	c.ids[f.eventID] = seen{content: content, session: s.id}
	s.ids = append(s.ids, f.eventID)
	if len(s.ids) > maxIDs {
		c.trim(s, maxIDs)
		if !s.overflowed {
			s.overflowed = true
			r.info("SEQ-45", "§8.2.4", fmt.Sprintf("more than %d events; a repetition of an earlier one is no longer seen", maxIDs))
		}
	}
	return false
}

// trim keeps the last ids of a session.
func (c *Checker) trim(s *judged, keep int) {
	for len(s.ids) > keep {
		delete(c.ids, s.ids[0])
		s.ids = s.ids[1:]
	}
	if len(s.ids) <= maxEndedIDs {
		s.ids = slices.Clone(s.ids) // lets go of the long array behind it
	}
}

// reply records what a person answered, when the capture holds replies: the first one
// in time for its question counts.
func (c *Checker) reply(f facts) {
	q, ok := c.tokens[f.replyToken]
	if !ok || q.answer != pending || f.timed && q.timed && !f.when.Before(q.deadline) {
		return
	}
	switch {
	case f.kind == aaep.TypeClarificationReply:
		if !q.confirmation {
			q.answer = closed
		}
	case !q.confirmation:
	case f.decision == string(aaep.DecisionAccept) && f.modified:
		q.answer = unclear // whether the producer takes a changed action is not known
	case f.decision == string(aaep.DecisionAccept):
		q.answer = accepted
	case f.decision == string(aaep.DecisionReject):
		q.answer = refused
	}
}
