package hub

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
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

// stream is one run of Deliveries. But for stop and its mailbox, it belongs to the goroutine of its consumer.
//
// It is woken by the mailbox and looks only at the sessions in there, and it walks only over the sessions that are on
// the move: what an event costs it does not depend on how many sessions there are.
type stream struct {
	sub       *Subscription
	hub       *Hub
	ctx       context.Context //nolint:containedctx // the stream's own life
	stop      context.CancelCauseFunc
	mail      *mailbox
	yield     func(Delivery, error) bool
	abandoned bool // the consumer has stopped

	terms    pacing.Terms
	names    []string
	version  int
	pacer    *pacing.Pacer
	life     int
	cursors  map[string]*cursor
	moving   map[string]*cursor // of places: those that are not delivered to their end
	again    map[string]bool    // ids of events that are sent again for a late joiner
	looked   time.Time          // when it last knew how far every session was; at first, long ago
	due      []pacing.Delivery  // what leaves next, together
	dueBytes int
}

// cursor is where a stream is in one session.
type cursor struct {
	view

	offered int64     // handed to the pacer
	sent    int64     // delivered
	empty   int64     // the ledger had nothing behind offered although last said this
	late    time.Time // since when not everything is delivered; zero while all is
}

// behind answers whether the pacer has not got everything.
func (p *cursor) behind() bool { return p.offered < p.last && p.empty != p.last }

// moves answers whether something is left to be done about the session.
func (p *cursor) moves() bool { return p.behind() || p.sent < p.offered || !p.late.IsZero() }

func newStream(ctx context.Context, s *Subscription, yield func(Delivery, error) bool) *stream {
	st := &stream{
		sub: s, hub: s.hub, mail: newMailbox(), yield: yield,
		cursors: map[string]*cursor{}, moving: map[string]*cursor{}, again: map[string]bool{},
		terms: s.terms, names: s.names, version: s.version, looked: time.Unix(0, 0),
	}
	st.ctx, st.stop = context.WithCancelCause(ctx)
	st.pacer = pacing.NewPacer(st.terms, s.hub.o.Now())
	return st
}

// run delivers until the context or the consumer ends; then it returns why, or nil where
// that needs no word.
func (st *stream) run(lastEventID string) error {
	err := st.hub.feed.wait(st.ctx)
	if err == nil {
		defer st.hub.feed.leave(st.mail)
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
	if err := st.takeAll(); err != nil {
		return false, err
	}
	if err := st.emit(st.pacer.Tick(st.hub.o.Now())); err != nil {
		return false, err
	}
	if err := st.flush(); err != nil {
		return false, err
	}
	st.markDelivered()
	return st.pacer.Queued() < maxQueued && len(st.behind()) > 0, nil
}

// takeAll takes a page of each session of which the pacer has not got everything.
func (st *stream) takeAll() error {
	for _, p := range st.behind() {
		if st.pacer.Queued() >= maxQueued || st.abandoned {
			break
		}
		if err := st.offerPage(p); err != nil {
			return err
		}
	}
	return nil
}

// refresh takes in which sessions have gone on and how far, and new terms.
func (st *stream) refresh() error {
	who, err := st.hub.current(st.sub.who)
	if err != nil {
		st.sub.end(err)
		return err
	}
	news, afresh := st.mail.empty()
	for _, v := range news {
		st.see(who, v)
	}
	able, renegotiated, err := st.renegotiate()
	if err != nil {
		return err
	}
	if afresh || renegotiated {
		if err := st.lookAfresh(who, able); err != nil {
			return err
		}
	}
	st.date()
	return nil
}

// renegotiate puts new terms into force, where there are some. Able says that they let the subscriber answer what the ones
// before did not.
func (st *stream) renegotiate() (able, renegotiated bool, err error) {
	terms, names, version := st.sub.present()
	if version == st.version {
		return false, false, nil
	}
	if err := st.takeAll(); err != nil { // what the old terms leave out does not come back
		return false, false, err
	}
	able = terms.CanConfirm() && !st.terms.CanConfirm() || terms.CanClarify() && !st.terms.CanClarify()
	st.terms, st.names, st.version = terms, names, version
	return able, true, st.emit(st.pacer.SetTerms(st.hub.o.Now(), terms))
}

// lookAfresh looks at every session, and has the stream woken for what it hears now.
func (st *stream) lookAfresh(who access.Principal, able bool) error {
	views, life := st.hub.feed.join(st.mail, st.interest(who))
	if life != st.life {
		return ErrLedgerChanged
	}
	known := make(map[string]bool, len(views))
	for _, v := range views {
		known[v.session] = true
		st.see(who, v)
	}
	if err := st.flush(); err != nil {
		return err
	}
	for session, p := range st.cursors {
		if known[session] || p.forgotten {
			continue
		}
		if err := st.lookUp(p); err != nil {
			return err
		}
	}
	if !able {
		return nil
	}
	_, err := st.questions(who, views) // what was shown before could not be answered
	return err
}

func (st *stream) interest(who access.Principal) interest {
	return interest{who: who, terms: st.terms, names: st.names}
}

// see takes in how far a session is.
func (st *stream) see(who access.Principal, v view) {
	p, is := st.cursors[v.session]
	switch {
	case is:
		v.last = max(v.last, p.last)
		p.view = v
	case !v.forgotten && who.Hears(v.owner) && st.terms.Hears(v.session):
		p = st.addSession(v, st.base(v))
	default:
		return
	}
	if p.moves() || p.forgotten {
		st.moving[v.session] = p
	}
}

// lookUp asks the ledger how a session has ended that the feed has forgotten. While the consumer stood still, one may have gone
// on and ended.
func (st *stream) lookUp(p *cursor) error {
	row, found, err := st.hub.session(st.ctx, api.SessionsRequest{Session: p.session})
	if err != nil {
		return err
	}
	if found {
		p.last, p.ended = max(p.last, row.Last), row.Ended
	}
	p.forgotten = true
	st.moving[p.session] = p
	return nil
}

// date notes since when sessions have been behind: at the longest since the last look.
func (st *stream) date() {
	for _, p := range st.moving {
		if p.sent < p.last && p.late.IsZero() {
			p.late = st.looked
		}
	}
	st.looked = st.hub.o.Now()
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
func (st *stream) addSession(v view, at int64) *cursor {
	p := &cursor{view: v, offered: at, sent: at}
	st.cursors[v.session] = p
	if p.moves() || p.forgotten {
		st.moving[v.session] = p
	}
	st.sub.setCursor(st, v.session, at)
	return p
}

// behind lists the sessions of which the pacer has not got everything, in a fixed order.
func (st *stream) behind() []*cursor {
	var all []*cursor
	for _, p := range st.moving {
		if p.behind() {
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
		if err := st.flush(); err != nil || st.abandoned { // nothing waits for the ledger
			return err
		}
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
	case <-st.mail.bell:
	case <-due:
	}
	st.looked = st.hub.o.Now() // until now nothing had come
	return nil
}

// page reads events of a session from the ledger.
func (h *Hub) page(ctx context.Context, session string, after int64, limit int) ([]*entry, error) {
	var page api.EventsAnswer
	err := rpc.AskUntil(ctx, h.o.Conn, api.OpEvents, api.EventsRequest{Session: session, After: after, Limit: limit}, &page)
	rows := make([]*entry, len(page.Events))
	for i, row := range page.Events {
		rows[i] = newEntry(row)
	}
	return rows, err
}
