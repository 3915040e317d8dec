package hub

import (
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// audience indexes which streams follow which sessions, so that an event wakes only these. It has a lock of its own: while an
// event is told to many, streams that it has woken already read what the feed retains.
type audience struct {
	mu         sync.Mutex
	everything []*mailbox            // those that may follow all sessions, and do
	owners     map[string][]*mailbox // by the owners whose sessions they may follow
	sessions   map[string][]*mailbox // by the sessions that their terms name, which not all of them may follow
	joined     map[*mailbox]struct{}
}

// interest is what a stream may receive and has asked for.
type interest struct {
	who   access.Principal
	terms *pacing.Terms // nobody changes them
	names []string      // the sessions that the terms name; nil means all
}

// wants reports whether the stream has asked for an event; nil stands for several, or one that is not known.
func (i *interest) wants(c *content) bool {
	return c == nil || c.unreadable != nil || i.terms.Wants(c.event)
}

// join registers what a stream is interested in, and replaces its former interest.
func (a *audience) join(m *mailbox, i interest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(m)
	if a.joined == nil {
		a.joined, a.owners, a.sessions = map[*mailbox]struct{}{}, map[string][]*mailbox{}, map[string][]*mailbox{}
	}
	a.joined[m], m.interest = struct{}{}, &i
	switch {
	case len(i.names) > 0:
		for _, session := range i.names {
			a.sessions[session] = append(a.sessions[session], m)
		}
	case i.who.HearsAll():
		a.everything = append(a.everything, m)
	default:
		for _, owner := range concerns(i.who, nil) {
			if i.who.Hears(owner) {
				a.owners[owner] = append(a.owners[owner], m)
			}
		}
	}
}

func (a *audience) leave(m *mailbox) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(m)
}

// drop takes a stream out. The caller holds mu.
func (a *audience) drop(m *mailbox) {
	i := m.interest
	if i == nil {
		return
	}
	delete(a.joined, m)
	m.interest = nil
	switch {
	case len(i.names) > 0:
		for _, session := range i.names {
			remove(a.sessions, session, m)
		}
	case i.who.HearsAll():
		a.everything = without(a.everything, m)
	default:
		for _, owner := range concerns(i.who, nil) {
			remove(a.owners, owner, m)
		}
	}
}

func remove(from map[string][]*mailbox, key string, m *mailbox) {
	if from[key] = without(from[key], m); len(from[key]) == 0 {
		delete(from, key)
	}
}

// without takes one out. The order means nothing.
func without(all []*mailbox, m *mailbox) []*mailbox {
	i := slices.Index(all, m)
	if i < 0 {
		return all
	}
	last := len(all) - 1
	all[i], all[last] = all[last], nil
	return all[:last]
}

// progress is a change of a session, and the event behind it: nil if there are several or it is not known. Then all who follow
// it have to look.
type progress struct {
	view

	event *content
}

// tell reports progress to the streams that follow the session. Only the goroutine of the feed calls it, so that they hear of
// changes in their order.
func (a *audience) tell(all ...progress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := range all {
		p := &all[n]
		for _, may := range [][]*mailbox{a.everything, a.owners[p.owner]} { // as they stand there by their rights
			for _, m := range may {
				m.put(p)
			}
		}
		for _, m := range a.sessions[p.session] {
			if m.interest.who.Hears(p.owner) {
				m.put(p)
			}
		}
	}
}

// everybody makes every stream look at all sessions.
func (a *audience) everybody() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for m := range a.joined {
		m.again()
	}
}

// mailbox collects the sessions that a stream has to look at. Writers never block.
type mailbox struct {
	bell     chan struct{}
	interest *interest // of the audience, which guards it; nil while it is not registered

	mu     sync.Mutex
	news   []view         // one for each session
	places map[string]int // of the sessions in news, once they are many
	quiet  int            // how many updates since the last empty did not wake the stream
	rung   bool           // it has been woken since the last empty
	afresh bool
}

// maxQuiet is how many events that its terms leave out may pass before a stream is woken. It is less than the feed
// retains of a session, so that the stream still finds them there.
const maxQuiet = recentEvents / 2

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1)} }

const (
	// maxNews is how many changed sessions a mailbox holds; beyond it the stream looks at all sessions.
	maxNews = 1024
	// fewNews is how many are looked through, and kept room for.
	fewNews = 16
)

// put records the progress of a session. It wakes the stream if the stream wants the event, otherwise every maxQuiet
// events. The caller holds the audience's lock.
func (m *mailbox) put(p *progress) {
	if m.note(p) {
		m.ring()
	}
}

func (m *mailbox) note(p *progress) (wake bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.place(p.session); at >= 0 {
		m.news[at] = p.view
	} else if len(m.news) < maxNews {
		m.add(p.view)
	} else {
		m.clear()
		m.afresh = true
	}
	m.quiet++
	wake = !m.rung && (m.quiet >= maxQuiet || m.afresh || m.interest.wants(p.event)) // who is awake already is not asked what it wants
	m.rung = m.rung || wake
	return wake
}

// place returns where a session is in the news, or -1. The caller holds mu.
func (m *mailbox) place(session string) int {
	if m.places == nil {
		return slices.IndexFunc(m.news, func(v view) bool { return v.session == session })
	}
	if at, is := m.places[session]; is {
		return at
	}
	return -1
}

// add takes in a session that has no news yet. The caller holds mu.
func (m *mailbox) add(v view) {
	m.news = append(m.news, v)
	if m.places == nil && len(m.news) > fewNews {
		m.places = make(map[string]int, 2*fewNews)
		for at, other := range m.news {
			m.places[other.session] = at
		}
	} else if m.places != nil {
		m.places[v.session] = len(m.news) - 1
	}
}

// clear drops the news. The caller holds mu.
func (m *mailbox) clear() {
	m.places = nil
	if m.news = m.news[:0]; cap(m.news) > 2*fewNews { // what grows to few may have room for somewhat more
		m.news = nil
	}
}

// again makes the stream look at all sessions.
func (m *mailbox) again() {
	m.mu.Lock()
	m.afresh = true
	m.mu.Unlock()
	m.ring()
}

func (m *mailbox) ring() {
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

// empty calls f with the collected updates and clears them, and reports whether all sessions have to be looked at. f is quick.
func (m *mailbox) empty(f func(view)) (afresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range m.news {
		f(v)
	}
	m.clear()
	afresh, m.afresh, m.quiet, m.rung = m.afresh, false, 0, false
	return afresh
}

// join registers a stream, or its new interest, and returns every session as of that moment. Later changes are in the
// mailbox.
func (f *feed) join(m *mailbox, i interest) (all []view, life int) {
	f.audience.join(m, i) // before it looks: what changes meanwhile is told
	f.mu.Lock()
	defer f.mu.Unlock()
	all = make([]view, 0, len(f.tracks))
	for _, t := range f.tracks {
		if i.who.Hears(t.owner) && (len(i.names) == 0 || slices.Contains(i.names, t.session)) {
			all = append(all, t.view())
		}
	}
	return all, f.life
}

func (f *feed) leave(m *mailbox) { f.audience.leave(m) }

// again makes every stream look at all sessions.
func (f *feed) again() { f.audience.everybody() }
