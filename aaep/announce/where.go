package announce

import (
	"strings"
	"time"
)

// unchangedTime is after how long without news a listener is told so: until then no news is usual.
const unchangedTime = 2 * time.Minute

// Where describes the current state: what each active session does, and the open questions, oldest first. Each
// announcement has a new id; none interrupts.
func (a *Announcer) Where(now time.Time) []Announcement {
	var out []Announcement
	add := func(session, text string) {
		out = append(out, a.again(Announcement{ID: session, Session: session, Text: text, Language: english, Kind: KindRecap, At: now}, "where"))
	}
	for _, s := range a.sessions {
		if !s.ended {
			add(s.id, a.whereText(s, now))
		}
	}
	if len(out) == 0 {
		add("", "Nothing is under way.")
	}
	for _, q := range a.open {
		if !q.waits {
			add(q.Session, q.Line(now, a.preferences.Zone))
		}
	}
	for _, n := range a.Waiting(now) {
		add(n.Session, n.Text)
	}
	return out
}

// whereText describes what one session does.
func (a *Announcer) whereText(s *session, now time.Time) string {
	text := first(a.title(s), s.name, s.agent) + ", working since " + sinceText(s.began, now, a.preferences.Zone)
	waits := ""
	for _, q := range a.open {
		if q.Session == s.id {
			waits = "It waits for an answer to " + strings.ToLower(q.Label()[:1]) + q.Label()[1:] + "."
		}
	}
	switch {
	case waits != "":
		return text + ". " + waits
	case s.doing == "":
		text += "."
	case s.progress.text != "":
		text += ". " + join(s.doing, s.progress.text)
	default:
		text += ". " + s.doing
	}
	if now.Sub(s.latest) < unchangedTime {
		return text
	}
	return text + " Nothing new since " + sinceText(s.latest, now, a.preferences.Zone) + "."
}
