package announce

import (
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// surfaces says where an answer was given.
var surfaces = map[string]string{
	"terminal": "in the terminal", "page": "on the page", "web": "on the page", "cli": "on the command line",
	"command": "on the command line", "api": "through the API", "http": "through the API",
}

// fates says what follows the answer about an unknown fate.
var fates = map[string]string{
	"leave":     "It is left as it is; whether it was done stays unknown.",
	"ask again": "You will be asked for it anew.",
	"insist":    "The first attempt may still be at work, so it is asked once more.",
}

// resolution tells how a question ended, and by whom.
func (a *Announcer) resolution(e aaep.Event, p aaep.StateChanged, how aaep.Resolution) []saying {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	text := func(name string) string {
		value, _ := ours.Text(name)
		return value
	}
	n := number(ours)
	if how == aaep.ResolutionExtended {
		return nil // it is put again at once
	}
	q := a.openQuestion(e.SessionID, n, text("reply_token"))
	a.drop(q)
	by := text("by")
	mine := by != "" && by == a.wish.Person
	said := outcome{
		how: how, number: n, mine: mine, who: who(by, text("surface")), reason: text("reason"), code: e.Extension(aaep.PrefixUTP, "code"),
		consent: q == nil || q.consent, summary: first(p.SummaryNormal, p.SummaryTerse),
	}
	if at, err := time.Parse(time.RFC3339, text("starts_at")); err == nil && !a.replay { // later it has begun or been undone
		said.starts = starts(at.Sub(e.Time))
	}
	offers := said.starts != ""
	w := a.framed(e, said.text(), p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if said.starts != "" && isEnglish(w.language) {
		said.starts = "" // whoever hears it again can no longer take it back
		w.kept = legible.Shorten(said.text(), MaxText)
	}
	w.kind, w.question, w.unnamed = KindResolution, n, isEnglish(primary(e))
	w.own = mine
	switch {
	case !mine:
		w.priority = Assertive
	case a.wish.Echo == EchoNone:
		w.priority = Silent
	case offers: // for some seconds only
		w.priority = Assertive
	default:
		w.priority = Polite
	}
	return one(w)
}

// who says who did something and where.
func who(by, surface string) string {
	if by == "" {
		return ""
	}
	text := " by " + nameText(by)
	switch place, known := surfaces[strings.ToLower(surface)]; {
	case known:
		text += " " + place
	case surface != "":
		text += " at " + nameText(surface)
	}
	return text
}

func starts(in time.Duration) string {
	if in <= 0 {
		return "It starts now."
	}
	return "Starts in " + timeText(in) + "; undo takes it back."
}

// outcome is the end of a question, about to be told.
type outcome struct {
	how                                aaep.Resolution
	number                             int
	mine, consent                      bool
	who, reason, code, starts, summary string
}

func (o outcome) text() string {
	label := questionLabel(o.number)
	about := strings.ToLower(label[:1]) + label[1:]
	if o.mine {
		switch o.how {
		case aaep.ResolutionAccepted:
			return join("Recorded: yes to "+about+".", o.starts)
		case aaep.ResolutionRejected:
			return "Recorded: no to " + about + ". It is not done."
		case aaep.ResolutionAnswered:
			return join("Recorded: the answer to "+about+".", fates[o.reason])
		case aaep.ResolutionExpired, aaep.ResolutionWithdrawn, aaep.ResolutionExtended, aaep.ResolutionStopped:
			o.who = ""
		default:
		}
	}
	switch o.how {
	case aaep.ResolutionAccepted:
		return join(label+" was accepted"+o.who+".", o.starts)
	case aaep.ResolutionRejected:
		return label + " was rejected" + o.who + ". It is not done."
	case aaep.ResolutionAnswered:
		return join(label+" was answered"+o.who+".", fates[o.reason])
	case aaep.ResolutionStopped:
		if o.code == string(aaep.ResolutionStopped) { // refused before it began
			return label + " was stopped" + o.who + ". Nothing of it was done."
		}
		return first(sentence(o.summary, english), label+" was stopped"+o.who+".")
	case aaep.ResolutionExpired:
		if o.consent {
			return "Nobody answered " + about + " in time, so it is not done."
		}
		return first(sentence(o.summary, english), "Nobody answered "+about+" in time.")
	case aaep.ResolutionWithdrawn, aaep.ResolutionExtended:
		return first(sentence(o.summary, english), label+" is no longer asked.")
	default:
		return first(sentence(o.summary, english), label+" has ended.")
	}
}
