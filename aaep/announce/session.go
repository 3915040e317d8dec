package announce

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// session is what is kept about one session.
type session struct {
	id, agent string
	name      string // what people call it, where its producer says so
	ordinal   int    // among the live sessions of the same agent, from 1
	events    int
	replayed  bool // its first event was a replay
	began     time.Time
	latest    time.Time // when its newest event was heard
	request   string
	ended     bool
	progress  reportedProgress
	doing     string // the last that was said of its work
	outputs   []*output
	missed    missed
	agreed    []int // the questions that were accepted last
	tookBack  bool  // the listener has taken one of these back here
}

// agree notes that a question was accepted.
func (s *session) agree(question int) {
	s.agreed = append(s.agreed, question)
	if len(s.agreed) > maxAgreed {
		s.agreed = slices.Delete(s.agreed, 0, 1)
	}
}

// undo reports whether a question had been accepted, and is not any more.
func (s *session) undo(question int) bool {
	i := slices.Index(s.agreed, question)
	if i >= 0 {
		s.agreed = slices.Delete(s.agreed, i, i+1)
	}
	return i >= 0
}

// session finds what is known of the session of an event, or begins it.
func (a *Announcer) session(e aaep.Event) *session {
	i := slices.IndexFunc(a.sessions, func(s *session) bool { return s.id == e.SessionID })
	if i >= 0 {
		s := a.sessions[i]
		s.name = first(s.name, nameOf(e))
		return s
	}
	if len(a.sessions) >= MaxSessions {
		a.forget()
	}
	s := &session{name: nameOf(e), id: e.SessionID, agent: agentName(e.Producer), began: e.Time, ordinal: 1}
	for _, other := range a.sessions {
		if other.agent == s.agent && (!other.ended || other.missed.events > 0) {
			s.ordinal = max(s.ordinal, other.ordinal+1)
		}
	}
	a.sessions = append(a.sessions, s)
	return s
}

// forget drops the oldest session that has ended, else the oldest.
func (a *Announcer) forget() {
	i := max(0, slices.IndexFunc(a.sessions, func(s *session) bool { return s.ended }))
	a.closeSession(a.sessions[i].id)
	a.sessions = slices.Delete(a.sessions, i, i+1)
}

// nameOf is what an event says that its session is called, "" where it does not.
func nameOf(e aaep.Event) string {
	name, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Text("session_name")
	return shown(name, maxTitle)
}

func agentName(p aaep.Producer) string {
	return nameText(first(p.AgentName, p.AgentID, "agent"))
}

// title is how a session is called while more than one is live, or about to be summed
// up, and "" otherwise: by its own name, which is the same everywhere, or else by its agent's. Agents of
// one name are numbered then.
func (a *Announcer) title(s *session) string {
	others, namesakes := 0, 0
	for _, other := range a.sessions {
		if other == s || other.ended && other.missed.events == 0 {
			continue
		}
		others++
		if other.agent == s.agent {
			namesakes++
		}
	}
	switch {
	case others == 0:
		return ""
	case s.name != "":
		return s.name
	case namesakes > 0 || s.ordinal > 1:
		return s.agent + " " + strconv.Itoa(s.ordinal)
	}
	return s.agent
}

// named puts the title of the session before a text that does not begin with it.
func (a *Announcer) named(s *session, w saying) string {
	title := a.title(s)
	if title == "" || w.unnamed || strings.HasPrefix(w.text, title+" ") {
		return w.text
	}
	return title + ": " + w.text
}

// known finds a session by its id.
func (a *Announcer) known(id string) *session {
	if i := slices.IndexFunc(a.sessions, func(s *session) bool { return s.id == id }); i >= 0 {
		return a.sessions[i]
	}
	return &session{id: id, ended: true}
}

// unnamed is a text without the title of its session.
func (a *Announcer) unnamed(s *session, text string) string {
	return strings.TrimPrefix(text, a.title(s)+": ")
}

func (a *Announcer) started(s *session, e aaep.Event, p aaep.SessionStarted) []saying {
	s.began, s.request = e.Time, shown(p.RequestText, maxRequest)
	w := a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if title := a.title(s); title != "" && title != s.agent {
		text, request := title+" has started.", ""
		if s.request != "" && a.preferences.Verbosity != aaep.VerbosityTerse {
			text, request = title+" has started on this request:", "“"+s.request+"”."
		}
		if said := a.in(w.language, text); said != "" {
			w.text = join(said, request)
		}
	}
	w.kind = KindStarted
	return one(w)
}
