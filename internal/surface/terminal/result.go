package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
)

// finish processes the result of a request.
func (t *Terminal) finish(sent request, r Result) {
	switch made := sent.made.(type) {
	case PageRequest:
		t.showPage(made, r)

		return
	case Answer:
		t.finishAnswer(r, sent)

		return
	case Proposal:
		t.finishProposal(made, sent, r)

		return
	case ListPermissions, Revoke:
		t.finishPermissions(sent, r)

		return
	case Undo:
		defer func() {
			t.showAnnouncements(t.announcer.Resolved(t.now, made.Question, aaep.ResolutionStopped, r.Err == nil))
		}()
	case Extend, Stop, AgentPrompt:
	}

	if r.Err != nil {
		t.notRecorded(sent.command, r.Err)

		return
	}

	t.promptf("%s", sent.recorded)
}

func (t *Terminal) notRecorded(word string, err error) {
	t.promptf("Not recorded: %s. %s", word, sentence(legible.Text(cause.Of(err))))
}

func (t *Terminal) finishAnswer(r Result, sent request) {
	if r.Err == nil {
		t.promptf("%s", sent.recorded)
	} else {
		t.notRecorded(sent.command, r.Err)
	}

	i := slices.IndexFunc(t.questions, func(q *question) bool { return q.answer == r.ID })
	if i < 0 { // another question has replaced it under its number
		return
	}

	q := t.questions[i]
	q.answer = 0
	late := t.announcer.Resolved(t.now, q.Number, q.how, r.Err == nil)

	if r.Err != nil {
		t.showAnnouncements(late)
		t.unanswered(q)

		return
	}

	q.startAfter = t.now

	if q.undo {
		q.undo = false
		t.sendUndo(q)
	}

	if q.reply != string(aaep.DecisionAccept) || q.stage == stageClosed {
		t.close(q)
	} else {
		q.stage = stageAccepted
	}

	t.releaseIfClosed()
}

// unanswered continues after an answer that was not recorded.
func (t *Terminal) unanswered(q *question) {
	refused := q.reply == string(aaep.DecisionReject)
	q.reply, q.undo, q.startAfter = "", false, t.now

	switch q.stage {
	case stageOpen:
		t.stillOpen(q)
	case stageClosed:
		t.close(q)
		t.releaseIfClosed()
	case stageAccepted:
		if refused { // a reject after somebody's accept takes the accept back
			t.promptf("Sent instead: undo question %d.", q.Number)
			t.sendUndo(q)
		}
	}
}

// showPage prints one page of a question's arguments.
func (t *Terminal) showPage(made PageRequest, r Result) {
	if r.Err != nil {
		t.promptf("No list: %s", sentence(legible.Text(r.Err.Error())))

		return
	}

	p := r.Page
	if len(p.Items) == 0 {
		t.promptf("The list of question %d is empty.", made.Question)

		return
	}

	from := (p.Number-1)*PageSize + 1
	t.promptf("List of question %d, page %d of %d: items %d to %d of %s.",
		made.Question, p.Number, p.Pages, from, from+len(p.Items)-1, legible.Grouped(int64(p.Total)))

	for i, item := range p.Items {
		line := fmt.Sprintf("%d. %s", from+i, legible.Value(item.Value))
		if item.Note != "" {
			line += ", " + legible.Text(item.Note)
		}

		t.promptf("%s", line)
	}

	shown := p.Number

	if shown < p.Pages {
		t.promptf("Type list for the next page, or list all for the rest.")
	} else {
		t.promptf("End of the list.")

		shown = 0 // the next "list" starts again
	}

	if q := t.find(made.Question); q != nil {
		q.page = shown
		q.read = q.read || shown == 0
	}
}

// drain runs the lines of a pipe whose question has arrived by now.
func (t *Terminal) drain() {
	for len(t.queue) > 0 {
		c := parseCommand(t.queue[0])
		if !t.timely(c) || (len(t.sent) > 0 && c.verb != verbStop) {
			return
		}

		t.queue = t.queue[1:]
		before := t.noise
		t.runCommand(c)

		if t.noise == before {
			t.noise = 0
		}

		if t.noise >= maxNoise {
			t.promptf("Too many lines mean nothing; the input is no longer read.")
			t.queue, t.ended = nil, true
		}
	}
}

// timely reports whether a command makes sense now, or waits for a question.
func (t *Terminal) timely(c command) bool {
	if t.settings.Prompts && t.prompt == 0 && !t.holding() {
		return true // no question can come before a request
	}

	switch c.verb {
	case verbStop, verbHelp, verbGoOn, verbLast, verbRecap, verbWhere, verbSlower, verbFaster, verbQuiet, verbRead, verbPermissions, verbRevoke:
		return true
	case verbUndo:
		return t.undoable(0) != nil
	case verbReject:
		return t.holding() || t.undoable(0) != nil
	case verbOther, verbRepeat, verbAccept, verbMoreTime, verbList, verbWhy, verbAnswer, verbStanding:
		return t.holding()
	default:
		return true
	}
}

// sentence makes a sentence of a text: with a capital and a full stop.
func sentence(text string) string {
	return legible.Capital(strings.TrimSuffix(text, ".")) + "."
}
