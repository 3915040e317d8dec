package web

import (
	"context"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

const (
	// mostRecords limits the sessions that are kept read for the page, and mostRecordBytes the events that they were read from.
	mostRecords, mostRecordBytes = 64, 32 << 20
	// mostTold and mostToldBytes limit the same for what is said.
	mostTold, mostToldBytes = 256, 16 << 20
	// recordAge is how long one is kept, so that what was erased does not stay in memory.
	recordAge = 10 * time.Minute
)

// records keep what sessions did as far as it was read, so that only what has come since is read. Each entry belongs to
// the holder of its lock; whose session it is, and who may follow it, is asked at each reading.
type records[T any] struct {
	most, mostBytes int

	mu    sync.Mutex
	kept  map[recordKey]*record[T]
	bytes int
}

// taker is what is made of the events of a session, one after the other.
type taker[T any] interface {
	*T
	Add(raw []byte, seq int64)
	Last() int64
}

// recordKey is a session as somebody reads it: in a language, and who may not answer its questions reads events without
// their tokens.
type recordKey struct {
	session  string
	approves bool
	language string
}

type record[T any] struct {
	lock  chan struct{} // of the fields below it
	made  T
	bytes int

	begun, used time.Time // of the records' own lock
	counted     int       // the bytes that the records count
}

// find returns the entry of a session, and makes one where there is none, or an old one.
func (r *records[T]) find(key recordKey, now time.Time) *record[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, one := range r.kept {
		if now.Sub(one.begun) >= recordAge {
			r.remove(other)
		}
	}
	one := r.kept[key]
	if one == nil {
		one = &record[T]{lock: make(chan struct{}, 1), begun: now}
		if r.kept == nil {
			r.kept = map[recordKey]*record[T]{}
		}
		r.kept[key] = one
	}
	one.used = now
	return one
}

// count notes how large an entry has become, and lets go of those that were used the longest ago while there is too much.
func (r *records[T]) count(key recordKey, one *record[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[key] != one { // let go of meanwhile
		return
	}
	r.bytes += one.bytes - one.counted
	one.counted = one.bytes
	if one.bytes > r.mostBytes {
		r.remove(key)
	}
	for len(r.kept) > r.most || r.bytes > r.mostBytes {
		oldest := key
		for other, o := range r.kept {
			if o.used.Before(r.kept[oldest].used) {
				oldest = other
			}
		}
		r.remove(oldest)
	}
}

// drop lets go of an entry.
func (r *records[T]) drop(key recordKey, one *record[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[key] == one {
		r.remove(key)
	}
}

func (r *records[T]) remove(key recordKey) {
	r.bytes -= r.kept[key].counted
	delete(r.kept, key)
}

// record calls use with what a session did up to now. Use copies what it needs: the next reader goes on with the same record.
func (s *Server) record(ctx context.Context, v visitor, one api.Session, use func(*page.Record)) error {
	return follow(ctx, s, &s.records, v, one, use)
}

// follow calls use with what is made of the events of a session up to now.
func follow[T any, P taker[T]](ctx context.Context, s *Server, r *records[T], v visitor, one api.Session, use func(P)) error {
	key := recordKey{one.ID, v.Approves(one.Owner), s.language(v)}
	entry := r.find(key, s.now())
	select {
	case entry.lock <- struct{}{}:
		defer func() { <-entry.lock }()
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
	if err := s.reading.enter(ctx); err != nil {
		return err
	}
	defer s.reading.leave()
	there, err := catchUp[T, P](ctx, s.hub, v, key, entry)
	if err == nil && !there {
		entry.made, entry.bytes = *new(T), 0
		_, err = catchUp[T, P](ctx, s.hub, v, key, entry)
	}
	if err != nil {
		r.drop(key, entry)
		return err
	}
	r.count(key, entry)
	use(&entry.made)
	return nil
}

// catchUp reads what has come since, from the last event that was read on: it reports whether that is still there. If it is not, the
// session was erased meanwhile.
func catchUp[T any, P taker[T]](ctx context.Context, hub Hub, v visitor, key recordKey, entry *record[T]) (there bool, err error) {
	made := P(&entry.made)
	last := made.Last()
	there = last == 0
	for row, err := range hub.Events(ctx, v.Principal, key.session, max(last-1, 0), key.language) {
		if err != nil {
			return false, err
		}
		if row.Seq <= last {
			there = true
			continue
		}
		made.Add(row.Body, row.Seq)
		entry.bytes += len(row.Body)
	}
	return there, nil
}
