package announce

import (
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Announcer decides what one listener hears. Create it with [New].
type Announcer struct {
	preferences Preferences
	since       time.Time
	began       time.Time   // when it received its first event
	now         time.Time   // the time of the current event
	replay      bool        // whether the current event is a replay
	sessions    []*session  // in the order of their first event
	open        []*question // in the order in which they were asked
	seen        recentKeys
	recent      []recent
	history     []Announcement
	last        Announcement
	purse       purse
	flood       flood
	answer      answer
	lag         lag
	answered    map[replyKey]*ownReply // what this listener has answered here
	repeats     int                    // for the ids of repetitions and recaps
	nameless    int                    // for the ids of events without one
}

// recent is a sentence that was announced a short time ago.
type recent struct {
	session, text string
	priority      Priority
	at            time.Time
}

// New creates an announcer without events.
func New(p Preferences) *Announcer {
	if p.Verbosity == "" {
		p.Verbosity = aaep.VerbosityNormal
	}
	return &Announcer{preferences: p, since: p.Since, seen: newRecentKeys(MaxSeen), answered: map[replyKey]*ownReply{}}
}

// Event receives one event and its number within its session (0 if it has none), in the order of the session. It
// returns the announcements that are due now, in order. An event that was already received returns none.
func (a *Announcer) Event(now time.Time, e aaep.Event, seq int64) []Announcement {
	if !a.isNew(e) {
		return nil
	}
	if a.began.IsZero() {
		a.began = now
	}
	a.replay = !e.Time.IsZero() && e.Time.Before(a.since)
	var out []Announcement
	if !a.replay {
		out = a.CatchUp()
	}
	s, announced := a.accept(now, e, seq)
	out = append(out, a.late(now, s, e)...)
	if a.replay {
		a.miss(s, announced)
		return nil
	}
	out = append(out, a.within(now, s, announced)...)
	if e.IsTerminal() { // no later event could follow
		out = append(out, a.flushed(now)...)
	}
	return a.remember(out)
}

// Observe receives an event that the listener has already heard through another announcer; later announcements build on
// it.
func (a *Announcer) Observe(e aaep.Event, seq int64) {
	if a.isNew(e) {
		a.replay = false
		_, announced := a.accept(e.Time, e, seq)
		a.remember(announced)
	}
}

// isNew reports whether an event is received for the first time.
func (a *Announcer) isNew(e aaep.Event) bool {
	return e.ID == "" || a.seen.add(e.SessionID+"\x00"+e.ID)
}

// heardAt is when an event was news: a replay says when it happened, and the clock of its producer may be another.
func (a *Announcer) heardAt(now time.Time, e aaep.Event) time.Time {
	if a.replay {
		return e.Time
	}
	return now
}

// accept records an event, and returns what it would announce.
func (a *Announcer) accept(now time.Time, e aaep.Event, seq int64) (*session, []Announcement) {
	a.now = now
	s := a.session(e)
	s.replayed = s.replayed || a.replay && s.events == 0
	s.events++
	if heard := a.heardAt(now, e); heard.After(s.latest) {
		s.latest = heard
	}
	announced := a.announcements(s, e, seq, a.urgently(e, a.announce(now, s, e)))
	a.countDone(e, announced)
	if e.IsTerminal() {
		s.ended = true
		a.closeSession(s.id)
	}
	if !a.replay {
		announced = append(announced, a.next()...)
	}
	return s, announced
}

// remember stores the latest announcement.
func (a *Announcer) remember(announced []Announcement) []Announcement {
	for _, n := range announced {
		if n.Priority != Silent {
			a.last = n
		}
	}
	return announced
}

// announce returns the sayings for an event.
func (a *Announcer) announce(now time.Time, s *session, e aaep.Event) []saying {
	switch p := e.Payload.(type) {
	case aaep.SessionStarted:
		return a.started(s, e, p)
	case aaep.StateChanged:
		return a.state(s, e, p)
	case aaep.ProgressUpdated:
		return a.progress(s, e, p)
	case aaep.ToolInvoked:
		return a.invoked(s, e, p)
	case aaep.ToolCompleted:
		return a.completed(s, e, p)
	case aaep.OutputStreaming:
		return a.output(now, s, e, p)
	case aaep.AwaitingConfirmation:
		return a.confirmation(s, e, p)
	case aaep.AwaitingClarification:
		return a.clarification(s, e, p)
	case aaep.HandoffRequested:
		return a.handoff(e, p)
	case aaep.SessionCompleted, aaep.SessionErrored, aaep.SessionCancelled:
		return a.end(s, e)
	case aaep.Other:
		return a.other(e, p)
	default:
		return nil
	}
}

// urgently makes the sayings of a critical event interrupt, and adds one if there is none, so that nothing critical
// goes unheard.
func (a *Announcer) urgently(e aaep.Event, sayings []saying) []saying {
	if urgency(e) != aaep.UrgencyCritical {
		return sayings
	}
	if len(sayings) == 0 {
		text, language := a.own("Something needs your attention, but does not say what.")
		sayings = []saying{{text: text, language: language, kind: KindOther}}
	}
	for i := range sayings {
		if !sayings[i].ofOwnReply {
			sayings[i].priority = Assertive
		}
	}
	return sayings
}

func urgency(e aaep.Event) aaep.Urgency {
	if e.Urgency == "" {
		return aaep.DefaultUrgency(e.Type())
	}
	return e.Urgency
}

// announcements turns sayings into announcements and records them. It leaves out what the session announced a moment
// ago, unless it has become urgent since.
func (a *Announcer) announcements(s *session, e aaep.Event, seq int64, list []saying) []Announcement {
	var out []Announcement
	base := a.base(e)
	for _, w := range list {
		if w.recapText != "" {
			w.recapText = a.named(s, saying{text: w.recapText, unnamed: w.unnamed})
		}
		w.text = a.named(s, w)
		n := Announcement{
			ID: base + strconv.Itoa(len(out)+1), Session: e.SessionID, Event: e.ID, Seq: seq, Text: w.text, Language: w.language,
			Priority: w.priority, Kind: w.kind, Label: first(w.label, labels[w.kind]), Offer: w.offer, Question: w.question, At: e.Time,
		}
		switch w.kind {
		case KindQuestion:
			a.cue(n)
			n = a.hold(n)
		case KindTool, KindState:
			s.doing = a.unnamed(s, n.Text)
		case KindStarted, KindProgress, KindWarning, KindResolution, KindOutput, KindHandoff, KindEnd, KindOther, KindRecap:
		}
		if n.Waits { // it is recorded when it is announced in full
			out = append(out, n)
			continue
		}
		if a.isRepeat(s.id, w, e.Time) {
			continue
		}
		out = append(out, n)
		a.record(n, w.recapText)
	}
	return out
}

// base returns the prefix of the ids of an event's announcements.
func (a *Announcer) base(e aaep.Event) string {
	if e.ID == "" {
		a.nameless++
		return e.SessionID + "._" + strconv.Itoa(a.nameless) + "."
	}
	return e.SessionID + "." + e.ID + "."
}

// record stores an announcement for a repetition, and with its later text for a recap.
func (a *Announcer) record(n Announcement, later string) {
	retold := n
	if later != "" {
		retold.Text = later
	}
	a.history = append(a.history, retold)
	if len(a.history) > MaxHistory {
		a.history = append(a.history[:0], a.history[len(a.history)-MaxHistory:]...)
	}
}

// isRepeat reports whether the same was announced a moment ago. The end of a question is always announced: a question
// may be asked and answered again within a few seconds.
func (a *Announcer) isRepeat(session string, w saying, at time.Time) bool {
	if w.kind == KindResolution {
		return false
	}
	for _, r := range a.recent {
		if r.session == session && r.text == w.text && at.Sub(r.at).Abs() < recentTime && (r.priority == Assertive || w.priority != Assertive) {
			return true
		}
	}
	a.recent = append(a.recent, recent{session, w.text, w.priority, at})
	if len(a.recent) > recentMost {
		a.recent = append(a.recent[:0], a.recent[1:]...)
	}
	return false
}

// recentKeys stores the keys that were added last.
type recentKeys struct {
	keys []string
	next int
	has  map[string]struct{}
}

func newRecentKeys(most int) recentKeys {
	return recentKeys{keys: make([]string, 0, most), has: map[string]struct{}{}}
}

// add reports whether the key is new.
func (r *recentKeys) add(key string) bool {
	if _, old := r.has[key]; old {
		return false
	}
	r.has[key] = struct{}{}
	if len(r.keys) < cap(r.keys) {
		r.keys = append(r.keys, key)
		return true
	}
	delete(r.has, r.keys[r.next])
	r.keys[r.next] = key
	r.next = (r.next + 1) % len(r.keys)
	return true
}
