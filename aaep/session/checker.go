package session

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// Checker checks the order of the events of any number of sessions that interleave in one stream. It does not repeat
// the findings of [aaep.Validate] on single events. Use [NewChecker].
//
// Its memory is bounded. It is exact within the last 65,536 event ids of each session and 100,000 ended sessions. It
// follows up to 10,000 open sessions. It compares answers that come after the end of their session with the last 4,096
// that were acted on unanswered. Beyond these limits it emits an info.
type Checker struct {
	view   view
	seed   maphash.Seed
	secret uint64 // the seed of contents

	open   table[*judged]
	newest *judged // the open sessions by their last event
	oldest *judged
	spare  []*judged // to be used again
	serial uint32
	count  int64 // messages so far

	ids     table[mark] // of open sessions, and the late ones
	openIDs int         // how many of them are of open sessions
	late    keyRing     // event ids and tokens of ended sessions
	ended   table[kind] // by session id: how it ended
	endings keyRing
	things  int

	tokens         map[uint64]*question
	doubts         table[doubt] // by token: of questions that are forgotten, what was done before an answer was seen
	doubtful       keyRing
	interned       map[string]string
	lastAgent      []byte
	lastHash       uint16
	reportedLimits limits
	report         report
}

// limits are those that an info has told.
type limits struct{ ids, allIDs, ended, open, things, doubts bool }

// lost is how a session ended that is followed no further.
const lost = other

// Unfinished is what only shows at the end of a stream.
type Unfinished struct {
	SessionID  string
	Violations []aaep.Violation
}

// NewChecker returns a checker of a complete capture.
func NewChecker() *Checker { return NewStreamChecker(Stream{}) }

// NewStreamChecker returns a checker of a stream with known omissions.
func NewStreamChecker(s Stream) *Checker {
	seed := maphash.MakeSeed()
	return &Checker{
		view: newView(s), seed: seed, secret: maphash.Bytes(seed, nil), tokens: map[uint64]*question{}, interned: map[string]string{},
		report: report{consumer: s.Mode == aaep.ModeConsumer},
	}
}

// Check checks the next message of the stream, an event or a reply. An event with the same id and content as an earlier
// one is a redelivery and is not checked again (SEQ-45); its formatting does not matter. A subscription.accepted in the
// stream sets the terms for what follows. It also means that the stream is a recording of a subscription, which may end
// before its sessions do. Bytes that are not a JSON object get the findings of [aaep.Read]; an event without a
// session_id gets none.
func (c *Checker) Check(raw []byte) []aaep.Violation {
	document := aaep.Read(raw)
	if !document.Readable() {
		c.count++
		return document.Violations()
	}
	return c.CheckDocument(document)
}

// CheckDocument is [Checker.Check] for a document that has been read already. It does not retain the document. An
// ordinary event is checked without allocating.
func (c *Checker) CheckDocument(document aaep.Document) []aaep.Violation {
	c.count++
	f := facts{number: c.count}
	f.read(document)
	c.report.found = nil
	if f.kind == other {
		switch string(f.written) {
		case aaep.TypeConfirmationReply, aaep.TypeClarificationReply:
			c.reply(&f, string(f.written) == aaep.TypeConfirmationReply)
			return c.report.found
		case aaep.TypeSubscriptionAccepted:
			c.agree(document)
			return nil
		case aaep.TypeQuestionExtend:
			return nil
		}
	}
	if len(f.sessionID) == 0 {
		return nil
	}
	return c.event(&f)
}

// agree takes the terms that the producer has granted. What is wrong with an answer that
// cannot be read is not a matter of order.
func (c *Checker) agree(d aaep.Document) {
	raw, _ := d.Value()
	accepted, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		return
	}
	stream := c.view.Stream
	stream.Terms, stream.CutShort = &accepted.HonoredCapabilities, true
	c.view = newView(stream)
}

// CheckEvent checks a typed event. An event that cannot be encoded gets the findings of [aaep.Event.Encode].
func (c *Checker) CheckEvent(e aaep.Event) []aaep.Violation {
	raw, err := e.Encode()
	if err != nil {
		return violationsOf(err)
	}
	return c.Check(raw)
}

// Close checks what only the end of the stream shows: sessions without a terminal event and what they left open. The
// checker can continue afterwards.
func (c *Checker) Close() []aaep.Violation {
	var all []aaep.Violation
	for _, u := range c.CloseEach() {
		all = append(all, u.Violations...)
	}
	return all
}

// CloseEach is [Checker.Close] by session, in the order of their first events; sessions without findings are omitted.
func (c *Checker) CloseEach() []Unfinished {
	left := make([]*judged, 0, c.open.count)
	for s := c.newest; s != nil; s = s.older {
		left = append(left, s)
	}
	slices.SortFunc(left, func(a, b *judged) int { return cmp.Compare(a.serial, b.serial) })
	var all []Unfinished
	for _, s := range left {
		r := &report{consumer: c.report.consumer}
		s.unfinished(r)
		if len(r.found) > 0 {
			all = append(all, Unfinished{SessionID: string(s.id), Violations: r.found})
		}
	}
	return all
}

func (c *Checker) event(f *facts) []aaep.Violation {
	r := &c.report
	id, key := c.key(ofEvent, 0, f.eventID), c.key(ofSession, 0, f.sessionID)
	now := mark{content: uint32(f.document.Content(c.secret) >> 32), session: uint16(key >> 48), agent: c.agent(f.agentID)}
	fresh := false
	if len(f.eventID) > 0 {
		old, known := c.ids.add(id, now)
		switch {
		case !known:
			fresh = true
		case old.content == now.content:
			return nil
		default:
			reused(f, old, now, r)
		}
	}
	s := c.newest
	if s == nil || s.key != key {
		s, _ = c.open.find(key)
	}
	if s == nil {
		if end, ok := c.ended.find(key); ok {
			c.behind(f, end, r)
			if fresh {
				c.rememberLate(id)
			}
			return r.found
		}
		s = c.begin(key, f, r)
	} else {
		c.touch(s)
	}
	if fresh {
		c.remember(s, id, r)
	}
	s.judge(f, r)
	c.trim(s, key, r)
	return r.found
}

// agent is the hash of a producer's name; most streams have one.
func (c *Checker) agent(id []byte) uint16 {
	if !bytes.Equal(c.lastAgent, id) {
		c.lastAgent = append(c.lastAgent[:0], id...)
		c.lastHash = uint16(maphash.Bytes(c.seed, id) >> 48)
	}
	return c.lastHash
}

// reused judges an id that names two different events.
func reused(f *facts, old, now mark, r *report) {
	message := fmt.Sprintf("found %s again with other content, expected an id of its own", f.eventID)
	if old.agent != now.agent && old.session != now.session {
		r.warn("/event_id", "§3.2.3", message+"; two producers have used it", "ENV-19")
		return
	}
	r.error("/event_id", "§3.2.3", message, "ENV-19", "ENV-20")
}

// begin makes the record of a session.
func (c *Checker) begin(key uint64, f *facts, r *report) *judged {
	var s *judged
	if n := len(c.spare); n > 0 {
		s, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		s = &judged{}
	}
	c.serial++
	s.checker, s.key, s.serial, s.id = c, key, c.serial, append(s.id[:0], f.sessionID...)
	s.agent = c.intern(f.agentID)
	c.open.insert(key, s)
	c.first(s)
	if c.open.count > maxOpen {
		if !c.reportedLimits.open {
			c.reportedLimits.open = true
			r.info("SEQ-03", "§4.5.1", fmt.Sprintf("more than %d sessions are open; those that are silent longest, such as %s, are judged no further", maxOpen, c.oldest.id))
		}
		c.drop(c.oldest)
	}
	return s
}

// trim counts what the session holds after an event, and lets go of what it may.
func (c *Checker) trim(s *judged, key uint64, r *report) {
	if s.end != other {
		c.finish(s, key, s.end, r)
		return
	}
	c.things += s.things() - s.counted
	s.counted = s.things()
	for c.things > maxThings && c.oldest != s {
		if !c.reportedLimits.things {
			c.reportedLimits.things = true
			r.info("SEQ-16", "§4.5.2", fmt.Sprintf("more than %d calls, outputs and questions are open; sessions long silent, such as %s, are judged no further", maxThings, c.oldest.id))
		}
		c.drop(c.oldest)
	}
}

// drop stops following a session.
func (c *Checker) drop(s *judged) { c.finish(s, s.key, lost, &c.report) }

// finish forgets an open session, except how it ended and its latest ids.
func (c *Checker) finish(s *judged, key uint64, end kind, r *report) {
	for id, ok := s.ids.pop(); ok; id, ok = s.ids.pop() {
		c.openIDs--
		c.rememberLate(id)
	}
	for id, ok := s.used.pop(); ok; id, ok = s.used.pop() {
		c.openIDs--
		c.ids.remove(id)
	}
	for _, q := range s.questions {
		c.forgetToken(q, end != lost, r)
	}
	c.rememberEnd(key, end, r)
	c.things -= s.counted
	c.open.remove(key)
	c.unlink(s)
	if len(c.spare) < 64 {
		s.reset()
		c.spare = append(c.spare, s)
	}
}

// rememberEnd keeps how a session ended.
func (c *Checker) rememberEnd(key uint64, end kind, r *report) {
	if c.ended.count == 1024 { // at once to the full size, so that long streams need no more than short ones
		c.ended.grow(131_072)
		c.endings.grow(maxEnded)
	}
	c.ended.insert(key, end)
	oldest, full := c.endings.push(key, maxEnded)
	if !full {
		return
	}
	c.ended.remove(oldest)
	if !c.reportedLimits.ended {
		c.reportedLimits.ended = true
		r.info("SEQ-06", "§3.2.4", fmt.Sprintf("more than %d sessions have ended; that an early one is reopened is no longer seen", maxEnded))
	}
}

// behind judges what comes behind the end of its session.
func (c *Checker) behind(f *facts, end kind, r *report) {
	if end == lost {
		return
	}
	rules := []string{"SEQ-04"}
	if f.kind.terminal() {
		rules = append(rules, "SEQ-03")
		if f.kind != end {
			rules = append(rules, "SEQ-05")
		}
	}
	if f.kind == started {
		rules = append(rules, "SEQ-01", "SEQ-06", "ENV-23")
	}
	r.error("/type", "§4.5.1", fmt.Sprintf("found %s behind %s of session %s, expected nothing more", f.written, kindNames[end], f.sessionID), rules...)
}

// remember keeps an event's id, or a token, of an open session, which is in the table.
func (c *Checker) remember(s *judged, id uint64, r *report) {
	c.openIDs++
	if oldest, full := s.ids.push(id, maxIDs); full {
		c.ids.remove(oldest)
		c.openIDs--
		if !c.reportedLimits.ids {
			c.reportedLimits.ids = true
			r.info("SEQ-45", "§8.2.4", fmt.Sprintf("session %s, and others that grow as long: of more than %d events, a repetition of an early one is no longer seen", s.id, maxIDs))
		}
	}
	c.bound(r)
}

// use keeps the id of a call or an output that is used up.
func (c *Checker) use(s *judged, id uint64) {
	if _, known := c.ids.add(id, mark{}); known {
		return
	}
	c.openIDs++
	if oldest, full := s.used.push(id, maxIDs); full {
		c.ids.remove(oldest)
		c.openIDs--
	}
}

// bound keeps the ids of all open sessions within their limit: the session with the
// most forgets the older half.
func (c *Checker) bound(r *report) {
	if c.openIDs <= maxAllIDs {
		return
	}
	longest := c.newest
	for s := c.newest; s != nil; s = s.older {
		if s.ids.count+s.used.count > longest.ids.count+longest.used.count {
			longest = s
		}
	}
	if !c.reportedLimits.allIDs {
		c.reportedLimits.allIDs = true
		r.info("SEQ-45", "§8.2.4", fmt.Sprintf("more than %d ids in open sessions; the longest, such as %s, remember only their later half", maxAllIDs, longest.id))
	}
	for _, ids := range []*keyRing{&longest.ids, &longest.used} {
		for range ids.count / 2 {
			id, _ := ids.pop()
			c.ids.remove(id)
			c.openIDs--
		}
	}
}

// forgetToken forgets a question, except, where its session was judged as long as it
// should be, that something was done on it before an answer was seen.
func (c *Checker) forgetToken(q *question, judged bool, r *report) {
	if c.tokens[q.token] != q {
		return // the token was another question's
	}
	delete(c.tokens, q.token)
	if !q.doubted || !judged {
		return
	}
	if _, known := c.doubts.add(q.token, q.doubt()); known {
		return
	}
	oldest, full := c.doubtful.push(q.token, maxDoubts)
	if !full {
		return
	}
	c.doubts.remove(oldest)
	if !c.reportedLimits.doubts {
		c.reportedLimits.doubts = true
		const message = "more than %d forgotten questions were acted on before an answer was seen; an answer to an early one is no longer judged"
		r.info("SEQ-22", "§4.3.1", fmt.Sprintf(message, maxDoubts))
	}
}

// rememberLate keeps the id of an event, or a token, of an ended session.
func (c *Checker) rememberLate(id uint64) {
	if oldest, full := c.late.push(id, maxLateID); full {
		c.ids.remove(oldest)
	}
}

// intern returns a text that may be kept, without new memory where it was seen before.
func (c *Checker) intern(text []byte) string {
	if word, ok := c.interned[string(text)]; ok {
		return word
	}
	if len(c.interned) >= maxInterned {
		clear(c.interned)
	}
	word := string(text)
	c.interned[word] = word
	return word
}

// state is [Checker.intern] for a state; those of the protocol are not looked up.
func (c *Checker) state(text []byte) string {
	switch string(text) {
	case aaep.StateIdle:
		return aaep.StateIdle
	case aaep.StateThinking:
		return aaep.StateThinking
	case aaep.StateCallingTool:
		return aaep.StateCallingTool
	case aaep.StateWritingOutput:
		return aaep.StateWritingOutput
	case aaep.StateAwaitingInput:
		return aaep.StateAwaitingInput
	case aaep.StateDeciding:
		return aaep.StateDeciding
	case aaep.StateHandingOff:
		return aaep.StateHandingOff
	default:
		return c.intern(text)
	}
}

// first puts a session that is not there in front of the others.
func (c *Checker) first(s *judged) {
	s.older, s.newer = c.newest, nil
	if c.newest != nil {
		c.newest.newer = s
	} else {
		c.oldest = s
	}
	c.newest = s
}

// touch puts a session in front.
func (c *Checker) touch(s *judged) {
	if s == c.newest {
		return
	}
	c.unlink(s)
	c.first(s)
}

func (c *Checker) unlink(s *judged) {
	if s.newer != nil {
		s.newer.older = s.older
	} else {
		c.newest = s.older
	}
	if s.older != nil {
		s.older.newer = s.newer
	} else {
		c.oldest = s.newer
	}
	s.newer, s.older = nil, nil
}
