package terminal

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// show prints a question in full: its number, its subject and extent, whether it can be undone, its deadline, and the
// commands that answer it.
func (t *Terminal) show(q *question) {
	// The empty line sets it apart.
	t.print(Prompt, "")

	for _, line := range q.Lines(t.now, t.settings.Zone) {
		t.promptf("%s", line)
	}

	t.showHelp(q)
}

// showHelp says how to answer, or that it is not possible here.
func (t *Terminal) showHelp(q *question) {
	if t.inputEnded {
		t.cannotAnswer(q)

		return
	}

	for _, c := range q.Choices {
		t.promptf("Type %s for: %s", t.choiceWord(q, c), legible.Text(c.Label))
	}

	if q.unread() && q.acceptable() {
		t.promptf("Type list to read what has not been shown; then you can accept.")
	}

	t.promptf("Type %s, then press Enter.", either(t.questionWords(q)))
}

func (t *Terminal) cannotAnswer(q *question) {
	switch {
	case t.settings.NoInput == "":
		t.promptf("Question %d cannot be answered here, because there is no more input.", q.Number)
	case !t.settings.Alone || !q.Consent:
		t.promptf("Question %d cannot be answered here, because of %s.", q.Number, t.settings.NoInput)
	}
}

// expiry is why a question has ended that nobody could answer, "" where its end is announced as usual.
func (t *Terminal) expiry(e aaep.Event) string {
	if t.settings.NoInput == "" || !t.settings.Alone {
		return ""
	}

	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	number, _ := ours.Whole("question")
	how, _ := ours.Text("resolution")

	if q := t.find(int(number)); q == nil || !q.Consent || aaep.Resolution(how) != aaep.ResolutionExpired {
		return ""
	}

	return fmt.Sprintf("Nobody could answer question %d, because of %s, so it is not done.", number, t.settings.NoInput)
}

// questionWords lists the commands that a question takes, with its number if there is more than one question.
func (t *Terminal) questionWords(q *question) []string {
	var list []string

	switch {
	case q.Consent && q.acceptable():
		list = append(list, "accept", "reject")
	case q.Consent:
		list = append(list, "reject")
	case len(q.Kinds) > 0:
		list = append(list, t.responseWords(q)...)
	default:
		list = append(list, "answer and your words")
	}

	list = append(list, "more time")
	if q.Consent {
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

	for _, kind := range q.Kinds {
		switch kind {
		case aaep.ResponseMultipleChoice:
			for _, c := range q.Choices {
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

// numbered adds the number to a command if it is ambiguous without.
func (t *Terminal) numbered(q *question, word string) string {
	if len(t.open()) < 2 {
		return word
	}

	if rest, ok := strings.CutPrefix(word, "answer "); ok {
		return fmt.Sprintf("answer %d %s", q.Number, rest)
	}

	return fmt.Sprintf("%s %d", word, q.Number)
}

// choiceWord returns what a person types for a choice.
func (t *Terminal) choiceWord(q *question, c aaep.Choice) string {
	return t.numbered(q, t.plainChoiceWord(c))
}

func (t *Terminal) plainChoiceWord(c aaep.Choice) string {
	word := typedForm(c.Value)
	if parseCommand(word).verb == verbOther && parseCommand(word).number == 0 {
		return legible.Text(word)
	}

	return "answer " + legible.Text(word) // the bare word is a command
}

// either joins words as in a sentence: a, b or c.
func either(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}

	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
