package web

import (
	"context"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

const (
	// mostRecords limits the sessions that are kept read, and mostRecordBytes the events that they were read from.
	mostRecords, mostRecordBytes = 64, 32 << 20
	// recordAge is how long one is kept, so that what was erased does not stay in memory.
	recordAge = 10 * time.Minute
)

// records keep what sessions did as far as it was read, so that a page reads only what has come since. Each entry belongs to
// the holder of its lock; whose session it is, and who may follow it, is asked at each reading.
type records struct {
	mu    sync.Mutex
	kept  map[recordKey]*record
	bytes int
}

// recordKey is a session as somebody reads it: in a language, and who may not answer its questions reads events without
// their tokens.
type recordKey struct {
	session  string
	approves bool
	language string
}

type record struct {
	lock   chan struct{} // of the fields below it
	record page.Record
	bytes  int

	begun, used time.Time // of the records' own lock
	counted     int       // the bytes that the records count
}

// find returns the entry of a session, and makes one where there is none, or an old one.
func (r *records) find(key recordKey, now time.Time) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, one := range r.kept {
		if now.Sub(one.begun) >= recordAge {
			r.remove(other)
		}
	}
	one := r.kept[key]
	if one == nil {
		one = &record{lock: make(chan struct{}, 1), begun: now}
		if r.kept == nil {
			r.kept = map[recordKey]*record{}
		}
		r.kept[key] = one
	}
	one.used = now
	return one
}

// count notes how large an entry has become, and lets go of those that were used the longest ago while there is too much.
func (r *records) count(key recordKey, one *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[key] != one { // let go of meanwhile
		return
	}
	r.bytes += one.bytes - one.counted
	one.counted = one.bytes
	if one.bytes > mostRecordBytes {
		r.remove(key)
	}
	for len(r.kept) > mostRecords || r.bytes > mostRecordBytes {
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
func (r *records) drop(key recordKey, one *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[key] == one {
		r.remove(key)
	}
}

func (r *records) remove(key recordKey) {
	r.bytes -= r.kept[key].counted
	delete(r.kept, key)
}

// record calls use with what a session did up to now. Use copies what it needs: the next reader goes on with the same record.
func (s *Server) record(ctx context.Context, v visitor, one api.Session, use func(*page.Record)) error {
	key := recordKey{one.ID, v.Approves(one.Owner), s.language(v)}
	entry := s.records.find(key, s.now())
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
	there, err := s.catchUp(ctx, v, key, entry)
	if err == nil && !there {
		entry.record, entry.bytes = page.Record{}, 0
		_, err = s.catchUp(ctx, v, key, entry)
	}
	if err != nil {
		s.records.drop(key, entry)
		return err
	}
	s.records.count(key, entry)
	use(&entry.record)
	return nil
}

// catchUp reads what has come since, from the last event that was read on: it reports whether that is still there. If it is not, the
// session was erased meanwhile.
func (s *Server) catchUp(ctx context.Context, v visitor, key recordKey, entry *record) (there bool, err error) {
	last := entry.record.Last()
	there = last == 0
	for row, err := range s.hub.Events(ctx, v.Principal, key.session, max(last-1, 0), key.language) {
		if err != nil {
			return false, err
		}
		if row.Seq <= last {
			there = true
			continue
		}
		entry.record.Add(row.Body, row.Seq)
		entry.bytes += len(row.Body)
	}
	return there, nil
}
