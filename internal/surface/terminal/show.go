package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// show prints a question in full: its number, what it is about, how much of it,
// whether it can be undone, until when, and which words answer it.
func (t *Terminal) show(q *question) {
	// The empty line sets it apart, and ends a line that somebody had begun to type.
	t.print(Prompt, "")
	t.showQuestion(q)
	t.showWords(q)
}

func (t *Terminal) showQuestion(q *question) {
	who := ""
	if q.what.name != "" {
		who = ", " + t.settings.Show(q.what.name)
	}

	t.promptf("Question %d%s: %s", q.number, who, legible.Text(q.what.text))
	t.labelled("Asked again", q.what.earlier)

	if q.what.confirmation {
		t.showConfirmation(q)
	} else {
		t.showClarification(q)
	}
}

// Present gives the lines of a question in full, as a [Terminal] shows it, but for the
// words that answer it there. An event that asks nothing has none.
func Present(s Settings, now time.Time, e aaep.Event) []string {
	t := New(s)
	t.now = now

	switch p := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		q := confirmationOf(e, p)
		t.showQuestion(&q)
	case aaep.AwaitingClarification:
		q := clarificationOf(e, p)
		t.showQuestion(&q)
	default:
		return nil
	}

	var lines []string

	for _, effect := range t.out {
		if shown, is := effect.(Print); is {
			lines = append(lines, shown.Lines...)
		}
	}

	return lines
}

func (t *Terminal) showConfirmation(q *question) {
	w := q.what
	t.showValues(q)
	t.labelled("What happens", w.consequence)

	if amount := w.amount(); amount != "" {
		t.promptf("How many: %s.", amount)
	}

	switch {
	case w.byClass: // which has been said
	case w.irreversible:
		t.promptf("This cannot be undone.")
	case w.reversible:
		t.promptf("This can be undone.")
	}

	t.labelled("Request", w.request)
	t.labelled("Hint", w.hint)

	silence := "Without an answer it will not be done."
	if w.defaultAnswer == string(aaep.DecisionAccept) && !w.irreversible {
		silence = "Without an answer it will be done."
	}

	t.promptf("%s. %s", legible.Capital(t.untilText(q)), silence)
}

func (t *Terminal) showClarification(q *question) {
	w := q.what
	t.labelled("Why", w.consequence)
	t.labelled("Request", w.request)
	t.labelled("Hint", w.hint)

	for _, c := range w.choices {
		t.promptf("Type %s for: %s", t.choiceWord(q, c), legible.Text(c.Label))
	}

	silence := ""
	if w.defaultAnswer != "" {
		silence = " Without an answer it is: " + t.settings.Show(w.defaultAnswer) + "."
	}

	t.promptf("%s.%s", legible.Capital(t.untilText(q)), silence)
}

// showWords says how to answer, or that it cannot be done here.
func (t *Terminal) showWords(q *question) {
	if t.gone {
		t.cannotAnswer(q)

		return
	}

	if q.unread() {
		t.promptf("Type list to read what has not been shown; then you can accept.")
	}

	t.promptf("Type %s, then press Enter.", either(t.questionWords(q)))
}

func (t *Terminal) cannotAnswer(q *question) {
	t.promptf("Question %d cannot be answered here, because the input has ended.", q.number)
}

func (t *Terminal) labelled(label, text string) {
	if text != "" {
		t.promptf("%s: %s", label, legible.Text(text))
	}
}

// untilText says until when a question can be answered.
func (t *Terminal) untilText(q *question) string {
	if !q.deadline.After(t.now) {
		return "the time to answer is over"
	}

	end := momentText(q.deadline, t.now, t.settings.Zone)

	switch {
	case q.waiting:
		return "it waits until somebody who can answer is shown it, at most until " + end
	case q.unlimited:
		return "there is no time limit; it stays open until " + end
	default:
		return fmt.Sprintf("answer until %s, in %s", end, durationText(q.deadline.Sub(t.now)))
	}
}

// amount says how many things, and how many bytes.
func (w what) amount() string {
	var parts []string
	if w.items >= 0 {
		parts = append(parts, legible.Counted(w.items, "item"))
	}

	if w.bytes >= 0 {
		parts = append(parts, legible.Bytes(w.bytes))
	}

	return strings.Join(parts, ", ")
}

// questionWords lists the words that a question takes, with its number when
// there is more than one question.
func (t *Terminal) questionWords(q *question) []string {
	var list []string

	w := q.what

	switch {
	case w.confirmation && w.acceptable:
		list = append(list, "accept", "reject")
	case w.confirmation:
		list = append(list, "reject")
	case len(w.kinds) > 0:
		list = append(list, t.responseWords(q)...)
	default:
		list = append(list, "answer and your words")
	}

	list = append(list, "more time")
	if w.confirmation {
		list = append(list, "list")
	}

	list = append(list, "why")

	for i, word := range list {
		list[i] = t.numbered(q, word)
	}

	return append(list, "stop")
}

func (t *Terminal) responseWords(q *question) []string {
	var list []string

	for _, kind := range q.what.kinds {
		switch kind {
		case aaep.ResponseMultipleChoice:
			for _, c := range q.what.choices {
				list = append(list, t.plainChoiceWord(c))
			}
		case aaep.ResponseYesNo:
			list = append(list, "yes", "no")
		case aaep.ResponseNumeric:
			list = append(list, "answer and a number")
		case aaep.ResponseFreetext:
			list = append(list, "answer and your words")
		}
	}

	return list
}

// numbered adds the number to a word when a bare one would not do.
func (t *Terminal) numbered(q *question, word string) string {
	if len(t.open()) < 2 {
		return word
	}

	if rest, ok := strings.CutPrefix(word, "answer "); ok {
		return fmt.Sprintf("answer %d %s", q.number, rest)
	}

	return fmt.Sprintf("%s %d", word, q.number)
}

// choiceWord is what a person types for a choice.
func (t *Terminal) choiceWord(q *question, c aaep.Choice) string {
	return t.numbered(q, t.plainChoiceWord(c))
}

func (t *Terminal) plainChoiceWord(c aaep.Choice) string {
	word := spoken(c.Value)
	if parseWords(word).verb == verbOther && parseWords(word).number == 0 {
		return legible.Text(word)
	}

	return "answer " + legible.Text(word) // the bare word means something else
}

// either joins words as a sentence does: a, b or c.
func either(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}

	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
