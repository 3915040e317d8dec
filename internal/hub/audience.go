package hub

import (
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// audience knows which streams hear of which sessions, so that an event is looked at by these and by no others. The
// feed's mu guards it.
type audience struct {
	everything set                   // those who hear everybody's sessions
	owners     map[string]set        // by the people whose sessions they hear
	sessions   map[string]set        // those whose terms name sessions, by these
	joined     map[*mailbox]interest // as each stands in the three
}

type set map[*mailbox]struct{}

func newAudience() audience {
	return audience{everything: set{}, owners: map[string]set{}, sessions: map[string]set{}, joined: map[*mailbox]interest{}}
}

// interest is what a stream may and wants to hear.
type interest struct {
	who   access.Principal
	terms pacing.Terms
	names []string // the sessions that the terms are narrowed to; none is all
}

// join has a stream woken for what it is interested in, instead of what it was before.
func (a *audience) join(m *mailbox, i interest) {
	a.leave(m)
	a.joined[m] = i
	switch {
	case len(i.names) > 0:
		for _, session := range i.names {
			insert(a.sessions, session, m)
		}
	case i.who.HearsAll():
		a.everything[m] = struct{}{}
	default:
		for _, owner := range concerns(i.who, nil) {
			insert(a.owners, owner, m)
		}
	}
}

func (a *audience) leave(m *mailbox) {
	i := a.joined[m]
	delete(a.joined, m)
	delete(a.everything, m)
	for _, session := range i.names {
		remove(a.sessions, session, m)
	}
	for _, owner := range concerns(i.who, nil) {
		remove(a.owners, owner, m)
	}
}

func insert(in map[string]set, key string, m *mailbox) {
	if in[key] == nil {
		in[key] = set{}
	}
	in[key][m] = struct{}{}
}

func remove(from map[string]set, key string, m *mailbox) {
	delete(from[key], m)
	if len(from[key]) == 0 {
		delete(from, key)
	}
}

// tell lets those who hear of a session know how far it is. The event that it has gone on by is c, nil where that is not
// one event, or is not known: then everybody has to look.
func (a *audience) tell(v view, c *content) {
	for _, heard := range []set{a.everything, a.owners[v.owner], a.sessions[v.session]} {
		for m := range heard {
			i := a.joined[m]
			if !i.who.Hears(v.owner) {
				continue
			}
			m.put(v, c == nil || c.unreadable != nil || i.terms.Wants(c.event))
		}
	}
}

// mailbox has what a stream has still to look at. Whoever puts something in never waits.
type mailbox struct {
	bell chan struct{}

	mu     sync.Mutex
	news   map[string]view
	quiet  int // how often something was put in since it was emptied that the stream was not woken for
	afresh bool
}

// maxQuiet is of how many events a stream need not know that its terms leave out. It is less than the feed holds of a
// session, so that the stream finds them there.
const maxQuiet = recentEvents / 2

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1), news: map[string]view{}} }

// maxNews is of how many sessions a mailbox has news; a stream that lets more of them wait looks at everything.
const maxNews = 1024

// put notes how far a session is. The stream is woken where it wants what has come, else now and then.
func (m *mailbox) put(v view, requested bool) {
	if m.note(v, requested) {
		m.ring()
	}
}

func (m *mailbox) note(v view, requested bool) (wake bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.news[v.session] = v; len(m.news) > maxNews {
		clear(m.news)
		m.afresh = true
	}
	m.quiet++
	return requested || m.quiet >= maxQuiet || m.afresh
}

// again has the stream look at everything.
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

// empty returns what has come since it was called before, and whether everything has to be looked at.
func (m *mailbox) empty() (news []view, afresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.news) > 0 {
		news = make([]view, 0, len(m.news))
		for _, v := range m.news {
			news = append(news, v)
		}
		clear(m.news)
	}
	afresh, m.afresh, m.quiet = m.afresh, false, 0
	return news, afresh
}

// join registers a stream, or what it hears from now on, and returns every session as it is at that moment: what comes later
// is in the mailbox.
func (f *feed) join(m *mailbox, i interest) (all []view, life int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.audience.join(m, i)
	all = make([]view, 0, len(f.tracks))
	for _, t := range f.tracks {
		if i.who.Hears(t.owner) && (len(i.names) == 0 || slices.Contains(i.names, t.session)) {
			all = append(all, t.view())
		}
	}
	return all, f.life
}

func (f *feed) leave(m *mailbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.audience.leave(m)
}

// again has every stream look at everything.
func (f *feed) again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.everybody()
}

// everybody has every stream look at everything. The caller holds mu.
func (f *feed) everybody() {
	for m := range f.audience.joined {
		m.again()
	}
}
