package session

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// answer is how a question ended, as far as the stream shows.
type answer int

const (
	pending  answer = iota
	accepted        // the action may happen, once
	refused         // it must not
	changed         // accepted with another action than the one that was asked about
	closed          // withdrawn, extended, stopped, answered: this question is over
	unclear         // over, but the stream does not show how
)

// undoing is what a question says of whether its action can be undone (C-21).
type undoing int

const (
	unsaid       undoing = iota
	reversible           // irreversible is false, or reversibility is reversible
	irreversible         // either of them says so
)

// question is a confirmation or clarification as a checker sees it.
type question struct {
	session      *judged
	name         string // the reply token, as it is told
	token        uint64
	number       string // extensions.earshot.question
	confirmation bool
	tool, callID string // what the consent is for, where it says so
	action       uint64 // hash of the action, where it does not
	at           int64  // the message that asked
	deadline     time.Time
	timed        bool
	acceptsLate  bool // default_decision is accept
	noAccept     bool // allowed_replies leaves accept out
	noReject     bool
	explicit     bool // the producer tells how its questions end, so nothing is inferred
	undoing      undoing
	advisory     bool // extensions.earshot.enforcement: who asks does it itself, unseen, so that no invocation follows

	answer   answer
	certain  bool  // by a reply, by the producer's own word, or because its token is dead: later replies do not count
	silent   bool  // it ended by silence: nobody answered in time
	late     bool  // the accept came behind the deadline
	reported bool  // a state.changed has followed
	followed bool  // a tool.invoked has followed
	failed   bool  // a tool that failed has followed
	used     int64 // the message of the irreversible tool.invoked that rests on it; 0 is none
	doubted  bool  // that one came before any answer was seen
}

// asked takes a new question.
func (s *judged) asked(f *facts, r *report) {
	q := s.read(f)
	if q.confirmation {
		if c := s.chain(f.agentID); c.current != aaep.StateAwaitingInput && (c.moved || !s.late) && !s.view().hidden[stateChanged] {
			r.warn("/type", "A.4", fmt.Sprintf("found a confirmation in the state %q, expected a state.changed to awaiting_input before", c.current), "SEQ-29")
		}
		s.askedTwice(q, r)
	}
	s.tokenUsed(q, r)
	if len(s.questions) >= maxEach {
		s.forgetQuestion(r)
	}
	s.questions = append(s.questions, q)
}

func (s *judged) read(f *facts) *question {
	tool, callID := f.subject()
	texts := string(f.token) + string(callID) // in one piece of memory
	q := &question{
		name: texts[:len(f.token)], token: s.checker.key(ofToken, 0, f.token), confirmation: f.kind == confirmation, at: f.number,
		tool: s.checker.intern(tool), callID: texts[len(f.token):], acceptsLate: string(f.silence) == string(aaep.DecisionAccept), number: f.question(),
		session: s, undoing: f.undoing(), advisory: string(f.ours("enforcement")) == "advisory",
	}
	q.explicit = q.number != ""
	if f.timed && f.timeout > 0 && f.timeout < 1<<31 {
		q.timed, q.deadline = true, f.when.Add(time.Duration(f.timeout)*time.Second)
	}
	if f.replies {
		allowed := f.document.Texts("allowed_replies")
		q.noAccept = len(allowed) > 0 && !slices.Contains(allowed, string(aaep.DecisionAccept))
		q.noReject = len(allowed) > 0 && !slices.Contains(allowed, string(aaep.DecisionReject))
	}
	if q.callID == "" {
		q.action = maphash.Bytes(s.checker.seed, f.action)
	}
	return q
}

// another reports whether the tool that a question names, if it names one, is another
// than the one that is invoked.
func another(asked, invoked string) bool {
	return asked != "" && invoked != "" && !strings.EqualFold(asked, invoked)
}

// askedTwice judges that nothing is asked a second time while the first question
// about it is open (SEQ-28): certain where the questions name their calls, likely
// where they use the same words.
func (s *judged) askedTwice(q *question, r *report) {
	for _, earlier := range s.questions {
		switch {
		case !earlier.confirmation || earlier.answer != pending || earlier.reported || earlier.followed:
		case q.callID != "" && q.callID == earlier.callID:
			r.error("/extra_context/tool_call_id", "§6.1", fmt.Sprintf("found a second question about %s while %s is open, expected one at a time", q.callID, earlier.name), "SEQ-28")
			return
		case q.callID == "" && earlier.callID == "" && q.action == earlier.action:
			r.warn("/action", "§6.1", fmt.Sprintf("found the action that question %s, which is open, asks about; expected one question at a time for one action", earlier.name), "SEQ-28")
			return
		}
	}
}

// tokenUsed judges that a reply token is used once, in whatever session (CONF-06,
// CONF-07), and remembers it.
func (s *judged) tokenUsed(q *question, r *report) {
	if q.name == "" {
		return
	}
	if _, used := s.checker.ids.add(q.token, mark{}); used {
		r.error("/reply_token", "§6.2.2", fmt.Sprintf("found the reply token %s again, expected a fresh one for every question", q.name), "CONF-06", "CONF-07", "GD-03")
		return
	}
	s.checker.remember(s, q.token, r)
	s.checker.tokens[q.token] = q
}

// forgetQuestion drops the oldest question that is over, or else the oldest.
func (s *judged) forgetQuestion(r *report) {
	i := slices.IndexFunc(s.questions, func(q *question) bool { return q.answer != pending && q.reported && (q.followed || !q.confirmation) })
	if i < 0 {
		i = 0
		s.crowd("questions", "SEQ-30", "§9.4.1", r)
	}
	s.checker.forgetToken(s.questions[i], true, r)
	s.questions = slices.Delete(s.questions, i, i+1)
}

// answered takes what a state.changed says, or lets one infer, of open questions.
func (s *judged) answered(f *facts, from, to []byte, r *report) {
	if len(s.questions) == 0 {
		return
	}
	if resolution := aaep.Resolution(f.ours("resolution")); resolution != "" {
		if q := s.about(f); q != nil {
			q.contradict(resolution, r)
			q.resolve(resolution)
		}
		return
	}
	if string(from) != aaep.StateAwaitingInput || string(to) == aaep.StateAwaitingInput {
		return
	}
	meant := 0 // questions that the move may be about
	for _, q := range s.questions {
		if q.unfollowed() {
			meant++
		}
	}
	for _, q := range s.questions {
		if !q.reported && q.answer == pending && q.used == 0 {
			q.infer(string(to), meant == 1)
		}
		q.reported = true
	}
}

// unfollowed reports whether an event that says how the question ended is still to come.
func (q *question) unfollowed() bool {
	return !q.reported && q.used == 0 && (q.answer == pending || !q.followed)
}

// contradict judges a call that was made before it was seen how its question ended, where
// the producer now says that it did not end with an accept.
func (q *question) contradict(r aaep.Resolution, to *report) {
	if !q.doubted {
		return
	}
	q.doubted = false
	switch {
	case r == aaep.ResolutionExpired && q.acceptsLate:
	case r == aaep.ResolutionRejected, r == aaep.ResolutionExpired, r == aaep.ResolutionWithdrawn, r == aaep.ResolutionExtended:
		const message = "found that question %s was %s, after the irreversible invocation that rests on it (message %d); expected no invocation without an accept"
		to.error("/extensions/earshot/resolution", "§4.3.1", fmt.Sprintf(message, q.name, r, q.used), "SEQ-22")
	default: // an accept, or a stop behind one
	}
}

// about finds the question whose end a state.changed tells: by its token, by its
// number, or else the oldest that is open.
func (s *judged) about(f *facts) *question {
	token, number := string(f.ours("reply_token")), f.question()
	for _, q := range slices.Backward(s.questions) {
		if token != "" && q.name == token || token == "" && number != "" && q.number == number {
			return q
		}
	}
	if token != "" || number != "" {
		return nil
	}
	for _, q := range s.questions {
		if !q.reported {
			return q
		}
	}
	for _, q := range slices.Backward(s.questions) { // a stop behind an accept
		if q.answer == accepted && !q.followed {
			return q
		}
	}
	return nil
}

// resolve takes the producer's word, except against a refusal, in the capture or told
// before, and against the end of the question: those are never overruled.
func (q *question) resolve(r aaep.Resolution) {
	q.reported = true
	if q.answer == refused || q.answer == changed || q.answer == closed {
		return
	}
	q.certain = true
	switch r {
	case aaep.ResolutionAccepted:
		q.answer = accepted
	case aaep.ResolutionRejected:
		q.answer = refused
	case aaep.ResolutionExpired:
		q.expire()
	case aaep.ResolutionAnswered, aaep.ResolutionWithdrawn, aaep.ResolutionExtended, aaep.ResolutionStopped:
		q.answer = closed
	default:
		q.answer = unclear // a word of a later version never allows anything by itself
	}
}

// expire ends the question by silence: its default holds.
func (q *question) expire() {
	q.answer, q.silent, q.certain = refused, true, true
	if q.acceptsLate {
		q.answer = accepted
	}
}

// overdue reports whether the time to answer is over at an instant.
func (q *question) overdue(now time.Time) bool { return q.timed && !now.Before(q.deadline) }

// infer reads the answer from the state that awaiting_input was left for (C-45). What is
// told behind the deadline cannot be an accept, unless the terms let it come late. With
// the token of a question that was left for thinking nobody can accept any more.
func (q *question) infer(to string, alone bool) {
	overdue := q.overdue(q.session.last) && !q.session.view().paced
	switch {
	case q.confirmation && overdue && !q.acceptsLate:
		q.expire()
	case !alone || !q.confirmation:
		q.answer = unclear
	case to == aaep.StateCallingTool:
		q.answer, q.silent = accepted, overdue
	case to == aaep.StateThinking || to == aaep.StateDeciding:
		q.answer, q.certain = refused, true
	default:
		q.answer = unclear
	}
}

// standing is how the question stands now: where no answer was seen in time, by silence.
func (q *question) standing() (stands answer, silent bool) {
	switch {
	case q.answer != pending || q.used > 0 || !q.overdue(q.session.last) || q.session.view().hidden[stateChanged]:
		return q.answer, q.silent
	case q.acceptsLate:
		return accepted, true
	default:
		return refused, true
	}
}

// refusedBy reports whether the question counts as refused at an instant: by an
// answer, or because its time was over and silence means no.
func (q *question) refusedBy(now time.Time) bool {
	if q.answer == refused {
		return true
	}
	return q.answer == pending && !q.followed && !q.acceptsLate && q.overdue(now)
}

// follow notes that work went on behind the clarifications that are open: that, too,
// tells that they are over.
func (s *judged) follow() {
	for _, q := range s.questions {
		if !q.confirmation {
			q.followed = true
		}
	}
}

// failed notes that a tool has failed behind questions that are over: some producers tell
// the end of a question by that alone.
func (s *judged) failed(f *facts) {
	if len(s.questions) == 0 || !f.is(string(aaep.ToolError), "status") && !f.is(string(aaep.ToolTimeout), "status") {
		return
	}
	for _, q := range s.questions {
		closed := q.answer != pending || q.overdue(s.last)
		if closed && (q.callID == "" || len(f.callID) == 0 || q.callID == string(f.callID)) {
			q.failed = true
		}
	}
}

// silence notes that no state.changed has told how a question ended. Where a tool has
// failed behind it, it weighs less.
func (q *question) silence(r *report, path, spec, message string, rules ...string) {
	if q.failed {
		r.warn(path, spec, message, rules...)
		return
	}
	r.error(path, spec, message, rules...)
}

// unreported judges what session.completed leaves unsaid of its questions.
func (s *judged) unreported(r *report) {
	if s.view().hidden[stateChanged] {
		return // how they ended was not seen
	}
	for _, q := range s.questions {
		switch {
		case q.followed:
		case !q.confirmation && !q.reported:
			q.silence(r, "/type", "§9.4.1", fmt.Sprintf("the clarification %s (message %d) has no end, expected an event that tells it", q.name, q.at), "SEQ-30", "CLA-14")
		case !q.confirmation:
		case q.answer == accepted && q.advisory:
		case q.answer == accepted && !s.view().hidden[toolInvoked]:
			r.error("/type", "§4.5.3", fmt.Sprintf("the question %s (message %d) was accepted, expected a tool.invoked for its action", q.name, q.at), "SEQ-24")
		case q.reported || q.answer == accepted:
		case q.refusedBy(s.last):
			q.silence(r, "/type", "§4.5.3", fmt.Sprintf("the question %s (message %d) was refused, expected a state.changed that says so", q.name, q.at), "SEQ-25", "SEQ-30")
		case q.answer == changed:
			q.silence(r, "/type", "§9.4.1", fmt.Sprintf("the answer to question %s (message %d) changed its action, expected an event that says how it ended", q.name, q.at), "SEQ-30")
		case q.answer == pending:
			r.error("/type", "§9.4.1", fmt.Sprintf("the question %s (message %d) is still open, expected an event that says how it ended", q.name, q.at), "SEQ-30")
		}
	}
}

// embeds reports whether a name holds a version of at least two parts.
func embeds(name, version []byte) bool {
	return bytes.IndexByte(version, '.') >= 0 && bytes.Contains(name, version)
}
