package announce

import (
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Announcer says what one listener hears. Make it with [New].
type Announcer struct {
	preferences Preferences
	since       time.Time
	began       time.Time   // when it took its first event
	now         time.Time   // of what is being taken
	replay      bool        // it is a replay
	sessions    []*session  // in the order of their first event
	open        []*question // in the order they were put
	seen        recentKeys
	recent      []recent
	history     []Announcement
	last        Announcement
	purse       purse
	flood       flood
	answer      answer
	answered    map[replyKey]*ownReply // what this listener has answered here
	repeats     int                    // makes the ids of repetitions and recaps
	nameless    int                    // makes the ids of events that have none
}

// recent is one sentence that was said a moment ago.
type recent struct {
	session, text string
	priority      Priority
	at            time.Time
}

// New makes an announcer that has heard nothing.
func New(p Preferences) *Announcer {
	if p.Verbosity == "" {
		p.Verbosity = aaep.VerbosityNormal
	}
	return &Announcer{preferences: p, since: p.Since, seen: newRecentKeys(MaxSeen), answered: map[replyKey]*ownReply{}}
}

// Event takes one event and its number within its session (0 where it has none), in
// the order of the session, and returns what is to be said now, in order. An event that
// was taken before says nothing.
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
	if a.replay {
		a.miss(s, announced)
		return nil
	}
	out = append(out, a.within(now, s, announced)...)
	if e.IsTerminal() { // nothing may come that it could wait for
		out = append(out, a.flushed(now)...)
	}
	return a.remember(out)
}

// Observe takes an event that the listener has heard already, from another announcer: what comes later
// builds on it.
func (a *Announcer) Observe(e aaep.Event, seq int64) {
	if a.isNew(e) {
		a.replay = false
		_, announced := a.accept(e.Time, e, seq)
		a.remember(announced)
	}
}

// isNew reports whether an event was not taken before.
func (a *Announcer) isNew(e aaep.Event) bool {
	return e.ID == "" || a.seen.add(e.SessionID+"\x00"+e.ID)
}

// accept takes an event in, and finds what it would say.
func (a *Announcer) accept(now time.Time, e aaep.Event, seq int64) (*session, []Announcement) {
	a.now = now
	s := a.session(e)
	s.replayed = s.replayed || a.replay && s.events == 0
	s.events++
	announced := a.announcements(s, e, seq, a.urgently(e, a.announce(now, s, e)))
	a.countDone(e, announced)
	if e.IsTerminal() {
		s.ended = true
		a.closeSession(s.id)
	}
	return s, announced
}

// remember remembers the last thing that was said.
func (a *Announcer) remember(announced []Announcement) []Announcement {
	for _, n := range announced {
		if n.Priority != Silent {
			a.last = n
		}
	}
	return announced
}

// announce finds the words for an event.
func (a *Announcer) announce(now time.Time, s *session, e aaep.Event) []saying {
	switch p := e.Payload.(type) {
	case aaep.SessionStarted:
		return a.started(s, e, p)
	case aaep.StateChanged:
		return a.state(e, p)
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

// urgently makes what a critical event says interrupt, and gives words to one that has
// none: nothing critical goes by unheard.
func (a *Announcer) urgently(e aaep.Event, sayings []saying) []saying {
	if urgency(e) != aaep.UrgencyCritical {
		return sayings
	}
	if len(sayings) == 0 {
		sayings = []saying{{text: "Something needs your attention, and says nothing of itself.", language: english, kind: KindOther}}
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

// announcements gives sayings their place and remembers them. What the session said a moment ago
// is left out, unless it has become urgent since.
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
		case KindTool, KindState:
			s.doing = a.unnamed(s, n.Text)
		case KindStarted, KindProgress, KindWarning, KindResolution, KindOutput, KindHandoff, KindEnd, KindOther, KindRecap:
		}
		if a.isRepeat(s.id, w, e.Time) {
			continue
		}
		out = append(out, n)
		a.record(n, w.recapText)
	}
	return out
}

// base begins the ids of what an event says.
func (a *Announcer) base(e aaep.Event) string {
	if e.ID == "" {
		a.nameless++
		return e.SessionID + "._" + strconv.Itoa(a.nameless) + "."
	}
	return e.SessionID + "." + e.ID + "."
}

// record remembers what was said: once more as it was, and for a recap in the words that hold then.
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

// isRepeat reports whether the same was said a moment ago. How a question ended is said each time: it
// may be asked again, and answered again, within a few seconds.
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

// recentKeys remembers the last keys that were added.
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
