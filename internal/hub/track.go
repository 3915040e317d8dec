package hub

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// recentEvents limits the events that the feed retains of each session, so that streams which keep up need not read the
// ledger.
const recentEvents = 64

// track is what the feed knows of one session. The feed's mu guards it.
type track struct {
	session, owner string
	// base is the position at which the feed first knew of the session. Earlier listeners have received everything up
	// to it.
	base    int64
	last    int64
	ended   bool
	endedAt time.Time
	recent  []*entry // the latest ones, without a gap
	state   *entry   // the last state.changed, nil if it is not known
}

// add takes in the newest event.
func (t *track) add(e *entry, c *content, now time.Time) {
	if e.seq != t.last+1 {
		t.recent, t.state = nil, nil
	}
	t.last = e.seq
	if t.recent = append(t.recent, e); len(t.recent) > recentEvents {
		t.drop()
	}
	if c.unreadable != nil {
		return
	}
	if _, is := c.event.Payload.(aaep.StateChanged); is {
		t.state = e
	}
	if c.event.IsTerminal() {
		t.end(now)
	}
}

// drop releases the oldest retained event.
func (t *track) drop() {
	t.recent[0] = nil
	if t.recent = t.recent[1:]; len(t.recent) == 0 {
		t.recent = nil
	}
}

// reach takes in the progress that the ledger reports.
func (t *track) reach(last int64, ended bool, now time.Time) {
	if last > t.last {
		t.last, t.recent, t.state = last, nil, nil
	}
	if ended {
		t.end(now)
	}
}

func (t *track) end(now time.Time) {
	if !t.ended {
		t.ended, t.endedAt, t.state = true, now, nil
	}
}

// view is a snapshot of a session for a stream.
type view struct {
	session, owner string
	base, last     int64
	ended          bool
	// forgotten: the feed no longer knows the session. It has ended.
	forgotten bool
}

func (t *track) view() view {
	return view{session: t.session, owner: t.owner, base: t.base, last: t.last, ended: t.ended}
}

const (
	// retainedBytes limits the events that the feed retains of all sessions together, retainedEvents their number.
	retainedBytes  = 16 << 20
	retainedEvents = 1 << 15
)

// retained is the order of arrival of the retained events, so that the oldest of all are released first.
type retained struct {
	order []retainedEvent
	bytes int
}

type retainedEvent struct {
	track *track
	seq   int64
	size  int
}

// add records an event that its track has just taken in, and releases the oldest beyond the limits.
func (r *retained) add(t *track, e *entry) {
	r.order = append(r.order, retainedEvent{track: t, seq: e.seq, size: e.size()})
	r.bytes += e.size()
	for r.bytes > retainedBytes || len(r.order) > retainedEvents {
		oldest := r.order[0]
		r.order[0] = retainedEvent{}
		r.order, r.bytes = r.order[1:], r.bytes-oldest.size
		if held := oldest.track.recent; len(held) > 0 && held[0].seq == oldest.seq { // otherwise it is gone already
			oldest.track.drop()
		}
	}
}
