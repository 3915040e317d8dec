package terminal

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// resultGrace is how long the start of an accepted action waits to be told until the
// answer itself has been confirmed.
const resultGrace = time.Second

// stage is how far a question is here.
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
	answer int             // the Send that carries the answer, while it is under way
	reply  string          // what the person answered, such as "accept"
	how    aaep.Resolution // what comes of that
	undo   bool            // undo as soon as the answer has been recorded
	ended  bool            // it was heard that it ended
	page   int             // the last page of the list that was shown
	read   bool            // all of the list was shown

	startText  string // says when an accepted action starts, and is not yet told
	startAfter time.Time
}

// ask notes a question. It is false for one that is open already, and only gets more time.
func (t *Terminal) ask(asked announce.Question) bool {
	t.highest = max(t.highest, asked.Number)

	if old := t.find(asked.Number); old != nil && old.stage == stageOpen && old.SameAs(asked) {
		old.Question = asked

		return false
	}

	t.questions = slices.DeleteFunc(t.questions, func(old *question) bool { return old.Number == asked.Number })
	t.questions = append(t.questions, &question{Question: asked})

	if t.settings.Typed {
		t.edit.clear()
		t.out = append(t.out, Flush{})
	}

	return true
}

func (t *Terminal) find(number int) *question {
	for _, q := range t.questions {
		if q.Number == number {
			return q
		}
	}

	return nil
}

// open lists the questions that wait for an answer, in the order they were asked.
func (t *Terminal) open() []*question {
	var open []*question

	for _, q := range t.questions {
		if q.stage == stageOpen {
			open = append(open, q)
		}
	}

	return open
}

// unread is true for a question that cannot be accepted before all of it was shown.
func (q *question) unread() bool { return !q.read && q.ReadFirst() }

func (q *question) accepts(kind aaep.ResponseKind) bool {
	return len(q.Kinds) == 0 || slices.Contains(q.Kinds, kind)
}

// resolved notes a change of state that ends a question.
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
	default: // its yes was given before this terminal listened, and can still be taken back
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

// close closes a question. It is forgotten once its answer, if one is under way,
// and its end have both been heard, in whichever order they come.
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
