package hub

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// broadcastBuffer is how many broadcasts may wait for the feed. Beyond it they are dropped, and the feed polls the
	// ledger.
	broadcastBuffer = 1024
	// endedRetention is how long the feed remembers a session after its end, at least.
	endedRetention = 2 * time.Minute
)

// feed tracks the progress of each session that is open or ended a short while ago. It never reads past sessions. Only
// the goroutine of [Hub.Run] advances it.
//
// A broadcast reports one event. Each poll asks the ledger, in one request, which sessions have advanced since the last
// one. Whatever the bus loses is thus found within a poll, including a session that began and ended meanwhile. While
// nothing happens, the polls become less frequent, up to idle.
type feed struct {
	conn Conn
	poll time.Duration
	idle time.Duration
	now  func() time.Time
	rand io.Reader

	freshest freshest

	ready chan struct{} // closed once the open sessions are known

	mu       sync.Mutex
	tracks   map[string]*track
	life     int    // incremented when the ledger turns out to be another one
	position string // every event up to this one has been processed
	// start is an alias for the moment at which the feed began, for listeners who may not know which event was then the
	// newest. from is that event.
	start, from string
	newest      map[string]receivedEvent // the latest event of each owner since then
	received    int
	// waiting are notified of the events of a session.
	waiting  map[string]map[chan struct{}]struct{}
	retained retained

	audience audience
	vigil    vigil
}

// receivedEvent is an event with its order of arrival.
type receivedEvent struct {
	session string
	seq     int64
	n       int
}

func newFeed(o Options, v vigil) *feed {
	return &feed{
		conn: o.Conn, poll: o.Poll, idle: o.Idle, now: o.Now, rand: o.Rand, vigil: v,
		ready: make(chan struct{}), tracks: map[string]*track{},
	}
}

// run advances the feed until the context ends.
func (f *feed) run(ctx context.Context) error {
	rows := make(chan api.EventRow, broadcastBuffer)
	var lost atomic.Bool
	stop, err := f.conn.Broadcasts(ctx, "", func(payload []byte) {
		var row api.EventRow
		if json.Unmarshal(payload, &row) != nil || row.Session == "" || row.Seq <= 0 {
			return
		}
		select {
		case rows <- row:
		default:
			lost.Store(true)
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	if err := f.begin(ctx); err != nil {
		return err
	}
	close(f.ready)
	wait := f.poll
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		quiet := false
		select {
		case <-ctx.Done():
			return nil
		case row := <-rows:
			if f.add(row) && !lost.Swap(false) {
				if wait > f.poll { // activity has resumed
					wait = f.poll
					timer.Reset(wait)
				}
				continue
			}
		case <-timer.C:
			quiet = true
		}
		lost.Store(false)
		news, err := f.catchUp(ctx, rows)
		if err != nil {
			return err
		}
		wait = f.next(wait, quiet && !news)
		timer.Reset(wait)
	}
}

// next returns the delay until the next poll. vain means that the last one came by timer and found nothing.
func (f *feed) next(wait time.Duration, vain bool) time.Duration {
	if vain {
		return min(2*wait, f.idle)
	}
	return f.poll
}

// begin finds the newest event and then the open sessions. The order matters: what happens in between is found again.
func (f *feed) begin(ctx context.Context) error {
	var now api.SinceAnswer
	if err := rpc.AskUntil(ctx, f.conn, api.OpSince, api.SinceRequest{Now: true}, &now); err != nil {
		return err
	}
	tracks := map[string]*track{}
	for after := ""; ; {
		var rows []api.SessionRow
		if err := rpc.AskUntil(ctx, f.conn, api.OpSessions, api.SessionsRequest{Open: true, After: after}, &rows); err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			tracks[row.Session] = &track{session: row.Session, owner: row.Owner, base: row.Last, last: row.Last, ended: row.Ended}
		}
		after = rows[len(rows)-1].Turn
	}
	start, err := aaep.NewID(aaep.PrefixEvent, f.now(), f.rand)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.position, f.tracks = now.Newest, tracks
	f.start, f.from, f.newest = start, now.Newest, map[string]receivedEvent{}
	return nil
}

// note records the latest event of an owner. The caller holds mu.
func (f *feed) note(t *track) {
	f.received++
	f.newest[t.owner] = receivedEvent{session: t.session, seq: t.last, n: f.received}
}

// last returns the latest event of these owners or, if there is none, the alias of the moment at which the feed began.
// Neither reveals anything about the sessions of others.
func (f *feed) last(owners []string) (event receivedEvent, start string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, owner := range owners {
		if h := f.newest[owner]; h.n > event.n {
			event = h
		}
	}
	return event, f.start
}

// meant resolves an event id. The alias of the start stands for the event that was the newest when the feed began.
func (f *feed) meant(id string) (event string, begun bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == f.start {
		return f.from, true
	}
	return id, false
}

// add processes one broadcast. It returns false if the event does not fit what is known, so that the ledger has to be
// polled.
func (f *feed) add(row api.EventRow) bool {
	e := newEntry(row)
	e.freshest = &f.freshest
	p, known, fits := f.take(row, e)
	if known {
		f.moved(p)
	}
	return fits
}

// take takes one event in, and returns its progress if it is known of. fits is false if the ledger has to be polled.
func (f *feed) take(row api.EventRow, e *entry) (p progress, known, fits bool) {
	c := e.content()
	f.mu.Lock()
	defer f.mu.Unlock()
	t, is := f.tracks[row.Session]
	if !is {
		if row.Seq != 1 {
			return p, false, false
		}
		t = &track{session: row.Session, owner: row.Owner}
		f.tracks[row.Session] = t
	}
	if row.Seq <= t.last {
		return p, false, true
	}
	gap := row.Seq != t.last+1
	t.add(e, c, f.now())
	f.retained.add(t, e)
	f.note(t)
	if gap { // a stream that filters out c may want what is in the gap
		c = nil
	}
	return f.progress(t, c), true, true // streams that want the gap read it themselves
}

// catchUp polls the ledger for the sessions that have advanced, and reports whether there are any. What has been broadcast meanwhile is taken
// in first: of an event that is only known to be there, each stream would have to read the ledger for itself.
func (f *feed) catchUp(ctx context.Context, broadcast <-chan api.EventRow) (news bool, err error) {
	f.mu.Lock()
	position := f.position
	f.mu.Unlock()
	var since api.SinceAnswer
	err = rpc.AskUntil(ctx, f.conn, api.OpSince, api.SinceRequest{Event: position}, &since)
	if rpc.Code(err, utp.CodeNotFound) || rpc.Code(err, utp.CodeTooLarge) {
		return true, f.restart(ctx)
	}
	if err != nil {
		return false, err
	}
	for range len(broadcast) {
		f.add(<-broadcast)
	}
	f.moved(f.reach(since)...)
	return len(since.Sessions) > 0, nil
}

// reach takes in what the ledger reports, and returns what has changed.
func (f *feed) reach(since api.SinceAnswer) (changed []progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, row := range since.Sessions {
		t, known := f.tracks[row.Session]
		if !known {
			t = &track{session: row.Session, base: row.Seq, last: row.Seq}
			f.tracks[row.Session] = t
		}
		if t.owner != row.Owner && known { // other streams may follow it now
			f.audience.everybody()
		}
		t.owner = row.Owner
		if row.Last > t.last || !known {
			t.reach(row.Last, row.Ended, f.now())
			f.note(t)
			changed = append(changed, f.progress(t, nil))
			continue
		}
		if row.Ended && !t.ended {
			t.reach(row.Last, row.Ended, f.now())
			changed = append(changed, f.progress(t, nil))
		}
	}
	f.position = since.Newest
	return f.forget(changed)
}

// restart begins again if the ledger was replaced, or has advanced too far to list the changes. Every stream has to
// begin again, too.
func (f *feed) restart(ctx context.Context) error {
	if err := f.begin(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	f.life++
	f.retained = retained{}
	f.mu.Unlock()
	f.audience.everybody()
	return nil
}

// passed reports whether the session has an event after that number, as far as the feed knows.
func (f *feed) passed(session string, number int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, known := f.tracks[session]
	return !known || t.last > number
}

// watch notifies of the events of a session until stop is called. A notification may be spurious, or stand for several
// events.
func (f *feed) watch(session string) (news <-chan struct{}, stop func()) {
	signal := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting == nil {
		f.waiting = map[string]map[chan struct{}]struct{}{}
	}
	if f.waiting[session] == nil {
		f.waiting[session] = map[chan struct{}]struct{}{}
	}
	f.waiting[session][signal] = struct{}{}
	return signal, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiting[session], signal)
		if len(f.waiting[session]) == 0 {
			delete(f.waiting, session)
		}
	}
}

// progress notifies the watchers of a session, and returns what the streams that follow it are to be told. c is the new event,
// nil if it is not known. The caller holds mu.
func (f *feed) progress(t *track, c *content) progress {
	for signal := range f.waiting[t.session] {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
	return progress{view: t.view(), event: c}
}

// moved notifies the streams, without holding up those that they are already reading for.
func (f *feed) moved(all ...progress) {
	f.audience.tell(all...)
	for _, p := range all {
		if !p.forgotten && (p.event == nil || p.event.asks()) {
			f.vigil.ring()
			return
		}
	}
}

// forget drops sessions that ended long enough ago, and appends them to what has changed. Streams keep what they have not
// delivered of them. The caller holds mu.
func (f *feed) forget(changed []progress) []progress {
	old := f.now().Add(-endedRetention)
	for id, t := range f.tracks {
		if t.ended && t.endedAt.Before(old) {
			delete(f.tracks, id)
			v := t.view()
			v.forgotten = true
			changed = append(changed, progress{view: v})
		}
	}
	return changed
}

// recent appends the events of a session after a sequence number, if the feed retains the next one.
func (f *feed) recent(to []*entry, session string, after int64) []*entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, known := f.tracks[session]
	if !known || len(t.recent) == 0 || t.recent[0].seq > after+1 || t.last <= after {
		return to
	}
	return append(to, t.recent[after+1-t.recent[0].seq:]...)
}

// state returns the latest state.changed of a session that the feed has received.
func (f *feed) state(session string) (*entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, known := f.tracks[session]
	if !known || t.state == nil {
		return nil, false
	}
	return t.state, true
}

// wait blocks until the open sessions are known.
func (f *feed) wait(ctx context.Context) error {
	select {
	case <-f.ready:
		return nil
	default:
	}
	select {
	case <-f.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the stream judges it
	}
}
