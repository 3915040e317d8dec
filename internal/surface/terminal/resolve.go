package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
)

// resolution is the end of a question as an event tells it.
type resolution struct {
	how         aaep.Resolution
	by, surface string
	summary     string
}

// resolved takes a change of state that ends a question which is known here. Our
// own answer is told by its own result; all else is told now.
func (t *Terminal) resolved(e aaep.Event, p aaep.StateChanged) bool {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	number, _ := ours.Whole("question")
	how, ok := ours.Text("resolution")
	q := t.find(int(number))

	if !ok || q == nil || q.session != e.SessionID {
		return false
	}

	by, _ := ours.Text("by")
	surface, _ := ours.Text("surface")
	starts, _ := ours.Text("starts_at")
	heard := resolution{how: aaep.Resolution(how), by: by, surface: surface, summary: p.SummaryNormal}

	if heard.how == aaep.ResolutionExtended { // it is asked again at once
		return true
	}

	q.ended = heard
	q.untold = q.answersLike(heard.how)

	if !q.untold {
		t.promptf("%s", t.endText(q))
	}

	if !heard.how.Allows() {
		t.over(q)

		return true
	}

	q.stage = stageAccepted
	if at, err := time.Parse(time.RFC3339, starts); err == nil {
		q.startsAt, q.startAfter = at, t.now
	}

	if q.answer != 0 {
		q.startAfter = t.now.Add(resultGrace)
	}

	t.releaseIfClosed()

	return true
}

// acceptedBefore takes the yes to a question that is not known here: it was given before this terminal listened, as where a
// session is resumed. The event's own words offer to take it back, which is over as soon as the action has started.
func (t *Terminal) acceptedBefore(e aaep.Event) bool {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	text := func(name string) string {
		value, _ := ours.Text(name)

		return value
	}

	number, known := ours.Whole("question")
	if !known || text("resolution") != string(aaep.ResolutionAccepted) {
		return false
	}

	q := &question{
		number: int(number), session: e.SessionID, stage: stageAccepted, startAfter: t.now, what: what{call: text("tool_call_id")},
		ended: resolution{how: aaep.ResolutionAccepted, by: text("by"), surface: text("surface")},
	}
	t.tell(e, "State", t.endText(q))

	if at, err := time.Parse(time.RFC3339, text("starts_at")); err == nil && at.After(t.now) {
		q.startsAt = at
		t.questions = append(t.questions, q)
	}

	return true
}

// answersLike is true when the end of the question is what was answered here, so
// that the result of that answer tells it.
func (q *question) answersLike(how aaep.Resolution) bool {
	switch how {
	case aaep.ResolutionAccepted:
		return q.said == string(aaep.DecisionAccept)
	case aaep.ResolutionRejected:
		return q.said == string(aaep.DecisionReject)
	case aaep.ResolutionAnswered:
		return q.said != ""
	case aaep.ResolutionExpired, aaep.ResolutionWithdrawn, aaep.ResolutionExtended, aaep.ResolutionStopped:
		return false
	default:
		return false
	}
}

// endText tells how a question ended that was not answered here.
func (t *Terminal) endText(q *question) string {
	end, who := q.ended, ""
	if end.by != "" {
		who += " by " + t.settings.Show(end.by)
	}

	switch end.surface {
	case "":
	case "signal":
		who += " by a signal"
	default:
		who += " on " + t.settings.Show(end.surface)
	}

	switch end.how {
	case aaep.ResolutionAccepted, aaep.ResolutionRejected, aaep.ResolutionAnswered, aaep.ResolutionStopped:
		return fmt.Sprintf("Question %d was %s%s.", q.number, end.how, who)
	case aaep.ResolutionExpired:
		return q.headed(first(end.summary, "nobody answered in time."))
	case aaep.ResolutionWithdrawn, aaep.ResolutionExtended:
		if q.stage == stageAccepted && end.summary != "" { // it was not asked any more
			return q.headed(end.summary)
		}

		return fmt.Sprintf("Question %d is no longer asked. %s", q.number, legible.Text(end.summary))
	default:
		return fmt.Sprintf("Question %d has ended: %s.", q.number, legible.Text(string(end.how)))
	}
}

// headed puts the question's number before a text that does not name it itself.
func (q *question) headed(text string) string {
	_, after, found := strings.Cut(text, fmt.Sprintf("uestion %d", q.number))
	if found && (after == "" || !unicode.IsDigit(rune(after[0]))) {
		return legible.Text(text)
	}

	return fmt.Sprintf("Question %d: %s", q.number, legible.Text(text))
}

// over closes a question. It is forgotten once its answer, if one is under way,
// and its end have both been heard, in whichever order they come.
func (t *Terminal) over(q *question) {
	q.stage = stageOver

	if q.answer == 0 && q.ended.how != "" {
		t.questions = slices.DeleteFunc(t.questions, func(other *question) bool { return other == q })
	}

	t.releaseIfClosed()
}

func (t *Terminal) releaseIfClosed() {
	if t.holding() {
		return
	}

	t.release()
	t.screen.told = time.Time{}
}

// endQuestions ends what a session leaves behind when it ends.
func (t *Terminal) endQuestions(session string) {
	for _, q := range slices.Clone(t.questions) {
		if q.session != session {
			continue
		}

		if q.stage == stageOpen && q.answer == 0 {
			t.promptf("Question %d is no longer asked.", q.number)
		}

		q.ended.how = aaep.ResolutionWithdrawn
		t.over(q)
	}
}

// starts ends the time to undo: the action has begun.
func (t *Terminal) starts(call string) {
	for _, q := range slices.Clone(t.questions) {
		if q.stage == stageAccepted && call != "" && q.what.call == call {
			q.ended.how = aaep.ResolutionAccepted
			t.over(q)
		}
	}
}

// settle tells the end of a request.
func (t *Terminal) settle(sent request, r Result) {
	switch made := sent.made.(type) {
	case PageRequest:
		t.showPage(made, r)

		return
	case Answer:
		t.settleAnswer(r, sent.word)

		return
	case Extend, Stop, Undo:
	}

	if r.Err != nil {
		t.notRecorded(sent.word, r.Err)

		return
	}

	t.promptf("Recorded: %s.", sent.word)
}

func (t *Terminal) notRecorded(word string, err error) {
	t.promptf("Not recorded: %s. %s", word, sentence(legible.Text(cause.Of(err))))
}

func (t *Terminal) settleAnswer(r Result, word string) {
	if r.Err == nil {
		t.promptf("Recorded: %s.", word)
	} else {
		t.notRecorded(word, r.Err)
	}

	i := slices.IndexFunc(t.questions, func(q *question) bool { return q.answer == r.ID })
	if i < 0 { // another question has taken its number
		return
	}

	q := t.questions[i]
	q.answer = 0

	if r.Err != nil {
		t.unanswered(q)

		return
	}

	q.startAfter = t.now

	if q.undo {
		q.undo = false
		t.sendUndo(q)
	}

	if q.said != string(aaep.DecisionAccept) || q.stage == stageOver {
		t.over(q)

		return
	}

	q.stage = stageAccepted
	t.releaseIfClosed()
}

// unanswered goes on after an answer that was not recorded.
func (t *Terminal) unanswered(q *question) {
	refused := q.said == string(aaep.DecisionReject)
	q.said, q.undo, q.startAfter = "", false, t.now

	if q.untold { // somebody else said the same, and was first
		t.promptf("%s", t.endText(q))
	}

	switch q.stage {
	case stageOpen:
		t.stillOpen(q)
	case stageOver:
		t.over(q)
	case stageAccepted:
		if refused { // a no after somebody's yes takes the yes back
			word := fmt.Sprintf("undo question %d", q.number)
			t.promptf("Sent instead: %s.", word)
			t.send(Undo{Question: q.number, At: t.now}, word)
		}
	}
}

func (t *Terminal) stillOpen(q *question) {
	if q.deadline.After(t.now) {
		t.promptf("Question %d is still open: %s.", q.number, t.untilText(q))
	} else {
		t.promptf("Question %d: %s.", q.number, t.untilText(q))
	}
}

// showPage prints one page of what a question is about.
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
		line := fmt.Sprintf("%d. %s", from+i, t.settings.Show(item.Value))
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

		shown = 0 // the next "list" begins again
	}

	if q := t.find(made.Question); q != nil {
		q.page = shown
		q.read = q.read || shown == 0
	}
}

// warn announces the end of each question's time, once.
func (t *Terminal) warn() {
	for _, q := range t.open() {
		due := q.warningDue()
		if due.IsZero() || due.After(t.now) {
			continue
		}

		q.warnAt = time.Time{}

		if q.deadline.After(t.now) {
			more := "Type " + t.numbered(q, "more time") + " to get more."
			if t.gone {
				more = "Where it can be answered, more time can be asked for."
			}

			t.promptf("%s left to answer question %d. %s", durationText(q.deadline.Sub(t.now)), q.number, more)
		}
	}
}

func (q *question) warningDue() time.Time {
	if q.stage != stageOpen || q.answer != 0 {
		return time.Time{}
	}

	return q.warnAt
}

// sayStarts tells when an accepted action starts, after its answer was confirmed
// or, when that takes too long, without it.
func (t *Terminal) sayStarts() {
	for _, q := range t.questions {
		due := q.startDue()
		if due.IsZero() || due.After(t.now) {
			continue
		}

		q.startTold = true

		if q.startsAt.After(t.now) {
			t.promptf("Starts in %s; type undo.", durationText(q.startsAt.Sub(t.now)))
		}
	}
}

func (q *question) startDue() time.Time {
	if q.stage != stageAccepted || q.startTold || q.startsAt.IsZero() {
		return time.Time{}
	}

	return q.startAfter
}

// drain obeys the lines of a pipe that have something to be about by now.
func (t *Terminal) drain() {
	for len(t.queue) > 0 {
		c := parseWords(t.queue[0])
		if !t.timely(c.verb) || (len(t.sent) > 0 && c.verb != verbStop) {
			return
		}

		t.queue = t.queue[1:]
		before := t.noise
		t.obey(c)

		if t.noise == before {
			t.noise = 0
		}

		if t.noise >= maxNoise {
			t.promptf("Too many lines mean nothing; the input is no longer read.")
			t.queue, t.ended = nil, true
		}
	}
}

// timely reports whether a word makes sense now, or waits for a question.
func (t *Terminal) timely(v verb) bool {
	switch v {
	case verbStop, verbHelp, verbGoOn:
		return true
	case verbUndo:
		return t.undoable(0) != nil
	case verbReject:
		return t.holding() || t.undoable(0) != nil
	case verbOther, verbRepeat, verbAccept, verbMoreTime, verbList, verbWhy, verbAnswer:
		return t.holding()
	default:
		return true
	}
}

// sentence begins a text with a capital and ends it with a full stop.
func sentence(text string) string {
	return legible.Capital(strings.TrimSuffix(text, ".")) + "."
}
