package announce

import (
	"slices"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// missed is what a session said in replays.
type missed struct {
	events        int
	announcements int            // without questions and alarms
	last          Announcement   // the last of these
	plain         string         // its text without the name of the session
	alarms        []Announcement // urgent things, the newest
	more          int            // older ones
	end           bool
}

// Resume says that the stream begins again: what comes with an earlier time is a replay,
// and is summed up. What was taken before says nothing, as always.
func (a *Announcer) Resume(at time.Time) { a.since = at }

// behind reports whether replays wait to be summed up.
func (a *Announcer) behind() bool {
	return slices.ContainsFunc(a.sessions, func(s *session) bool { return s.missed.events > 0 })
}

// miss takes note of what a replay would have said.
func (a *Announcer) miss(s *session, announced []Announcement) {
	m := &s.missed
	m.events++
	for _, n := range announced {
		switch n.Kind {
		case KindQuestion, KindWarning, KindOutput, KindProgress:
			continue // an open question is put in full; the others have gone by
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

// CatchUp sums replays up: a sentence for each session, what was urgent, and every
// question that is still open. Call it when the replay is known to be complete; else the
// first newer event, or a [Announcer.Tick] that is due, does.
func (a *Announcer) CatchUp() []Announcement {
	if !a.behind() {
		return nil
	}
	var out []Announcement
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
				q.announced = true
				out = append(out, q.cue)
			}
		}
	}
	for _, s := range a.sessions {
		s.missed = missed{}
	}
	return a.remember(out)
}

// summary is the sentence about what a session said in replays.
func (a *Announcer) summary(s *session, m missed) (Announcement, bool) {
	if m.announcements == 0 && !s.replayed {
		return Announcement{}, false
	}
	n := m.last
	n.ID += ".summary"
	if m.announcements == 0 { // joined behind its start
		n = Announcement{ID: s.id + ".summary", Session: s.id, At: a.since, Priority: Polite, Language: english}
	}
	n.Kind, n.Label = KindRecap, labelMeanwhile
	if isEnglish(n.Language) {
		n.Text, n.Language = a.summaryText(s, m), english
	}
	s.replayed = false
	if m.more > 0 {
		n.Text = join(n.Text, legible.Counted(int64(m.more), "earlier warning")+" not repeated.")
	}
	if !m.end {
		n.Priority = Polite
	}
	return n, true
}

func (a *Announcer) summaryText(s *session, m missed) string {
	title := a.title(s)
	switch {
	case m.end && title != "":
		return "Meanwhile, " + title + ": " + m.plain
	case m.end, m.announcements == 1 && !s.replayed && title == "":
		return "Meanwhile: " + m.plain
	case m.announcements == 1 && !s.replayed:
		return "Meanwhile, " + title + ": " + m.plain
	}
	text := first(title, s.name, s.agent) + " has been at work since " + sinceText(s.began, a.since, a.preferences.Zone)
	if s.replayed && s.request != "" {
		text += " on this request: “" + s.request + "”"
	}
	if m.announcements == 0 || m.last.Kind == KindStarted {
		return text + "."
	}
	return text + ". The last thing said: " + m.plain
}

// Repeat is the last thing said, once more and with an id of its own. It is false while
// nothing has been said.
func (a *Announcer) Repeat() (Announcement, bool) {
	if a.last.Text == "" {
		return Announcement{}, false
	}
	return a.again(a.last, "again"), true
}

// Recap is the last n things that were said or, in replays, would have been, oldest
// first, and behind them the questions that are open and not among them. Each has an id
// of its own; none interrupts. For n below 1 it is only the open questions.
func (a *Announcer) Recap(n int) []Announcement {
	n = min(max(n, 0), len(a.history))
	chosen := slices.Clone(a.history[len(a.history)-n:])
	for _, q := range a.open {
		if !slices.ContainsFunc(chosen, func(c Announcement) bool { return c.ID == q.cue.ID }) {
			chosen = append(chosen, q.cue)
		}
	}
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
