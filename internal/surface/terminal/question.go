package terminal

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// resultGrace is how long the report that an accepted action starts waits for the confirmation of the answer.
const resultGrace = time.Second

// stage is the state of a question here.
type stage int

const (
	stageOpen     stage = iota
	stageAccepted       // committed; can be undone until it starts
	stageClosed
)

// question is one question as this terminal knows it.
type question struct {
	announce.Question

	stage  stage
	answer int             // the Send with the answer, while it is open
	reply  string          // what the person answered, such as "accept"
	how    aaep.Resolution // the resulting resolution
	undo   bool            // undo as soon as the answer has been recorded
	ended  bool            // its end was reported
	page   int             // the last page of the list that was shown
	read   bool            // the whole list was shown
	waits  bool            // it is open, and is shown when the one before it has ended

	overTold  bool      // it was said that its time is over while the connection was lost
	overAfter time.Time // when that is looked at again; zero is at its deadline

	startText  string // reports that an accepted action starts, and is not yet shown
	startAfter time.Time
}

// ask adds a question. It returns false for one that is already open, and only gets more time. One that waits leaves alone
// what is being typed: that is about the question that is shown.
func (t *Terminal) ask(asked announce.Question, waits bool) bool {
	t.highest = max(t.highest, asked.Number)

	if old := t.find(asked.Number); old != nil && old.stage == stageOpen && old.SameAs(asked) {
		old.Question = asked

		return false
	}

	t.questions = slices.DeleteFunc(t.questions, func(old *question) bool { return old.Number == asked.Number })
	t.questions = append(t.questions, &question{Question: asked, waits: waits})

	if !waits {
		t.discardTyped()
	}

	return true
}

// discardTyped discards what was typed before a question is shown.
func (t *Terminal) discardTyped() {
	t.forgetProposal()

	if t.settings.Typed {
		t.edit.clear()
		t.out = append(t.out, Flush{})
	}
}

func (t *Terminal) find(number int) *question {
	for _, q := range t.questions {
		if q.Number == number {
			return q
		}
	}

	return nil
}

// waiting returns the question with a number if it waits behind another one; nil if not.
func (t *Terminal) waiting(number int) *question {
	if q := t.find(number); q != nil && q.waits && q.stage == stageOpen {
		return q
	}

	return nil
}

// open lists the questions that were shown and can be answered, in the order in which they were asked.
func (t *Terminal) open() []*question {
	var open []*question

	for _, q := range t.questions {
		if q.stage == stageOpen && !q.waits {
			open = append(open, q)
		}
	}

	return open
}

// unread reports whether the question cannot be accepted before all of it was shown.
func (q *question) unread() bool { return !q.read && q.ReadFirst() }

// acceptable reports whether the question can be accepted at a terminal, which takes no passkey.
func (q *question) acceptable() bool { return q.Acceptable && !q.Passkey }

func (q *question) accepts(kind aaep.ResponseKind) bool {
	return len(q.Kinds) == 0 || slices.Contains(q.Kinds, kind)
}

// resolved processes a change of state that ends a question.
func (t *Terminal) resolved(e aaep.Event) {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	number, known := ours.Whole("question")
	how, ends := ours.Text("resolution")

	if !known || !ends || aaep.Resolution(how) == aaep.ResolutionExtended { // it is asked again at once
		return
	}

	starts, _ := ours.Text("starts_at")
	at, err := time.Parse(time.RFC3339, starts)
	q := t.find(int(number))

	switch {
	case q != nil && q.Session == e.SessionID:
	case aaep.Resolution(how) != aaep.ResolutionAccepted || err != nil || !at.After(t.now):
		return
	default: // it was accepted before this terminal listened, and can still be taken back
		call, _ := ours.Text("tool_call_id")
		q = &question{Question: announce.Question{Number: int(number), Session: e.SessionID, Call: announce.CallID(call)}}
		t.questions = append(t.questions, q)
	}

	q.ended = true
	if !aaep.Resolution(how).Allows() {
		t.close(q)

		return
	}

	q.stage = stageAccepted
}

// close closes a question. It is forgotten once both the result of its answer, if one was sent, and its end have
// arrived, in either order.
func (t *Terminal) close(q *question) {
	q.stage = stageClosed

	if q.answer == 0 && q.ended {
		t.questions = slices.DeleteFunc(t.questions, func(other *question) bool { return other == q })
	}
}

func (t *Terminal) releaseIfClosed() {
	if t.holding() {
		return
	}

	t.release()
	t.screen.reportedAt = time.Time{}
}
