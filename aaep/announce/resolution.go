package announce

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// surfaces says where an answer was given.
var surfaces = map[string]string{
	"terminal": "in the terminal", "page": "on the page", "web": "on the page", "cli": "on the command line",
	"command": "on the command line", "api": "through the API", "http": "through the API",
}

// fates says what follows an answer about a call with an unknown outcome.
var fates = map[string]string{
	"leave":     "It is left as it is; whether it was done is not known.",
	"ask again": "You will be asked for it again.",
	"insist":    "The first attempt may still be running, so it is asked once more.",
}

// resolution announces how a question ended, and who answered it.
func (a *Announcer) resolution(s *session, e aaep.Event, p aaep.StateChanged, how aaep.Resolution) []saying {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	text := func(name string) string {
		value, _ := ours.Text(name)
		return value
	}
	n := number(ours)
	if how == aaep.ResolutionExtended {
		return nil // it is asked again at once
	}
	q := a.openQuestion(e.SessionID, n, text("reply_token"))
	a.drop(q)
	by := text("by")
	mine := by != "" && by == a.preferences.Person
	ending := outcome{
		how: how, number: n, mine: mine, here: mine && a.isHere(text("surface")), who: who(by, text("surface")), surface: surfacePhrase(text("surface")),
		undone: how == aaep.ResolutionStopped && s.undo(n),
		reason: text("reason"), code: e.Extension(aaep.PrefixUTP, "code"), consent: q == nil || q.Consent, summary: first(p.SummaryNormal, p.SummaryTerse),
	}
	key := replyKey{n, how}
	if mineHere := a.answered[key]; mineHere != nil {
		mineHere.resolution = one(a.resolved(e, p, ending))
		ending.recorded, ending.mine, ending.here = true, true, true
		if mineHere.counted {
			delete(a.answered, key)
		}
	}
	s.tookBack = s.tookBack || ending.undone && ending.here
	if how == aaep.ResolutionAccepted {
		s.agree(n)
	}
	if at, err := time.Parse(time.RFC3339, text("starts_at")); err == nil && !a.replay && !a.takenBackHere(n) { // later it has begun or been undone
		ending.starts = a.startsText(at, e.Time, n)
	}
	return one(a.resolved(e, p, ending))
}

// resolved returns how a question ended, with the priority for this listener.
func (a *Announcer) resolved(e aaep.Event, p aaep.StateChanged, ending outcome) saying {
	offers := ending.starts != ""
	w, own := a.ours(e, ending.text(), p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if offers {
		w.offer = OfferUndo
	}
	if ending.starts != "" && own {
		ending.starts, ending.recorded = "", false // someone who hears it again can no longer undo it
		w.recapText = legible.Shorten(a.in(w.language, ending.text()), MaxText)
	}
	w.kind, w.question, w.unnamed = KindResolution, ending.number, own || isEnglish(primary(e))
	w.ofOwnReply = ending.mine
	switch {
	case !ending.mine:
		w.priority = Assertive
	case ending.here && a.preferences.Echo == EchoNone, ending.recorded && !offers: // the surface has announced it
		w.priority = Silent
	case offers: // possible for a few seconds only
		w.priority = Assertive
	default:
		w.priority = Polite
	}
	return w
}

// takenBackHere reports whether the listener has been told that their accept of a question is taken back. Its own event may come after.
func (a *Announcer) takenBackHere(question int) bool {
	undo := a.answered[replyKey{question, aaep.ResolutionStopped}]
	return undo != nil && undo.counted
}

// Answered records that the listener has answered a question here, and that the surface itself announces the result.
// When the event arrives that ends the question in that way, only what can still be done about it is announced.
func (a *Announcer) Answered(question int, how aaep.Resolution) {
	if question > 0 {
		a.answered[replyKey{question, how}] = &ownReply{}
	}
}

// Resolved records whether that answer counted. If it did not, it returns what was held back for it: someone else gave
// the same answer first.
func (a *Announcer) Resolved(now time.Time, question int, how aaep.Resolution, counted bool) []Announcement {
	key := replyKey{question, how}
	mine := a.answered[key]
	if mine == nil {
		return nil
	}
	if counted && mine.resolution == nil {
		mine.counted = true
		return nil
	}
	delete(a.answered, key)
	if counted {
		return nil
	}
	var out []Announcement
	for _, w := range mine.resolution {
		out = append(out, a.again(Announcement{
			ID: strconv.Itoa(question), Text: w.text, Language: w.language, Kind: w.kind, Question: question, At: now,
		}, "late"))
	}
	return a.remember(out)
}

// replyKey identifies an answer that the listener gave here.
type replyKey struct {
	question int
	how      aaep.Resolution
}

// ownReply is the state of such an answer.
type ownReply struct {
	counted    bool     // whether it was recorded
	resolution []saying // how the question ended, worded as for someone else's answer
}

// answeredHere reports whether the listener has answered a question here whose end has not been announced.
func (a *Announcer) answeredHere(question int) bool {
	for key := range a.answered {
		if key.question == question {
			return true
		}
	}
	return false
}

// isHere reports whether an answer was given on this surface, as far as that is known.
func (a *Announcer) isHere(surface string) bool {
	if a.preferences.Echo == EchoElsewhere {
		return false
	}
	kind, _, _ := strings.Cut(surface, ":") // "terminal:pts/3" is one of several
	return a.preferences.Surface.Name == "" || surface == "" || strings.EqualFold(kind, a.preferences.Surface.Name)
}

// who says who did something and where.
func who(by, surface string) string {
	if by == "" {
		return ""
	}
	return " by " + nameText(by) + surfacePhrase(surface)
}

// surfacePhrase says where something was done.
func surfacePhrase(surface string) string {
	kind, which, named := strings.Cut(surface, ":")
	switch where, known := surfaces[strings.ToLower(kind)]; {
	case known && named:
		return " " + where + " " + nameText(which)
	case known:
		return " " + where
	case surface != "":
		return " at " + nameText(surface)
	}
	return ""
}

// lateTime is how late an event may arrive and still count as immediate.
const lateTime = 10 * time.Second

// startsText says when the accepted action starts, and how to undo the accept while that is possible; "" if it has
// started. The time to undo begins when the answer is announced. A slightly late event therefore offers the full time,
// unless it is from before this listener joined.
func (a *Announcer) startsText(at, agreed time.Time, question int) string {
	in := at.Sub(agreed)
	if agreed.Before(a.began) || a.now.Sub(agreed) > lateTime {
		in = at.Sub(a.now)
	}
	switch {
	case !at.After(agreed):
		return "It starts now."
	case in <= 0:
		return ""
	default:
		return StartsIn(in, question, a.preferences.Surface.Controls)
	}
}

// StartsIn says when the action of a question starts, and how to undo the accept until then.
func StartsIn(in time.Duration, question int, c Controls) string {
	return join("Starts in "+timeText(in)+".", c.hint(OfferUndo, question, false))
}

// Recorded says that an answer, or another request of a person, has been recorded.
func Recorded(question int, how aaep.Resolution) string {
	about := strings.ToLower(questionLabel(question)[:1]) + questionLabel(question)[1:]
	switch how {
	case aaep.ResolutionAccepted, aaep.ResolutionRejected, aaep.ResolutionAnswered:
		return "Recorded: " + about + " is " + string(how) + "."
	case aaep.ResolutionStopped:
		return "Recorded: the yes to " + about + " is taken back. Nothing was done."
	case aaep.ResolutionExtended:
		return "Recorded: " + about + " has more time."
	case aaep.ResolutionExpired, aaep.ResolutionWithdrawn:
		return "Recorded: " + about + " is " + string(how) + "."
	default:
		return "Recorded: " + about + " is " + shown(string(how), maxName) + "."
	}
}

// Unused says that an accept has no effect, because the agent was no longer waiting for it.
func Unused(question int) string {
	return questionLabel(question) + " is withdrawn: the agent was no longer waiting, so your yes is not used."
}

// outcome is the end of a question, about to be announced.
type outcome struct {
	how                                 aaep.Resolution
	number                              int
	mine, here, consent                 bool
	undone                              bool // it ended an accept that had not begun
	recorded                            bool // the surface has announced that it is recorded
	who, surface, reason, code, summary string
	starts                              string
}

// mineText describes the result of the listener's own answer, "" if it is announced like anyone's.
func (o outcome) mineText(about string) string {
	not := ""
	if o.how == aaep.ResolutionRejected {
		not = "It is not done."
	}
	switch o.how {
	case aaep.ResolutionAccepted, aaep.ResolutionRejected, aaep.ResolutionAnswered:
	case aaep.ResolutionStopped:
		if o.undone && o.here && o.refused() { // said as the surface notes it
			return Recorded(o.number, o.how)
		}
		return ""
	case aaep.ResolutionExpired, aaep.ResolutionWithdrawn, aaep.ResolutionExtended:
		return ""
	default:
		return ""
	}
	switch {
	case o.recorded && o.starts != "":
		return o.starts
	case o.here || o.recorded:
		return join(Recorded(o.number, o.how), not, fates[o.reason], o.starts)
	default:
		return join("You "+string(o.how)+" "+about+o.surface+".", not, fates[o.reason], o.starts)
	}
}

func (o outcome) text() string {
	label := questionLabel(o.number)
	about := strings.ToLower(label[:1]) + label[1:]
	if o.mine {
		if text := o.mineText(about); text != "" {
			return text
		}
		o.who = ""
	}
	switch o.how {
	case aaep.ResolutionAccepted:
		return join(label+" was accepted"+o.who+".", o.starts)
	case aaep.ResolutionRejected:
		return label + " was rejected" + o.who + ". It is not done."
	case aaep.ResolutionAnswered:
		return join(label+" was answered"+o.who+".", fates[o.reason])
	case aaep.ResolutionStopped:
		if o.refused() {
			return label + " was stopped" + o.who + ". Nothing was done."
		}
		return first(sentence(o.summary, english), label+" was stopped"+o.who+".")
	case aaep.ResolutionExpired:
		if o.consent {
			return "Nobody answered " + about + " in time, so it is not done."
		}
		return o.headed("Nobody answered " + about + " in time.")
	case aaep.ResolutionWithdrawn, aaep.ResolutionExtended:
		return o.headed(label + " is no longer asked.")
	default:
		return o.headed(label + " has ended.")
	}
}

// refused reports whether its call was refused before it began.
func (o outcome) refused() bool { return o.code == string(aaep.ResolutionStopped) }

// headed returns the event's own text, after a sentence that names the question if the text does not.
func (o outcome) headed(text string) string {
	summary := sentence(o.summary, english)
	named := "uestion " + strconv.Itoa(o.number)
	if i := strings.Index(summary, named); i >= 0 && (i+len(named) == len(summary) || !unicode.IsDigit(rune(summary[i+len(named)]))) {
		return summary
	}
	return join(text, summary)
}
