package hub

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

const (
	// recentEvents and recentBytes bound what the feed holds of each session, so that
	// streams which keep up need not ask the ledger.
	recentEvents = 64
	recentBytes  = 256 << 10
)

// entry is one event of a session.
type entry struct {
	seq   int64
	raw   []byte
	event aaep.Event
	// strange: the event cannot be read. It is passed on as it is.
	strange error
}

func decode(row api.EventRow) entry {
	e := entry{seq: row.Seq, raw: row.Body}
	e.event, e.strange = aaep.DecodeEvent(row.Body)
	return e
}

// track is what the feed knows of one session. The feed's mu guards it.
type track struct {
	session, owner string
	// base is how far the session was when the feed first knew of it: who was listening
	// before has heard that much or has been told of it.
	base    int64
	last    int64
	ended   bool
	endedAt time.Time
	recent  []entry // the last ones, without a gap
	size    int
	state   entry // the last state.changed
}

// add takes the newest event in.
func (t *track) add(e entry, now time.Time) {
	if e.seq != t.last+1 {
		t.recent, t.size, t.state = nil, 0, entry{}
	}
	t.last = e.seq
	t.recent, t.size = append(t.recent, e), t.size+len(e.raw)
	for len(t.recent) > recentEvents || (t.size > recentBytes && len(t.recent) > 1) {
		t.size -= len(t.recent[0].raw)
		t.recent[0] = entry{}
		t.recent = t.recent[1:]
	}
	if e.strange != nil {
		return
	}
	if _, is := e.event.Payload.(aaep.StateChanged); is {
		t.state = e
	}
	if e.event.IsTerminal() {
		t.end(now)
	}
}

// reach takes in how far the ledger says the session is.
func (t *track) reach(last int64, ended bool, now time.Time) {
	if last > t.last {
		t.last, t.recent, t.size, t.state = last, nil, 0, entry{}
	}
	if ended {
		t.end(now)
	}
}

func (t *track) end(now time.Time) {
	if !t.ended {
		t.ended, t.endedAt = true, now
	}
}
