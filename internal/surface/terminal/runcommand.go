package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// maxNoise is how many consecutive lines of a pipe may be meaningless before the pipe is no longer read.
const maxNoise = 20

// runCommand runs a typed command.
func (t *Terminal) runCommand(c command) {
	if t.agree(c) {
		return
	}

	if c.several != nil {
		t.decideSeveral(c)

		return
	}

	switch c.verb {
	case verbRepeat:
		t.repeat()
	case verbHelp:
		t.help()
	case verbGoOn:
		t.goOn()
	case verbLast, verbRecap, verbWhere, verbSlower, verbFaster, verbQuiet, verbRead:
		t.ofNarration(c)
	case verbStop:
		t.understood("stop")
		t.send(Stop{At: t.now}, "stop", "Recorded: stop.")
	case verbUndo:
		t.undo(c)
	case verbAnswer:
		if t.settings.Prompts && !t.holding() {
			t.promptAgent(c.line)

			return
		}

		t.answerWith(c.text)
	case verbOther:
		t.other(c)
	case verbReject:
		t.reject(c)
	case verbAccept:
		t.decide(c, aaep.DecisionAccept)
	case verbMoreTime, verbList, verbListAll, verbWhy:
		t.about(c)
	case verbStanding:
		t.propose(c)
	case verbPermissions:
		t.listPermissions()
	case verbRevoke:
		t.revoke(c)
	}
}

func (t *Terminal) understood(word string) { t.promptf("Understood: %s.", word) }

// repeat shows the open questions again. Enter does this; it answers nothing.
func (t *Terminal) repeat() {
	open := t.open()
	if len(open) == 0 {
		t.promptf("No question is open. Type help for the words.")

		return
	}

	for _, q := range open {
		t.show(q)
	}

	t.showAnnouncements(t.announcer.Waiting(t.now))

	if t.bufferedCount() > 0 {
		t.reportBuffered()
	}
}

func (t *Terminal) help() {
	t.promptf("Words about a question: accept, reject, more time, list, list all, why, stop, undo.")
	t.promptf("Enter repeats the question. With more than one question, add its number: accept 2.")
	t.promptf("Words about what is told: repeat, recap, where, read, slower, faster, quiet, go on, help.")

	if t.settings.Permits {
		t.promptf("To be asked less: accept standing, with times 20, for 2h, where path=/home/ann/*. Words about what was given: permissions, permissions revoke 3.")
	}

	if t.settings.Prompts {
		t.promptf("Any other line is a request to the agent, while no question is open and the agent is not at work.")
	}

	if t.holding() && t.bufferedCount() > 0 {
		t.reportBuffered()
	}
}

// goOn prints the held lines. The question stays open.
func (t *Terminal) goOn() {
	if t.bufferedCount() == 0 {
		t.promptf("No lines are held.")

		return
	}

	t.release()

	for _, q := range t.open() {
		t.stillOpen(q)
	}
}

func (t *Terminal) stillOpen(q *question) { t.promptf("%s", q.StillOpen(t.now, t.settings.Zone)) }

// ofNarration runs the commands about the narration.
func (t *Terminal) ofNarration(c command) {
	var announced []announce.Announcement

	if slices.Contains([]verb{verbLast, verbRecap, verbWhere, verbRead}, c.verb) {
		t.releaseBehind() // it comes before what is said about it
	}

	switch c.verb {
	case verbLast:
		if again, found := t.last(); found {
			announced = append(announced, again)
		}
	case verbRecap:
		announced = t.announcer.Recap(cmp.Or(c.number, recapUsual))
	case verbWhere:
		announced = t.announcer.Where(t.now)
	case verbRead:
		announced = t.announcer.Answer()
	case verbSlower:
		announced = append(announced, t.announcer.SetPace(t.announcer.Pace().Slower(), t.now))
	case verbFaster:
		announced = append(announced, t.announcer.SetPace(t.announcer.Pace().Faster(), t.now))
	case verbQuiet:
		announced = append(announced, t.announcer.SetPace(announce.PaceQuiet, t.now))
	default: // the others are about questions
	}

	if away := t.settings.Away; c.verb == verbWhere && away != nil && away() {
		t.promptf("The connection is lost. This is what was known before:")
	}

	t.tellAgain(announced)

	switch {
	case c.verb == verbLast && t.bufferedCount() > 0:
		t.reportBuffered()
	case len(announced) > 0:
	case c.verb == verbRead:
		t.promptf("There is no answer yet.")
	default:
		t.promptf("Nothing has been told yet.")
	}
}

// tellAgain prints announcements as the answer to a command.
func (t *Terminal) tellAgain(announced []announce.Announcement) {
	for _, n := range announced {
		if strings.Contains(n.Text, "\n") {
			t.promptf("%s", t.output(n))

			continue
		}

		t.promptf("%s", n.Text)
	}
}

// recapUsual is the default number of announcements in a recap.
const recapUsual = 5

// target finds the question of a command, or explains why there is none.
func (t *Terminal) target(number int, word string) *question {
	open := t.open()

	switch {
	case number > 0:
		i := slices.IndexFunc(open, func(q *question) bool { return q.Number == number })
		if i >= 0 {
			return open[i]
		}

		t.promptf("%s %s", t.notOpen(number), openText(open))
	case len(open) == 1:
		return open[0]
	case len(open) == 0:
		t.promptf("No question is open.")
	default:
		t.promptf("%s Say which, for example: %s %d.", openText(open), word, open[0].Number)
	}

	return nil
}

// notOpen says why a question takes no answer now.
func (t *Terminal) notOpen(number int) string {
	if t.waiting(number) != nil {
		return fmt.Sprintf("Question %d waits, and has not been shown yet.", number)
	}

	if q := t.find(number); q != nil && q.stage == stageAccepted {
		return fmt.Sprintf("Question %d is accepted already; undo takes that back, until it starts.", number)
	}

	return fmt.Sprintf("Question %d is not open.", number)
}

func openText(open []*question) string {
	numbers := make([]string, 0, len(open))
	for _, q := range open {
		numbers = append(numbers, strconv.Itoa(q.Number))
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
	if q != nil && t.mayDecide(q, decision) {
		how := map[aaep.Decision]aaep.Resolution{aaep.DecisionAccept: aaep.ResolutionAccepted, aaep.DecisionReject: aaep.ResolutionRejected}[decision]
		t.reply(q, Answer{Decision: decision}, string(decision), how)
	}
}

// mayDecide reports whether a question takes a decision here and now, and otherwise says why not.
func (t *Terminal) mayDecide(q *question, decision aaep.Decision) bool {
	switch {
	case !q.Consent:
		t.wantsOther(q)
	case decision == aaep.DecisionAccept && q.Passkey:
		t.promptf("Question %d: %s", q.Number, q.Presence())
	case decision == aaep.DecisionAccept && q.unread():
		t.promptf("Question %d: %s Type list or list all to read them, then accept.", q.Number, q.Unread())
	case decision == aaep.DecisionAccept && !q.Acceptable:
		t.promptf("Question %d does not take accept: type %s.", q.Number, either(t.questionWords(q)))
	default:
		return true
	}

	return false
}

// decideSeveral answers several questions, each by itself. A span is accepted only where people type: there each question
// was shown before the line began.
func (t *Terminal) decideSeveral(c command) {
	if c.verb == verbAccept && c.several.Spans() && !t.settings.Typed {
		t.promptf("A span is accepted only at a terminal. Name each question, for example: accept 3,5.")

		return
	}

	var numbers []int

	named := 0

	for _, q := range t.open() {
		numbers = append(numbers, q.Number)

		if !c.several.Includes(q.Number) {
			continue
		}

		named++

		if one := (command{verb: c.verb, number: q.Number}); c.verb == verbReject {
			t.reject(one)
		} else {
			t.decide(one, aaep.DecisionAccept)
		}
	}

	for _, n := range c.several.Missing(numbers) {
		t.promptf("%s", t.notOpen(n))
	}

	if named == 0 {
		t.promptf("None of these questions is open. %s", openText(t.open()))
	}
}

// reply sends an answer, once.
func (t *Terminal) reply(q *question, a Answer, announced string, how aaep.Resolution) {
	if q.answer != 0 {
		t.promptf("Question %d: your answer is being recorded.", q.Number)

		return
	}

	word := fmt.Sprintf("%s question %d", announced, q.Number)
	t.understood(word)

	a.Question, a.Token, a.At = q.Number, q.Token, t.now
	q.reply, q.how = announced, how
	q.answer = t.send(a, word, announce.Recorded(q.Number, how))
	t.announcer.Answered(q.Number, how)
}

// about runs the commands about a question that do not answer it.
func (t *Terminal) about(c command) {
	words := map[verb]string{verbMoreTime: "more time", verbList: "list", verbListAll: "list all", verbWhy: "why"}

	q := t.waiting(c.number)
	if q == nil {
		q = t.target(c.number, words[c.verb])
	}

	if q == nil {
		return
	}

	switch c.verb {
	case verbWhy:
		t.why(q)
	case verbMoreTime:
		word := fmt.Sprintf("more time for question %d", q.Number)
		t.understood(word)
		t.send(Extend{Question: q.Number, Token: q.Token, At: t.now}, word, announce.Recorded(q.Number, aaep.ResolutionExtended))
	default:
		word := fmt.Sprintf("%s for question %d", words[c.verb], q.Number)
		t.understood(word)
		t.send(PageRequest{Question: q.Number, Tool: q.Tool, Page: q.page + 1, All: c.verb == verbListAll}, word, "")
	}
}

func (t *Terminal) why(q *question) {
	for _, line := range q.Why() {
		t.promptf("%s", line)
	}

	if q.Consent && q.Arguments.Covers() {
		t.promptf("Type list %d to read what is not listed.", q.Number) // it may wait behind another one
	}
}

// reject rejects. A reject after an accept takes the accept back.
func (t *Terminal) reject(c command) {
	q, open := t.undoable(c.number), t.open()

	if q != nil && (c.number > 0 || len(open) == 0 || (len(open) == 1 && open[0] == q)) {
		t.undo(c)

		return
	}

	t.decide(c, aaep.DecisionReject)
}

// undoable returns the accepted question that has not started: the one with that number, or the latest.
func (t *Terminal) undoable(number int) *question {
	for _, q := range slices.Backward(t.questions) {
		accepted := q.stage == stageAccepted || (q.stage == stageOpen && q.answer != 0 && q.reply == string(aaep.DecisionAccept))
		if accepted && (number == 0 || number == q.Number) {
			return q
		}
	}

	return nil
}

// undo takes back an accept. If the accept is still being sent, it is taken back as soon as it has been recorded, so
// that the two cannot overtake each other.
func (t *Terminal) undo(c command) {
	q := t.undoable(c.number)
	if q == nil {
		t.promptf("There is nothing to undo.")

		return
	}

	t.understood(fmt.Sprintf("undo question %d", q.Number))

	if q.answer != 0 {
		q.undo = true

		return
	}

	t.sendUndo(q)
}

func (t *Terminal) sendUndo(q *question) {
	t.announcer.Answered(q.Number, aaep.ResolutionStopped)
	t.send(Undo{Question: q.Number, At: t.now}, fmt.Sprintf("undo question %d", q.Number), announce.Recorded(q.Number, aaep.ResolutionStopped))
}

// other treats a line that is not a command as the answer to a clarification: a choice, yes or no, or a number.
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
		takers = slices.DeleteFunc(takers, func(q *question) bool { return q.Number != c.number })
	}

	switch {
	case len(takers) == 0 && t.settings.Prompts && len(open) == 0:
		t.promptAgent(c.line)
	case len(takers) == 0:
		t.notUnderstood(whole)
	case len(takers) == 1 && (len(open) == 1 || text != whole):
		response, _ := takers[0].understand(text, false)
		t.reply(takers[0], Answer{Response: response}, legible.Text(text)+" for", aaep.ResolutionAnswered)
	default:
		t.promptf("%s Say which, for example: %s %d.", openText(open), legible.Text(text), takers[0].Number)
	}
}

// takersOf lists the clarifications that a bare line can answer.
func takersOf(open []*question, text string) []*question {
	var takers []*question

	for _, q := range open {
		if _, ok := q.understand(text, false); ok {
			takers = append(takers, q)
		}
	}

	return takers
}

// answerWith processes "answer" and the answer itself, which may be any text. If a number of an open question comes
// first, it names the question.
func (t *Terminal) answerWith(text string) {
	number := 0
	head, rest, _ := strings.Cut(text, " ")

	if n, ok := questionNumber(head); ok && rest != "" && slices.ContainsFunc(t.questions, func(q *question) bool { return q.Number == n && q.stage == stageOpen }) {
		number, text = n, rest
	}

	q := t.target(number, "answer")
	if q == nil {
		return
	}

	response, ok := q.understand(text, true)
	if !ok {
		t.wantsOther(q)

		return
	}

	t.reply(q, Answer{Response: response}, "answer "+legible.Value(text)+" for", aaep.ResolutionAnswered)
}

func (t *Terminal) wantsOther(q *question) {
	t.promptf("Question %d wants another answer: type %s.", q.Number, either(t.questionWords(q)))
}

// understand parses an answer as one of the types that a clarification takes (CLA-03). Free text needs the word
// "answer" before it.
func (q *question) understand(text string, free bool) (aaep.Response, bool) {
	announced := typedForm(text)

	if q.Consent || announced == "" {
		return aaep.Response{}, false
	}

	if q.accepts(aaep.ResponseMultipleChoice) {
		for _, c := range q.Choices {
			if announced == typedForm(c.Value) || announced == typedForm(c.Label) {
				return aaep.TextResponse(c.Value), true
			}
		}
	}

	if q.accepts(aaep.ResponseYesNo) && (announced == "yes" || announced == "no") {
		return aaep.YesNoResponse(announced == "yes"), true
	}

	if number, err := strconv.ParseFloat(announced, 64); err == nil && q.accepts(aaep.ResponseNumeric) && finite(number) {
		return aaep.NumberResponse(number), true
	}

	if free && q.accepts(aaep.ResponseFreetext) {
		return aaep.TextResponse(text), true
	}

	return aaep.Response{}, false
}

// finite reports whether JSON can represent the number.
func finite(number float64) bool { return number-number == 0 }

func (t *Terminal) notUnderstood(text string) {
	words := []string{"go on", "stop", "undo", "help"}
	if open := t.open(); len(open) == 1 {
		words = append(t.questionWords(open[0]), words[0], words[2], words[3])
	} else if len(open) > 1 {
		words = append([]string{"accept", "reject", "more time", "list", "why"}, words...)
	}

	t.noise++

	if isYesOrNo(text) && t.consents() {
		t.yesOrNo(text)

		return
	}

	t.promptf("Not understood: %s. The words are %s.", legible.Value(clipped(text)), strings.ReplaceAll(either(words), " or ", " and "))
}

// isYesOrNo reports whether the text is what people type when a program asks for yes or no.
func isYesOrNo(text string) bool {
	switch strings.ToLower(strings.TrimRight(text, ".!")) {
	case "y", "yes", "n", "no", "ok", "okay", "sure":
		return true
	default:
		return false
	}
}

// consents reports whether a question is open that takes accept or reject.
func (t *Terminal) consents() bool {
	return slices.ContainsFunc(t.open(), func(q *question) bool { return q.Consent })
}

// yesOrNo says what to type instead. A key that is pressed out of habit decides nothing.
func (t *Terminal) yesOrNo(text string) {
	for _, q := range t.open() {
		if !q.Consent {
			continue
		}

		words := []string{t.numbered(q, "accept"), t.numbered(q, "reject")}
		if !q.acceptable() {
			words = words[1:]
		}

		t.promptf("“%s” does not answer question %d. Type %s.", legible.Value(text), q.Number, either(words))
	}
}

// clipped shortens a stray line.
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
