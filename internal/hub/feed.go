package hub

import (
	"context"
	"fmt"
	"io"
	"slices"
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
	// broadcastBuffer is how many broadcasts may wait for the feed; of those beyond it only the
	// need to look at the ledger is kept.
	broadcastBuffer = 1024
	// endedRetention is how long the feed knows a session after its end, at least.
	endedRetention = 2 * time.Minute
)

// feed knows how far each session has got that is open, or that has ended a short while
// ago. It never reads past sessions. One goroutine, [Hub.Run]'s, moves it on.
//
// A broadcast tells it of one event. Every poll it asks the ledger which sessions have
// gone on since the last one, all in one request, so that whatever the bus loses is found
// within a poll, also a session that has begun and ended meanwhile. While nothing happens
// the polls grow rarer, up to idle.
type feed struct {
	conn Conn
	poll time.Duration
	idle time.Duration
	now  func() time.Time
	rand io.Reader

	ready chan struct{} // closed once the open sessions are known

	mu       sync.Mutex
	tracks   map[string]*track
	life     int    // grows when the ledger turns out to be another one
	position string // everything up to this event has been taken in
	// start names the moment at which the feed began, to those who may not know which
	// event was then the newest; from is that event.
	start, from string
	newest      map[string]receivedEvent // the last event of each owner that has come since then
	received    int
	// waiting are told when something has come of a session.
	waiting map[string]map[chan struct{}]struct{}
}

// receivedEvent is an event that has come, and as the how many-th.
type receivedEvent struct {
	session string
	seq     int64
	n       int
}

func newFeed(o Options) *feed {
	return &feed{conn: o.Conn, poll: o.Poll, idle: o.Idle, now: o.Now, rand: o.Rand, ready: make(chan struct{}), tracks: map[string]*track{}}
}

// run moves the feed on until the context ends. Changed is called after each change, from
// this goroutine.
func (f *feed) run(ctx context.Context, changed func()) error {
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
	changed()
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
				if wait > f.poll { // it is not quiet any more
					wait = f.poll
					timer.Reset(wait)
				}
				changed()
				continue
			}
		case <-timer.C:
			quiet = true
		}
		lost.Store(false)
		news, err := f.catchUp(ctx)
		if err != nil {
			return err
		}
		wait = f.next(wait, quiet && !news)
		timer.Reset(wait)
		changed()
	}
}

// next is how long to wait for the next look after one that came by itself and found nothing
// (in vain), or did.
func (f *feed) next(wait time.Duration, vain bool) time.Duration {
	if vain {
		return min(2*wait, f.idle)
	}
	return f.poll
}

// begin finds out which event is the newest and which sessions are open, in this order:
// what happens between the two is found again.
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

// note keeps which event of an owner came last. The caller holds mu.
func (f *feed) note(t *track) {
	f.received++
	f.newest[t.owner] = receivedEvent{session: t.session, seq: t.last, n: f.received}
}

// last returns the last event of any of these owners that has come, or, where none has, the
// name of the moment at which the feed began. Neither tells anything of others' sessions.
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

// meant returns the event that an id stands for: the one that was the newest when the feed
// began, for that moment's name.
func (f *feed) meant(id string) (event string, begun bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == f.start {
		return f.from, true
	}
	return id, false
}

// add takes one broadcast in. It reports false when it does not fit what is known, so
// that the ledger has to be asked.
func (f *feed) add(row api.EventRow) bool {
	e := decode(row)
	f.mu.Lock()
	defer f.mu.Unlock()
	t, known := f.tracks[row.Session]
	if !known {
		if row.Seq != 1 {
			return false
		}
		t = &track{session: row.Session, owner: row.Owner}
		f.tracks[row.Session] = t
	}
	if row.Seq <= t.last {
		return true
	}
	gap := row.Seq != t.last+1
	t.add(e, f.now())
	f.note(t)
	f.wake(row.Session)
	return !gap || t.last == row.Seq // a gap is read by those who want to hear what is in it
}

// catchUp asks the ledger which sessions have gone on, and tells whether any has.
func (f *feed) catchUp(ctx context.Context) (news bool, err error) {
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
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, row := range since.Sessions {
		t, known := f.tracks[row.Session]
		if !known {
			t = &track{session: row.Session, base: row.Seq, last: row.Seq}
			f.tracks[row.Session] = t
		}
		t.owner = row.Owner
		if row.Last > t.last || !known {
			t.reach(row.Last, row.Ended, f.now())
			f.note(t)
			f.wake(row.Session)
			continue
		}
		t.reach(row.Last, row.Ended, f.now())
	}
	f.position = since.Newest
	f.forget()
	return len(since.Sessions) > 0, nil
}

// restart begins again with a ledger that is another than it was, or further on than can be
// told. Every stream has to begin again, too.
func (f *feed) restart(ctx context.Context) error {
	if err := f.begin(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life++
	return nil
}

// watch is told when something has come of a session, until stop is called. It may be told for nothing, and once for many
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

// wake tells those who watch the session. The caller holds mu.
func (f *feed) wake(session string) {
	for signal := range f.waiting[session] {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
}

// forget drops sessions that ended long enough ago. Streams keep what they have not sent
// yet of them. The caller holds mu.
func (f *feed) forget() {
	old := f.now().Add(-endedRetention)
	for id, t := range f.tracks {
		if t.ended && t.endedAt.Before(old) {
			delete(f.tracks, id)
		}
	}
}

// view is what a stream sees of a session at one moment.
type view struct {
	session, owner string
	base, last     int64
	ended          bool
}

func (t *track) view() view {
	return view{session: t.session, owner: t.owner, base: t.base, last: t.last, ended: t.ended}
}

// views lists every session that the feed knows.
func (f *feed) views() (all []view, life int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all = make([]view, 0, len(f.tracks))
	for _, t := range f.tracks {
		all = append(all, t.view())
	}
	return all, f.life
}

// recent returns what the feed holds of a session after a number, if the next event is
// among it.
func (f *feed) recent(session string, after int64) []entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, known := f.tracks[session]
	if !known || len(t.recent) == 0 || t.recent[0].seq > after+1 || t.last <= after {
		return nil
	}
	return slices.Clone(t.recent[after+1-t.recent[0].seq:])
}

// state returns the last state.changed that the feed has heard of a session.
func (f *feed) state(session string) (entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, known := f.tracks[session]
	if !known || t.state.seq == 0 {
		return entry{}, false
	}
	return t.state, true
}

// wait returns when the open sessions are known.
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
