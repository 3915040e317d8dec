package session

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// answer is how a question ended, as far as the stream shows.
type answer int

const (
	pending  answer = iota
	accepted        // the action may happen, once
	refused         // it must not
	closed          // withdrawn, extended, stopped, answered: this question is over
	unclear         // over, but the stream does not show how
)

// question is a confirmation or clarification as a checker sees it.
type question struct {
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

	answer    answer
	defaulted bool // accepted by silence
	told      bool // a state.changed has followed
	followed  bool // a tool.invoked has followed
	used      bool // an irreversible one
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
		tool: s.checker.word(tool), callID: texts[len(f.token):], acceptsLate: string(f.silence) == string(aaep.DecisionAccept), number: f.question(),
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

// askedTwice judges that nothing is asked a second time while the first question
// about it is open (SEQ-28): certain where the questions name their calls, likely
// where they use the same words.
func (s *judged) askedTwice(q *question, r *report) {
	for _, earlier := range s.questions {
		switch {
		case !earlier.confirmation || earlier.answer != pending || earlier.told || earlier.followed:
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
	i := slices.IndexFunc(s.questions, func(q *question) bool { return q.answer != pending && q.told && (q.followed || !q.confirmation) })
	if i < 0 {
		i = 0
		s.crowd("questions", "SEQ-30", "§9.4.1", r)
	}
	delete(s.checker.tokens, s.questions[i].token)
	s.questions = slices.Delete(s.questions, i, i+1)
}

// answered takes what a state.changed says, or lets one infer, of open questions.
func (s *judged) answered(f *facts, from, to []byte) {
	if len(s.questions) == 0 {
		return
	}
	if resolution := f.ours("resolution"); len(resolution) > 0 {
		if q := s.about(f); q != nil {
			q.resolve(aaep.Resolution(resolution))
		}
		return
	}
	if string(from) != aaep.StateAwaitingInput || string(to) == aaep.StateAwaitingInput {
		return
	}
	open := 0
	for _, q := range s.questions {
		switch {
		case q.told:
		case q.answer == pending:
			open++
		default:
			q.told = true
		}
	}
	for _, q := range s.questions {
		if !q.told && q.answer == pending {
			q.infer(string(to), open == 1)
		}
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
		if !q.told {
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
	q.told = true
	if q.answer == refused || q.answer == closed {
		return
	}
	switch r {
	case aaep.ResolutionAccepted:
		q.answer = accepted
	case aaep.ResolutionRejected:
		q.answer = refused
	case aaep.ResolutionExpired:
		q.answer, q.defaulted = refused, true
		if q.acceptsLate {
			q.answer = accepted
		}
	case aaep.ResolutionAnswered, aaep.ResolutionWithdrawn, aaep.ResolutionExtended, aaep.ResolutionStopped:
		q.answer = closed
	default:
		q.answer = unclear // a word of a later version never allows anything by itself
	}
}

// infer reads the answer from the state that awaiting_input was left for (C-45).
func (q *question) infer(to string, alone bool) {
	q.told = true
	switch {
	case !alone || !q.confirmation:
		q.answer = unclear
	case to == aaep.StateCallingTool:
		q.answer = accepted
	case to == aaep.StateThinking || to == aaep.StateDeciding:
		q.answer = refused
	default:
		q.answer = unclear
	}
}

// refusedBy answers whether the question counts as refused at an instant: by an
// answer, or because its time was over and silence means no.
func (q *question) refusedBy(now time.Time) bool {
	if q.answer == refused {
		return true
	}
	return q.answer == pending && !q.followed && q.timed && !q.acceptsLate && !now.Before(q.deadline)
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

// untold judges what session.completed leaves unsaid of its questions.
func (s *judged) untold(r *report) {
	if s.view().hidden[stateChanged] {
		return // how they ended was not seen
	}
	for _, q := range s.questions {
		switch {
		case q.followed:
		case !q.confirmation && !q.told:
			r.error("/type", "§9.4.1", fmt.Sprintf("the clarification %s (message %d) has no end, expected an event that tells it", q.name, q.at), "SEQ-30", "CLA-14")
		case !q.confirmation:
		case q.answer == accepted && !s.view().hidden[toolInvoked]:
			r.error("/type", "§4.5.3", fmt.Sprintf("the question %s (message %d) was accepted, expected a tool.invoked for its action", q.name, q.at), "SEQ-24")
		case q.told || q.answer == accepted:
		case q.refusedBy(s.last):
			r.error("/type", "§4.5.3", fmt.Sprintf("the question %s (message %d) was refused, expected a state.changed that says so", q.name, q.at), "SEQ-25", "SEQ-30")
		case q.answer == pending:
			r.error("/type", "§9.4.1", fmt.Sprintf("the question %s (message %d) is still open, expected an event that says how it ended", q.name, q.at), "SEQ-30")
		}
	}
}

// embeds answers whether a name holds a version of at least two parts.
func embeds(name, version []byte) bool {
	return bytes.IndexByte(version, '.') >= 0 && bytes.Contains(name, version)
}
