package announce

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

const maxDeadline = 366 * 24 * time.Hour

// question is one open question, and what was announced about it.
type question struct {
	Question

	event     string
	warnAt    time.Time // zero: never, or already done
	warned    time.Time // when warnAt came
	full      string    // the whole announcement, even if only the extra time was announced; "" in a language that says it all the same
	cue       Announcement
	extra     string // the announcement of its extra time; "" for a new question
	announced bool   // it was announced, not only stored
	waits     bool   // behind another one: it was announced in short only
}

// confirmation announces a question for consent.
func (a *Announcer) confirmation(s *session, e aaep.Event, p aaep.AwaitingConfirmation) []saying {
	q := a.newQuestion(e)
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	var facts []string
	if q.Bytes >= 0 && !strings.Contains(p.Action, legible.Size(q.Bytes)) {
		facts = append(facts, legible.Size(q.Bytes))
	}
	detailed := a.preferences.Verbosity == aaep.VerbosityDetailed
	if q.Irreversible() && !q.AgentTool {
		facts = append(facts, "cannot be undone")
	}
	body := withFacts(sentence(legible.Shorten(first(legible.Line(p.Action), "The agent asks for your consent."), maxAction), english), facts)
	if a.preferences.Verbosity != aaep.VerbosityTerse {
		body = join(body, sentence(q.Earlier, english))
	}
	switch {
	case detailed:
		body = join(body, sentence(p.Consequence, english))
	case q.AgentTool: // its consequence says this, and more
		body = join(body, notUndone)
	}
	body = join(body, unread(q.Question), q.Presence())
	if a.preferences.Verbosity != aaep.VerbosityTerse {
		body = join(body, requested(ours))
	}
	text := a.cueText(s, q, q.Earlier != "", body, e.Time)
	return a.addQuestion(q, e, a.framed(e, text, p.SummaryTerse, first(p.SummaryTerse, p.SummaryNormal), p.SummaryDetailed))
}

// clarification announces a question that does not ask for consent.
func (a *Announcer) clarification(s *session, e aaep.Event, p aaep.AwaitingClarification) []saying {
	q := a.newQuestion(e)
	body := sentence(legible.Shorten(first(legible.Line(p.Question), "The agent asks for an answer."), maxAction), english)
	if a.preferences.Verbosity == aaep.VerbosityDetailed {
		if !strings.Contains(p.Question, p.Context) {
			body = join(body, sentence(p.Context, english))
		}
		for i, c := range p.Choices {
			body = join(body, strconv.Itoa(i+1)+": "+sentence(c.Label, english))
		}
	}
	if a.preferences.Verbosity != aaep.VerbosityTerse {
		body = join(body, requested(aaep.Read(e.Extensions[aaep.PrefixEarshot])))
	}
	body = join(body, q.Presence())
	text := a.cueText(s, q, false, body, e.Time)
	return a.addQuestion(q, e, a.framed(e, text, p.SummaryTerse, first(p.SummaryTerse, p.SummaryNormal), p.SummaryDetailed))
}

// unread says how many values of the question are not in the event, "" if all are.
func unread(q Question) string {
	switch n := q.Arguments.Unread(); n {
	case 0:
		return ""
	case 1:
		return "1 value is not given in full. Read it before you accept."
	default:
		return legible.Counted(n, "value") + " are not given in full. Read them before you accept."
	}
}

// requested returns the person's request in the session.
func requested(ours aaep.Document) string {
	request, _ := ours.Text("request")
	request = strings.TrimSuffix(strings.TrimSpace(request), ".") // it stands inside a sentence
	if request = shown(request, maxRequest); request == "" {
		return ""
	}
	return "This is for the request “" + request + "”."
}

// newQuestion reads the question from an event.
func (a *Announcer) newQuestion(e aaep.Event) *question {
	asked, _ := ReadQuestion(e)
	q := &question{Question: asked, event: e.ID, warnAt: WarnAt(e.Time, asked.Deadline)}
	if !a.replay && !q.warnAt.After(a.now) { // announcing it now is the warning
		q.warnAt = time.Time{}
	}
	return q
}

// number returns the number of the question that an event is about, or 0.
func number(ours aaep.Document) int {
	const most = 1_000_000_000
	if n, ok := ours.Whole("question"); ok && n > 0 && n < most {
		return int(n)
	}
	return 0
}

// cueText returns the sentence that announces a question, or its extra time.
func (a *Announcer) cueText(s *session, q *question, again bool, body string, at time.Time) string {
	label, until := q.Label(), q.Until(at, a.preferences.Zone)
	old := a.find(q)
	more := label + " has more time. " + until
	switch {
	case q.Waiting:
		more = label + " waits: nobody who can answer it has been shown it."
	case old != nil && old.Waiting:
		more = "The time to answer " + strings.ToLower(label[:1]) + label[1:] + " starts now. " + until
	}
	if title := first(s.name, a.title(s)); title != "" {
		label += ", " + title
	}
	if again {
		label += ", asked again"
	}
	q.full = label + ": " + join(body, until)
	if old != nil && q.Number > 0 && old.Text == q.Text && old.Consent == q.Consent {
		q.extra = more
		return more
	}
	return q.full
}

func questionLabel(number int) string {
	if number == 0 {
		return "A question"
	}
	return "Question " + strconv.Itoa(number)
}

// withFacts adds short facts to the question, inside its sentence if it is a single one.
func withFacts(body string, facts []string) string {
	if len(facts) == 0 {
		return body
	}
	plain, dot := strings.CutSuffix(body, ".")
	if dot && !strings.Contains(plain, ". ") && !ended(plain) {
		return plain + ", " + strings.Join(facts, ", ") + "."
	}
	known := strings.Join(facts, ", ")
	return body + " " + strings.ToUpper(known[:1]) + known[1:] + "."
}

// join puts sentences behind each other.
func join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// addQuestion stores an open question and returns its announcement.
func (a *Announcer) addQuestion(q *question, e aaep.Event, w saying) []saying {
	a.drop(a.find(q))
	if len(a.open) >= MaxQuestions {
		a.open = slices.Delete(a.open, 0, 1)
	}
	a.open = append(a.open, q)
	w.kind, w.priority, w.question, w.offer, w.unnamed = KindQuestion, Assertive, q.Number, OfferAnswer, isEnglish(primary(e))
	if w.text == "" {
		w.text, w.language = a.own(q.Label() + " waits for your answer.")
	}
	if said := a.in(w.language, q.extra); said != "" && !isEnglish(w.language) {
		q.full, q.extra, w.text = w.text, said, said
	}
	return one(w)
}

// find returns the open question that another one replaces.
func (a *Announcer) find(q *question) *question {
	return a.openQuestion(q.Session, q.Number, q.Token)
}

func (a *Announcer) openQuestion(session string, number int, token string) *question {
	for _, q := range a.open {
		if q.Session == session && (number > 0 && q.Number == number || number == 0 && token != "" && q.Token == token) {
			return q
		}
	}
	return nil
}

func (a *Announcer) drop(q *question) {
	a.open = slices.DeleteFunc(a.open, func(other *question) bool { return other == q })
}

// closeSession removes the open questions of a session that ended (SEQ-38).
func (a *Announcer) closeSession(session string) {
	a.open = slices.DeleteFunc(a.open, func(q *question) bool {
		if q.Session == session {
			maps.DeleteFunc(a.answered, func(key replyKey, _ *ownReply) bool { return key.question == q.Number })
		}
		return q.Session == session
	})
}

// cue stores the announcement of the newest question, in full even if only its new end was announced.
func (a *Announcer) cue(n Announcement) {
	q := a.open[len(a.open)-1]
	q.cue, q.announced = n, !a.replay
	if q.full != "" && (isEnglish(n.Language) || n.Text == q.extra) {
		q.cue.Text = q.full
	}
}

// Wake returns when [Announcer.Tick] next has something to announce; zero means not before another event. A time in the
// past means that it is due at once.
func (a *Announcer) Wake() time.Time {
	var due time.Time
	sooner := func(at time.Time) {
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	if a.behind() {
		sooner(a.since.Add(replayTime))
	}
	sooner(a.floodDue())
	for _, q := range a.open {
		sooner(q.warnAt)
	}
	return due
}

// Tick returns announcements that are due by time alone: the summary of replays, the summary of what was too much to
// speak, and one warning for each deadline of an open question.
func (a *Announcer) Tick(now time.Time) []Announcement {
	a.now = now
	var out []Announcement
	if a.behind() && !now.Before(a.since.Add(replayTime)) {
		out = a.CatchUp()
	}
	if due := a.floodDue(); !due.IsZero() && !now.Before(due) {
		out = append(out, a.flushed(now)...)
	}
	due := slices.DeleteFunc(slices.Clone(a.open), func(q *question) bool { return q.warnAt.IsZero() || q.warnAt.After(now) })
	slices.SortStableFunc(due, func(x, y *question) int { return cmp.Compare(x.Deadline.UnixNano(), y.Deadline.UnixNano()) })
	for _, q := range due {
		q.warnAt, q.warned = time.Time{}, now
		if !q.Deadline.After(now) {
			continue // its own event announces how it ended
		}
		what := "question " + strconv.Itoa(q.Number)
		if q.Number == 0 {
			what = "a question"
		}
		text, language := a.own(join(timeText(q.Deadline.Sub(now))+" left to answer "+what+".", q.Silence(), a.hint(OfferMoreTime, q.Number)))
		n := Announcement{
			ID: q.cue.ID + ".warning", Session: q.Session, Event: q.event, Seq: q.cue.Seq, Language: language, Text: text,
			Priority: Assertive, Kind: KindWarning, Offer: OfferMoreTime, Question: q.Number, At: now,
		}
		a.record(n, "")
		out = append(out, n)
	}
	return a.remember(out)
}
