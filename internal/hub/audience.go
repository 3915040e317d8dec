package hub

import (
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// audience indexes which streams follow which sessions, so that an event wakes only these. The feed's mu guards it.
type audience struct {
	everything set                    // those that follow all sessions
	owners     map[string]set         // by the owners whose sessions they follow
	sessions   map[string]set         // by the sessions that their terms name
	joined     map[*mailbox]*interest // the current entry of each
}

type set map[*mailbox]struct{}

func newAudience() audience {
	return audience{everything: set{}, owners: map[string]set{}, sessions: map[string]set{}, joined: map[*mailbox]*interest{}}
}

// interest is what a stream may receive and has asked for.
type interest struct {
	who   access.Principal
	terms pacing.Terms
	names []string // the sessions that the terms name; nil means all
}

// join registers what a stream is interested in, and replaces its former interest.
func (a *audience) join(m *mailbox, i interest) {
	a.leave(m)
	a.joined[m] = &i
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
	i, joined := a.joined[m]
	if !joined {
		return
	}
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

// tell reports the progress of a session to the streams that follow it. c is the event behind it. It is nil if there
// are several or it is not known: then all of them have to look.
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

// mailbox collects the sessions that a stream has to look at. Writers never block.
type mailbox struct {
	bell chan struct{}

	mu     sync.Mutex
	news   map[string]view
	quiet  int // how many updates since the last empty did not wake the stream
	afresh bool
}

// maxQuiet is how many events that its terms leave out may pass before a stream is woken. It is less than the feed
// retains of a session, so that the stream still finds them there.
const maxQuiet = recentEvents / 2

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1), news: map[string]view{}} }

// maxNews is how many changed sessions a mailbox holds; beyond it the stream looks at all sessions.
const maxNews = 1024

// put records the progress of a session. It wakes the stream if the stream wants the event, otherwise every maxQuiet
// events.
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

// empty returns and clears the collected updates, and reports whether all sessions have to be looked at.
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

// join registers a stream, or its new interest, and returns every session as of that moment. Later changes are in the
// mailbox.
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

// again makes every stream look at all sessions.
func (f *feed) again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.everybody()
}

// everybody makes every stream look at all sessions. The caller holds mu.
func (f *feed) everybody() {
	for m := range f.audience.joined {
		m.again()
	}
}
