package hub

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// maxQueued is how many events wait for a subscriber's budget before no more are read.
	maxQueued = 4096
	// tolerable is how long an event may be late before those that overtake it are no
	// points to resume from. It is well below the overlap of a resumption.
	tolerable = 5 * time.Second
	overlap   = 4 * tolerable
)

// stream is one run of Deliveries. But for stop and ring, it belongs to the goroutine of
// its consumer.
type stream struct {
	sub       *Subscription
	hub       *Hub
	ctx       context.Context //nolint:containedctx // the stream's own life
	stop      context.CancelCauseFunc
	wakeup    chan struct{}
	yield     func(Delivery, error) bool
	abandoned bool // the consumer has stopped

	terms   pacing.Terms
	names   []string
	version int
	pacer   *pacing.Pacer
	life    int
	cursors map[string]*cursor
	again   map[string]bool // ids of events that are sent again for a late joiner
	looked  time.Time       // when it last knew how far every session was; at first, long ago
}

// cursor is where a stream is in one session.
type cursor struct {
	view

	offered int64     // handed to the pacer
	sent    int64     // delivered
	empty   int64     // the ledger had nothing behind taken although last said this
	late    time.Time // since when not everything is delivered; zero while all is
	final   bool      // the feed has forgotten it, and last is what the ledger says
}

func newStream(ctx context.Context, s *Subscription, yield func(Delivery, error) bool) *stream {
	st := &stream{
		sub: s, hub: s.hub, wakeup: make(chan struct{}, 1), yield: yield,
		cursors: map[string]*cursor{}, again: map[string]bool{},
		terms: s.terms, names: s.names, version: s.version, looked: time.Unix(0, 0),
	}
	st.ctx, st.stop = context.WithCancelCause(ctx)
	st.pacer = pacing.NewPacer(st.terms, s.hub.o.Now())
	return st
}

func (st *stream) wake() {
	select {
	case st.wakeup <- struct{}{}:
	default:
	}
}

// run delivers until the context or the consumer ends; then it returns why, or nil where
// that needs no word.
func (st *stream) run(lastEventID string) error {
	err := st.hub.feed.wait(st.ctx)
	if err == nil {
		err = st.start(lastEventID)
	}
	for err == nil && !st.abandoned {
		var more bool
		if more, err = st.turn(); err == nil && !more && !st.abandoned {
			err = st.rest()
		}
	}
	return st.why(err)
}

// why is what the consumer is told of an end.
func (st *stream) why(err error) error {
	if st.ctx.Err() == nil {
		return err
	}
	if cause, ours := context.Cause(st.ctx).(*Error); ours { //nolint:errorlint // ours are never wrapped
		return cause
	}
	return nil
}

// turn takes in what there is and delivers what may leave. More says that there is more.
func (st *stream) turn() (more bool, err error) {
	if err := st.refresh(); err != nil {
		return false, err
	}
	for _, p := range st.behind() {
		if st.pacer.Queued() >= maxQueued || st.abandoned {
			break
		}
		if err := st.offerPage(p); err != nil {
			return false, err
		}
	}
	if err := st.emit(st.pacer.Tick(st.hub.o.Now())); err != nil {
		return false, err
	}
	st.markDelivered()
	return st.pacer.Queued() < maxQueued && len(st.behind()) > 0, nil
}

// refresh takes in new terms, new sessions, and how far each is.
func (st *stream) refresh() error {
	who, err := st.hub.current(st.sub.who)
	if err != nil {
		st.sub.end(err)
		return err
	}
	able := false
	if terms, names, version := st.sub.present(); version != st.version {
		able = terms.CanConfirm() && !st.terms.CanConfirm() || terms.CanClarify() && !st.terms.CanClarify()
		st.terms, st.names, st.version = terms, names, version
		if err := st.emit(st.pacer.SetTerms(st.hub.o.Now(), terms)); err != nil {
			return err
		}
	}
	views, life := st.hub.feed.views()
	if life != st.life {
		return ErrLedgerChanged
	}
	known := make(map[string]bool, len(views))
	for _, v := range views {
		known[v.session] = true
		p, is := st.cursors[v.session]
		switch {
		case is:
			p.base, p.last, p.ended, p.owner = v.base, max(v.last, p.last), v.ended, v.owner
		case who.Hears(v.owner) && st.terms.Hears(v.session):
			st.addSession(v, st.base(v))
		}
	}
	st.date()
	if able { // what was shown before could not be answered
		if _, err := st.questions(who, views); err != nil {
			return err
		}
	}
	return st.release(known)
}

// date notes since when sessions have been behind: at the longest since the last look.
func (st *stream) date() {
	for _, p := range st.cursors {
		if p.sent < p.last && p.late.IsZero() {
			p.late = st.looked
		}
	}
	st.looked = st.hub.o.Now()
}

// release lets go of sessions that the feed has forgotten, once all of them is delivered.
// While the consumer stood still, one may have gone on and ended.
func (st *stream) release(known map[string]bool) error {
	for session, p := range st.cursors {
		if known[session] {
			p.final = false
			continue
		}
		if !p.final {
			row, found, err := st.hub.session(st.ctx, api.SessionsRequest{Session: session})
			if err != nil {
				return err
			}
			p.final = true
			if found {
				p.last, p.ended = max(p.last, row.Last), row.Ended
			}
		}
		if p.ended && p.sent >= p.last && len(st.names) == 0 {
			delete(st.cursors, session)
			st.sub.done(st, session)
		}
	}
	return nil
}

// base is where a stream begins in a session that it has not known: at the first event
// where the session was named, else where the feed itself came to know of it.
func (st *stream) base(v view) int64 {
	if len(st.names) > 0 {
		return 0
	}
	return v.base
}

// addSession begins a session at a number.
func (st *stream) addSession(v view, at int64) {
	st.cursors[v.session] = &cursor{view: v, offered: at, sent: at}
	st.sub.setCursor(st, v.session, at)
}

// behind lists the sessions of which the pacer has not got everything, in a fixed order.
func (st *stream) behind() []*cursor {
	var all []*cursor
	for _, p := range st.cursors {
		if p.offered < p.last && p.empty != p.last {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *cursor) int { return cmp.Compare(a.session, b.session) })
	return all
}

// offerPage hands one page of a session to the pacer, and delivers what that lets go.
func (st *stream) offerPage(p *cursor) error {
	rows := st.hub.feed.recent(p.session, p.offered)
	if rows == nil {
		var err error
		if rows, err = st.hub.page(st.ctx, p.session, p.offered, 0); err != nil {
			return st.lost(p, err)
		}
	}
	if len(rows) == 0 {
		p.empty = p.last
		return nil
	}
	for _, e := range rows {
		if e.seq != p.offered+1 { // the ledger has no gaps; nothing may be passed over
			return &Error{Code: CodeLedgerChanged, Message: "the ledger has a gap in " + p.session, Hint: ErrLedgerChanged.Hint}
		}
		p.offered = e.seq
		if err := st.emit(st.offer(p.session, e)); err != nil || st.abandoned {
			return err
		}
	}
	return nil
}

// lost is what follows when a session cannot be read: one that is no longer there is let
// go, any other refusal ends the stream.
func (st *stream) lost(p *cursor, err error) error {
	if rpc.Code(err, utp.CodeNotFound) {
		p.last, p.empty = p.offered, p.offered
		return nil
	}
	return err
}

// offer hands one event to the pacer. What cannot be read is passed on as it is, rather
// than kept from the person.
func (st *stream) offer(session string, e entry) []pacing.Delivery {
	if e.strange != nil {
		st.hub.o.Logger.Warn("an event cannot be read and is passed on as it is", "session", session, "seq", e.seq, "error", e.strange)
		return []pacing.Delivery{{Session: session, First: e.seq, Last: e.seq, Raw: e.raw, Critical: true}}
	}
	return st.pacer.Offer(st.hub.o.Now(), pacing.Item{Session: session, Seq: e.seq, Event: e.event, Raw: e.raw})
}

// emit delivers, each delivery by the rights of that moment.
func (st *stream) emit(deliveries []pacing.Delivery) error {
	for _, d := range deliveries {
		p := st.cursors[d.Session]
		if p == nil {
			continue
		}
		who, err := st.hub.current(st.sub.who)
		if err != nil {
			st.sub.end(err)
			return err
		}
		if st.ctx.Err() != nil {
			return context.Cause(st.ctx) //nolint:wrapcheck // why judges it
		}
		if !who.Hears(p.owner) {
			continue
		}
		if d.Critical {
			d.Raw = st.offered(d.Raw)
		}
		if !who.Approves(p.owner) {
			d.Raw = masked(d.Raw)
		}
		if !st.deliver(p, d) {
			return nil
		}
	}
	return nil
}

// deliver reports false when the consumer has stopped.
func (st *stream) deliver(p *cursor, d pacing.Delivery) bool {
	if st.again[d.EventID] {
		delete(st.again, d.EventID)
		st.abandoned = !st.yield(Delivery{Delivery: d}, nil)
		st.handed(p, d)
		return !st.abandoned
	}
	st.sub.note(st, sent{id: d.EventID, session: d.Session, first: d.First, last: d.Last})
	if st.abandoned = !st.yield(Delivery{Delivery: d, Resumable: st.resumable(p, d)}, nil); st.abandoned {
		return false
	}
	p.sent = max(p.sent, d.Last)
	st.sub.setCursor(st, p.session, p.sent)
	st.handed(p, d)
	return true
}

// handed notes what a delivery has shown, if it was taken. Questions, and what becomes of them,
// are critical, and so are never merged into something else.
func (st *stream) handed(p *cursor, d pacing.Delivery) {
	if st.abandoned || !d.Critical {
		return
	}
	if e, err := aaep.DecodeEvent(d.Raw); err == nil {
		st.shows(p, e)
		st.notices(e)
	}
}

// resumable tells whether the ledger knows the delivery as one event (a merged one it does
// not), and nothing of another session is late: then all that was committed well before
// this event has been delivered.
func (st *stream) resumable(this *cursor, d pacing.Delivery) bool {
	if d.EventID == "" || d.First != d.Last {
		return false
	}
	limit := st.hub.o.Now().Add(-tolerable)
	for _, p := range st.cursors {
		if p != this && !p.late.IsZero() && p.late.Before(limit) {
			return false
		}
	}
	return true
}

// markDelivered notes of each session whether all of it has been delivered. What the terms leave
// out is never delivered; it counts once nothing is held.
func (st *stream) markDelivered() {
	idle := st.pacer.Queued() == 0
	for _, p := range st.cursors {
		if idle && p.sent < p.offered && !st.abandoned {
			p.sent = p.offered
			st.sub.setCursor(st, p.session, p.sent)
		}
		if p.sent >= p.last || p.empty == p.last {
			p.late = time.Time{}
		}
	}
}

// rest waits until there may be something to do.
func (st *stream) rest() error {
	var due <-chan time.Time
	if wake := st.pacer.Wake(); !wake.IsZero() {
		timer := time.NewTimer(wake.Sub(st.hub.o.Now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-st.ctx.Done():
		return context.Cause(st.ctx) //nolint:wrapcheck // why judges it
	case <-st.wakeup:
	case <-due:
	}
	st.looked = st.hub.o.Now() // until now nothing had come
	return nil
}

// page reads events of a session from the ledger.
func (h *Hub) page(ctx context.Context, session string, after int64, limit int) ([]entry, error) {
	var page api.EventsAnswer
	err := rpc.AskUntil(ctx, h.o.Conn, api.OpEvents, api.EventsRequest{Session: session, After: after, Limit: limit}, &page)
	rows := make([]entry, len(page.Events))
	for i, row := range page.Events {
		rows[i] = decode(row)
	}
	return rows, err
}
