package announce

import (
	"slices"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// missed is what a session announced in replays.
type missed struct {
	events        int
	announcements int            // without questions and alarms
	last          Announcement   // the last of these
	plain         string         // its text without the name of the session
	alarms        []Announcement // urgent things, the newest
	more          int            // older ones
	end           bool
}

// Resume marks the start of a resumed stream: events with an earlier time are replays, and are summarised. Events that
// were already received announce nothing, as always.
func (a *Announcer) Resume(at time.Time) { a.since = at }

// behind reports whether there are replays to summarise.
func (a *Announcer) behind() bool {
	return slices.ContainsFunc(a.sessions, func(s *session) bool { return s.missed.events > 0 })
}

// miss records what a replay would have announced.
func (a *Announcer) miss(s *session, announced []Announcement) {
	m := &s.missed
	m.events++
	for _, n := range announced {
		switch n.Kind {
		case KindQuestion, KindWarning, KindOutput, KindProgress:
			continue // an open question is announced in full; the others have ended
		case KindStarted, KindState, KindTool, KindResolution, KindHandoff, KindEnd, KindOther, KindRecap:
		}
		if n.Priority == Assertive && n.Kind != KindResolution && n.Kind != KindEnd {
			m.alarms = append(m.alarms, n)
			if len(m.alarms) > maxAlarms {
				m.alarms, m.more = slices.Delete(m.alarms, 0, 1), m.more+1
			}
			continue
		}
		m.announcements++
		m.last, m.plain, m.end = n, a.unnamed(s, n.Text), n.Kind == KindEnd
	}
}

// CatchUp summarises replays: a sentence for each session, what was urgent, and every question that is still open. Call
// it when the replay is known to be complete; otherwise the first newer event, or a due [Announcer.Tick], does the
// same.
func (a *Announcer) CatchUp() []Announcement {
	if !a.behind() {
		return nil
	}
	var out []Announcement
	var waiting []*question
	for _, s := range a.sessions {
		if s.missed.events == 0 {
			continue
		}
		m := s.missed
		if n, ok := a.summary(s, m); ok {
			out = append(out, n)
		}
		out = append(out, m.alarms...)
		for _, q := range a.open {
			if q.Session == s.id && !q.announced {
				if q.announced, q.waits = true, a.preferences.OneQuestion; q.waits {
					waiting = append(waiting, q)
					continue
				}
				out = append(out, q.cue)
			}
		}
	}
	for _, s := range a.sessions {
		s.missed = missed{}
	}
	return a.remember(append(out, a.caughtUp(waiting)...))
}

// summary returns the sentence about what a session announced in replays.
func (a *Announcer) summary(s *session, m missed) (Announcement, bool) {
	if m.announcements == 0 && !s.replayed {
		return Announcement{}, false
	}
	n := m.last
	n.ID += ".summary"
	if m.announcements == 0 { // joined after its start
		n = Announcement{ID: s.id + ".summary", Session: s.id, At: a.since, Priority: Polite}
		_, n.Language = a.own("Meanwhile:")
	}
	n.Kind, n.Label = KindRecap, labelMeanwhile
	if text := a.summaryText(n.Language, s, m); text != "" {
		n.Text = text
	}
	if isEnglish(n.Language) {
		n.Language = english
	}
	s.replayed = false
	if m.more > 0 {
		more := legible.Counted(int64(m.more), "earlier warning") + " not repeated."
		n.Text = join(n.Text, first(a.in(n.Language, more), more))
	}
	if !m.end {
		n.Priority = Polite
	}
	return n, true
}

// summaryText is that sentence in a language; "" where it cannot be said in that one.
func (a *Announcer) summaryText(language string, s *session, m missed) string {
	title := a.title(s)
	meanwhile := "Meanwhile, " + title + ":"
	if title == "" {
		meanwhile = "Meanwhile:"
	}
	if m.end || m.announcements == 1 && !s.replayed {
		if meanwhile = a.in(language, meanwhile); meanwhile == "" {
			return ""
		}
		return meanwhile + " " + m.plain
	}
	text, request := first(title, s.name, s.agent)+" has been working since "+sinceText(s.began, a.since, a.preferences.Zone), ""
	if s.replayed && s.request != "" {
		text, request = text+" on this request:", " “"+s.request+"”."
	} else {
		text += "."
	}
	text, last := a.in(language, text), a.in(language, "The last thing said:")
	switch {
	case text == "":
		return ""
	case m.announcements == 0 || m.last.Kind == KindStarted || last == "":
		return text + request
	}
	return text + request + " " + last + " " + m.plain
}

// Repeat returns the last announcement again, with a new id. It returns false if there was none.
func (a *Announcer) Repeat() (Announcement, bool) {
	if a.last.Text == "" {
		return Announcement{}, false
	}
	return a.again(a.last, "again"), true
}

// Recap returns the last n announcements, including those that replays would have made, oldest first, followed by the
// other open questions, or by how many wait. Each has a new id; none interrupts. For n below 1 it returns only the open questions.
func (a *Announcer) Recap(n int) []Announcement {
	n = min(max(n, 0), len(a.history))
	chosen := slices.Clone(a.history[len(a.history)-n:])
	for _, q := range a.open {
		if !q.waits && !slices.ContainsFunc(chosen, func(c Announcement) bool { return c.ID == q.cue.ID }) {
			chosen = append(chosen, q.cue)
		}
	}
	chosen = append(chosen, a.Waiting(a.now)...)
	for i, c := range chosen {
		chosen[i] = a.again(c, "recap")
		chosen[i].Kind = KindRecap
	}
	return chosen
}

func (a *Announcer) again(n Announcement, why string) Announcement {
	a.repeats++
	n.ID += "." + why + strconv.Itoa(a.repeats)
	n.Priority = Polite
	return n
}
