package web

import (
	"context"
	"sync"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
	"github.com/earshot-dev/earshot/internal/wording"
)

const (
	// tailEvents is how many of the last events of a session are read for its line in a list.
	tailEvents = 8
	// mostTails limits the stored tails.
	mostTails = 1024
)

// tails stores what the last events of sessions say, so that a list reads those sessions only that have changed. What it
// holds is asked for by the sessions of a list, which are those that its reader may follow.
type tails struct {
	mu     sync.Mutex
	stored map[tailKey]tail
}

// tailKey is a session as it is read in a language.
type tailKey struct{ session, language string }

type tail struct {
	last int64
	page.Tail
}

// find returns the stored tail of a session, and whether it is of the session's last event.
func (t *tails) find(one api.Session, language string) (found page.Tail, current bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stored := t.stored[tailKey{one.ID, language}]
	return stored.Tail, stored.last == one.Last
}

func (t *tails) save(one api.Session, language string, found page.Tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stored == nil || len(t.stored) >= mostTails {
		t.stored = map[tailKey]tail{}
	}
	t.stored[tailKey{one.ID, language}] = tail{last: one.Last, Tail: found}
}

// tail reads what the last events of a session say. Where they say nothing for a person, what those before said holds.
func (s *Server) tail(ctx context.Context, v visitor, one api.Session) (page.Tail, error) {
	language := s.language(v)
	found, current := s.tails.find(one, language)
	if current {
		return found, nil
	}
	for row, err := range s.hub.Events(ctx, v.Principal, one.ID, max(one.Last-tailEvents, 0), language) {
		if err != nil {
			return found, err
		}
		found.Add(row.Body)
	}
	s.tails.save(one, language, found)
	return found, nil
}

// add adds the line of a session to a list.
func (s *Server) add(ctx context.Context, v visitor, list *[]page.Session, one api.Session, waiting string) error {
	if wording.Stopped(one.Summary) {
		one.Summary = "" // its badge says it
	}
	l := page.NewSession(one, waiting, v.zone)
	found, err := s.tail(ctx, v, one)
	l.At(found)
	*list = append(*list, l)
	return err
}
