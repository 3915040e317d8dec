package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// maxNoise is how many lines of a pipe may mean nothing, one after the other,
// before the pipe is no longer read.
const maxNoise = 20

// obey does what a typed line asks for.
func (t *Terminal) obey(c command) {
	switch c.verb {
	case verbRepeat:
		t.repeat()
	case verbHelp:
		t.help()
	case verbGoOn:
		t.goOn()
	case verbStop:
		t.understood("stop")
		t.send(Stop{At: t.now}, "stop")
	case verbUndo:
		t.undo(c)
	case verbAnswer:
		t.answerWith(c.text)
	case verbOther:
		t.other(c)
	case verbReject:
		t.reject(c)
	case verbAccept:
		t.decide(c, aaep.DecisionAccept)
	case verbMoreTime, verbList, verbListAll, verbWhy:
		t.about(c)
	}
}

func (t *Terminal) understood(word string) { t.promptf("Understood: %s.", word) }

// repeat says the open questions again. It is what Enter does, and it answers
// nothing.
func (t *Terminal) repeat() {
	open := t.open()
	if len(open) == 0 {
		t.promptf("No question is open. Type help for the words.")

		return
	}

	for _, q := range open {
		t.show(q)
	}

	if t.heldCount() > 0 {
		t.tellHeld()
	}
}

func (t *Terminal) help() {
	t.promptf("Words: accept, reject, more time, list, list all, why, go on, stop, undo, help.")
	t.promptf("Enter repeats the question. With more than one question, add its number: accept 2.")

	if t.holding() && t.heldCount() > 0 {
		t.tellHeld()
	}
}

// goOn prints what is held. The question stays open.
func (t *Terminal) goOn() {
	if t.heldCount() == 0 {
		t.promptf("No lines are held.")

		return
	}

	t.release()

	for _, q := range t.open() {
		t.stillOpen(q)
	}
}

// target finds the question that a word is about, or says why there is none.
func (t *Terminal) target(number int, word string) *question {
	open := t.open()

	switch {
	case number > 0:
		i := slices.IndexFunc(open, func(q *question) bool { return q.number == number })
		if i >= 0 {
			return open[i]
		}

		t.promptf("Question %d is not open. %s", number, openText(open))
	case len(open) == 1:
		return open[0]
	case len(open) == 0:
		t.promptf("No question is open.")
	default:
		t.promptf("%s Say which, for example: %s %d.", openText(open), word, open[0].number)
	}

	return nil
}

func openText(open []*question) string {
	numbers := make([]string, 0, len(open))
	for _, q := range open {
		numbers = append(numbers, strconv.Itoa(q.number))
	}

	switch len(numbers) {
	case 0:
		return "No question is open."
	case 1:
		return "Question " + numbers[0] + " is open."
	default:
		last := len(numbers) - 1

		return "Questions " + strings.Join(numbers[:last], ", ") + " and " + numbers[last] + " are open."
	}
}

// decide answers a confirmation.
func (t *Terminal) decide(c command, decision aaep.Decision) {
	q := t.target(c.number, string(decision))

	switch {
	case q == nil:
	case !q.what.confirmation:
		t.wantsOther(q)
	case decision == aaep.DecisionAccept && q.unread():
		t.promptf("Question %d: %s. Type list or list all to read them, then accept.", q.number, q.what.arguments.unreadText())
	case decision == aaep.DecisionAccept && !q.what.acceptable:
		t.promptf("Question %d does not take accept: type %s.", q.number, either(t.questionWords(q)))
	default:
		t.reply(q, Answer{Decision: decision}, string(decision))
	}
}

// reply sends an answer, once.
func (t *Terminal) reply(q *question, a Answer, said string) {
	if q.answer != 0 {
		t.promptf("Question %d: your answer is being recorded.", q.number)

		return
	}

	word := fmt.Sprintf("%s question %d", said, q.number)
	t.understood(word)

	a.Question, a.Token, a.At = q.number, q.token, t.now
	q.said = said
	q.answer = t.send(a, word)
}

// about does what may be asked about a question without answering it.
func (t *Terminal) about(c command) {
	words := map[verb]string{verbMoreTime: "more time", verbList: "list", verbListAll: "list all", verbWhy: "why"}

	q := t.target(c.number, words[c.verb])
	if q == nil {
		return
	}

	switch c.verb {
	case verbWhy:
		t.why(q)
	case verbMoreTime:
		word := fmt.Sprintf("more time for question %d", q.number)
		t.understood(word)
		t.send(Extend{Question: q.number, Token: q.token, At: t.now}, word)
	default:
		word := fmt.Sprintf("%s for question %d", words[c.verb], q.number)
		t.understood(word)
		t.send(PageRequest{Question: q.number, Page: q.page + 1, All: c.verb == verbListAll}, word)
	}
}

func (t *Terminal) why(q *question) {
	w := q.what
	detail, label := first(w.detail, w.consequence, w.text), "Why"

	if number := fmt.Sprintf("Question %d", q.number); !strings.HasPrefix(detail, number) {
		label += " question" + strings.TrimPrefix(number, "Question")
	}

	t.labelled(label, detail)
	t.showAllValues(q)

	if w.tool != "" && !strings.Contains(detail, w.tool) {
		t.labelled("Tool", w.tool)
	}

	if w.risk != "" {
		t.promptf("Risk: %s.", legible.Text(w.risk))
	}
}

// reject says no. A no after a yes takes the yes back.
func (t *Terminal) reject(c command) {
	q, open := t.undoable(c.number), t.open()

	if q != nil && (c.number > 0 || len(open) == 0 || (len(open) == 1 && open[0] == q)) {
		t.undo(c)

		return
	}

	t.decide(c, aaep.DecisionReject)
}

// undoable finds the accepted question that has not started: the one with that
// number, or the latest.
func (t *Terminal) undoable(number int) *question {
	for _, q := range slices.Backward(t.questions) {
		accepted := q.stage == stageAccepted || (q.stage == stageOpen && q.answer != 0 && q.said == string(aaep.DecisionAccept))
		if accepted && (number == 0 || number == q.number) {
			return q
		}
	}

	return nil
}

// undo takes an accept back. One that is still under way is undone as soon as it
// has been recorded, so that the two cannot overtake each other.
func (t *Terminal) undo(c command) {
	q := t.undoable(c.number)
	if q == nil {
		t.promptf("There is nothing to undo.")

		return
	}

	t.understood(fmt.Sprintf("undo question %d", q.number))

	if q.answer != 0 {
		q.undo = true

		return
	}

	t.sendUndo(q)
}

func (t *Terminal) sendUndo(q *question) {
	t.send(Undo{Question: q.number, At: t.now}, fmt.Sprintf("undo question %d", q.number))
}

// other takes a line that is no word of ours as the answer to a clarification:
// a choice, yes or no, or a number.
func (t *Terminal) other(c command) {
	whole := c.text
	if c.number > 0 {
		whole = fmt.Sprintf("%s %d", c.text, c.number)
	}

	open := t.open()

	text, takers := whole, takersOf(open, whole)
	if len(takers) == 0 && c.number > 0 {
		text = c.text
		takers = takersOf(open, text)
		takers = slices.DeleteFunc(takers, func(q *question) bool { return q.number != c.number })
	}

	switch {
	case len(takers) == 0:
		t.notUnderstood(whole)
	case len(takers) == 1 && (len(open) == 1 || text != whole):
		response, _ := takers[0].what.understand(text, false)
		t.reply(takers[0], Answer{Response: response}, legible.Text(text)+" for")
	default:
		t.promptf("%s Say which, for example: %s %d.", openText(open), legible.Text(text), takers[0].number)
	}
}

// takersOf lists the clarifications that a bare line answers.
func takersOf(open []*question, text string) []*question {
	var takers []*question

	for _, q := range open {
		if _, ok := q.what.understand(text, false); ok {
			takers = append(takers, q)
		}
	}

	return takers
}

// answerWith takes "answer" and the answer itself, which may be any words. A
// number before them that is an open question's is that.
func (t *Terminal) answerWith(text string) {
	number := 0
	head, rest, _ := strings.Cut(text, " ")

	if n, ok := questionNumber(head); ok && rest != "" && slices.ContainsFunc(t.open(), func(q *question) bool { return q.number == n }) {
		number, text = n, rest
	}

	q := t.target(number, "answer")
	if q == nil {
		return
	}

	response, ok := q.what.understand(text, true)
	if !ok {
		t.wantsOther(q)

		return
	}

	t.reply(q, Answer{Response: response}, "answer "+t.settings.Show(text)+" for")
}

func (t *Terminal) wantsOther(q *question) {
	t.promptf("Question %d wants another answer: type %s.", q.number, either(t.questionWords(q)))
}

// understand reads an answer as one of the kinds that a clarification takes
// (CLA-03). Free text needs the word "answer" before it.
func (w what) understand(text string, free bool) (aaep.Response, bool) {
	said := spoken(text)

	if w.confirmation || said == "" {
		return aaep.Response{}, false
	}

	if w.takes(aaep.ResponseMultipleChoice) {
		for _, c := range w.choices {
			if said == spoken(c.Value) || said == spoken(c.Label) {
				return aaep.TextResponse(c.Value), true
			}
		}
	}

	if w.takes(aaep.ResponseYesNo) && (said == "yes" || said == "no") {
		return aaep.YesNoResponse(said == "yes"), true
	}

	if number, err := strconv.ParseFloat(said, 64); err == nil && w.takes(aaep.ResponseNumeric) && finite(number) {
		return aaep.NumberResponse(number), true
	}

	if free && w.takes(aaep.ResponseFreetext) {
		return aaep.TextResponse(text), true
	}

	return aaep.Response{}, false
}

// finite is true for what JSON can carry.
func finite(number float64) bool { return number-number == 0 }

func (t *Terminal) notUnderstood(text string) {
	words := []string{"go on", "stop", "undo", "help"}
	if open := t.open(); len(open) == 1 {
		words = append(t.questionWords(open[0]), words[0], words[2], words[3])
	} else if len(open) > 1 {
		words = append([]string{"accept", "reject", "more time", "list", "why"}, words...)
	}

	t.noise++
	t.promptf("Not understood: %s. The words are %s.", t.settings.Show(clipped(text)), strings.ReplaceAll(either(words), " or ", " and "))
}

// clipped keeps a stray line short.
func clipped(text string) string {
	const most = 60

	list := clusters(text)
	if len(list) <= most {
		return text
	}

	var out strings.Builder
	for _, c := range list[:most] {
		out.WriteString(c.text)
	}

	return out.String() + "…"
}
