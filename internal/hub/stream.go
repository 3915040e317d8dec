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
	// maxQueued is how many events may wait for a subscriber's budget before the stream stops reading.
	maxQueued = 4096
	// tolerable is how late an event may be before the events that overtake it are no longer resume points. It is well
	// below the overlap of a resumption.
	tolerable = 5 * time.Second
	overlap   = 4 * tolerable
)

// stream is one run of Deliveries. Except for stop and its mailbox, it belongs to the goroutine of its consumer.
//
// The mailbox wakes it and names the sessions to look at, and it visits only sessions that are moving. The cost of an
// event therefore does not depend on the number of sessions.
type stream struct {
	sub       *Subscription
	hub       *Hub
	ctx       context.Context //nolint:containedctx // the stream's own life
	stop      context.CancelCauseFunc
	mail      *mailbox
	yield     func(Delivery, error) bool
	abandoned bool // the consumer has stopped

	terms    *pacing.Terms // those of the subscription, which makes others for new ones
	language Translation   // that of the terms; nil for that of the ledger's events
	names    []string
	version  int
	pacer    *pacing.Pacer
	life     int
	cursors  map[string]*cursor
	moving   []*cursor // cursors that are not fully delivered, by session
	now      time.Time // a moment ago: since the stream last waited for anybody
	rights   rights
	again    map[string]bool    // ids of events that are sent again for a late joiner
	looked   time.Time          // when it last knew the progress of every session; at first, long ago
	due      *[]pacing.Delivery // the next batch; nil while nothing is due
	dueBytes int
	tokens   bool      // an event that is held or due may name a reply token
	judged   time.Time // when it last looked for sessions that are late
	late     *cursor   // one of them
	lates    int       // how many there are
}

// cursor is the position of a stream in one session.
type cursor struct {
	view

	offered int64     // passed to the pacer
	sent    int64     // delivered
	empty   int64     // the value of last for which the ledger had nothing after offered
	late    time.Time // since when deliveries are pending; zero if none are
	moving  bool      // it is among those of the stream
}

// behind reports whether the pacer is missing events.
func (p *cursor) behind() bool { return p.offered < p.last && p.empty != p.last }

// moves reports whether work remains for the session.
func (p *cursor) moves() bool { return p.behind() || p.sent < p.offered || !p.late.IsZero() }

func newStream(ctx context.Context, s *Subscription, yield func(Delivery, error) bool) *stream {
	st := &stream{
		sub: s, hub: s.hub, mail: newMailbox(), yield: yield,
		cursors: map[string]*cursor{}, again: map[string]bool{},
		terms: s.terms, names: s.names, version: s.version, looked: time.Unix(0, 0), now: s.hub.o.Now(),
	}
	st.language = s.hub.translation(st.terms.Language)
	st.ctx, st.stop = context.WithCancelCause(ctx)
	st.pacer = pacing.NewPacer(*st.terms, st.now)
	return st
}

// run delivers until the context or the consumer ends. It then returns the reason, or nil if there is nothing to
// report.
func (st *stream) run(lastEventID string) error {
	awake := context.AfterFunc(st.ctx, st.mail.ring)
	defer awake()
	err := st.hub.feed.wait(st.ctx)
	if err == nil {
		defer st.hub.feed.leave(st.mail)
		err = st.start(lastEventID)
	}
	for err == nil && !st.abandoned {
		var more bool
		if more, err = st.round(); err == nil && !more && !st.abandoned {
			err = st.rest()
		}
	}
	return st.why(err)
}

// why returns the error that the consumer gets.
func (st *stream) why(err error) error {
	if st.ctx.Err() == nil {
		return err
	}
	if cause, ours := context.Cause(st.ctx).(*Error); ours { //nolint:errorlint // ours are never wrapped
		return cause
	}
	return nil
}

// round takes in what is new and delivers what is due. more reports that more remains.
func (st *stream) round() (more bool, err error) {
	if err := st.refresh(); err != nil {
		return false, err
	}
	if err := st.takeAll(); err != nil {
		return false, err
	}
	if err := st.emit(st.pacer.Tick(st.now)); err != nil {
		return false, err
	}
	if err := st.flush(); err != nil {
		return false, err
	}
	st.markDelivered()
	if st.pacer.Queued() == 0 && st.due == nil {
		st.tokens = false
	}
	return st.pacer.Queued() < maxQueued && slices.ContainsFunc(st.moving, (*cursor).behind), nil
}

// takeAll reads a page of each session of which the pacer is missing events.
func (st *stream) takeAll() error {
	for _, p := range st.moving {
		if !p.behind() {
			continue
		}
		if st.pacer.Queued() >= maxQueued || st.abandoned {
			break
		}
		if err := st.offerPage(p); err != nil {
			return err
		}
	}
	return nil
}

// refresh takes in the progress of the sessions, and new terms.
func (st *stream) refresh() error {
	st.now, st.rights.known = st.hub.o.Now(), false
	who, err := st.mayNow()
	if err != nil {
		return err
	}
	afresh := st.mail.empty(func(v view) { st.see(who, v) })
	able, renegotiated, err := st.renegotiate()
	if err != nil {
		return err
	}
	if afresh || renegotiated {
		if err := st.lookAfresh(*who, able); err != nil {
			return err
		}
	}
	st.date()
	return nil
}

// renegotiate applies new terms, if there are any. able reports that they allow the subscriber to answer, which the
// former ones did not.
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
	st.language = st.hub.translation(terms.Language)
	return able, true, st.emit(st.pacer.SetTerms(st.now, *terms))
}

// lookAfresh visits every session, and registers the stream for its current sessions.
func (st *stream) lookAfresh(who access.Principal, able bool) error {
	views, life := st.hub.feed.join(st.mail, st.interest(who))
	if life != st.life {
		return ErrLedgerChanged
	}
	known := make(map[string]bool, len(views))
	for _, v := range views {
		known[v.session] = true
		st.see(&who, v)
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

// see takes in the progress of a session.
func (st *stream) see(who *access.Principal, v view) {
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
	st.move(p)
}

// move has the stream visit a session, if work remains for it.
func (st *stream) move(p *cursor) {
	if p.moving || !p.moves() && !p.forgotten {
		return
	}
	p.moving = true
	at, _ := slices.BinarySearchFunc(st.moving, p.session, func(other *cursor, session string) int { return cmp.Compare(other.session, session) })
	st.moving = slices.Insert(st.moving, at, p)
}

// lookUp asks the ledger how a session ended that the feed has forgotten. It may have advanced and ended while the
// consumer was blocked.
func (st *stream) lookUp(p *cursor) error {
	row, found, err := st.hub.session(st.ctx, api.SessionsRequest{Session: p.session})
	if err != nil {
		return err
	}
	if found {
		p.last, p.ended = max(p.last, row.Last), row.Ended
	}
	p.forgotten = true
	st.move(p)
	return nil
}

// date records since when sessions have been behind: since the last look, at the longest.
func (st *stream) date() {
	for _, p := range st.moving {
		if p.sent < p.last && p.late.IsZero() {
			p.late = st.looked
		}
	}
	st.looked = st.now
}

// base returns the starting position in a session that is new to the stream. It is the first event if the terms name
// the session, otherwise the position at which the feed first knew of it.
func (st *stream) base(v view) int64 {
	if len(st.names) > 0 {
		return 0
	}
	return v.base
}

// addSession adds a session at a position.
func (st *stream) addSession(v view, at int64) *cursor {
	if before, known := st.cursors[v.session]; known && before.moving {
		st.moving = slices.DeleteFunc(st.moving, func(p *cursor) bool { return p == before })
	}
	p := &cursor{view: v, offered: at, sent: at}
	st.cursors[v.session] = p
	st.move(p)
	st.sub.setCursor(st, v.session, at)
	return p
}

// offerPage passes one page of a session to the pacer, and delivers what is then due.
func (st *stream) offerPage(p *cursor) error {
	page := borrowPage()
	defer page.giveBack()
	page.rows = st.hub.feed.recent(page.rows, p.session, p.offered)
	rows := page.rows
	if len(rows) == 0 {
		if err := st.flush(); err != nil || st.abandoned { // nothing that is due waits for the ledger
			return err
		}
		var err error
		rows, err = st.hub.page(st.ctx, p.session, p.offered, 0)
		if st.waited(); err != nil {
			return st.lost(p, err)
		}
	}
	if len(rows) == 0 {
		p.empty = p.last
		return nil
	}
	for _, e := range rows {
		if e.seq != p.offered+1 { // the ledger has no gaps; nothing may be skipped
			return &Error{Code: CodeLedgerChanged, Message: "the ledger has a gap in " + p.session, Hint: ErrLedgerChanged.Hint}
		}
		p.offered = e.seq
		page.leaving = st.offer(page.leaving[:0], p.session, e)
		if err := st.emit(page.leaving); err != nil || st.abandoned {
			return err
		}
	}
	return nil
}

// lost handles a session that cannot be read. One that no longer exists is dropped; any other refusal ends the stream.
func (st *stream) lost(p *cursor, err error) error {
	if rpc.Code(err, utp.CodeNotFound) {
		p.last, p.empty = p.offered, p.offered
		return nil
	}
	return err
}

// rest blocks until there may be something to do.
func (st *stream) rest() error {
	if wake := st.pacer.Wake(); wake.IsZero() {
		<-st.mail.bell
	} else {
		timer := time.NewTimer(wake.Sub(st.hub.o.Now()))
		defer timer.Stop()
		select {
		case <-st.mail.bell:
		case <-timer.C:
		}
	}
	if st.ctx.Err() != nil { // by which the bell rings, too
		return context.Cause(st.ctx) //nolint:wrapcheck // why judges it
	}
	st.looked = st.hub.o.Now() // nothing had come until now
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
