package hub

import (
	"cmp"
	"errors"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// tail is how many events back to search for the state of a session: first a few, then many.
var tail = []int64{50, 1000} //nolint:gochecknoglobals // a table

// start determines the stream's initial position in each session.
func (st *stream) start(lastEventID string) error {
	who, err := st.hub.current(st.sub.who)
	if err != nil {
		st.sub.end(err)
		return err
	}
	views, life := st.hub.feed.join(st.mail, st.interest(who))
	st.life = life
	slices.SortFunc(views, func(a, b view) int { return cmp.Compare(a.session, b.session) })
	if lastEventID != "" {
		resumed, err := st.resume(who, views, lastEventID)
		if resumed || err != nil {
			return err
		}
	}
	st.sub.forget(st, life)
	if len(st.names) > 0 {
		return st.startNamed(who, views)
	}
	return st.join(who, views)
}

// startNamed starts the sessions that the subscription names at their first event.
func (st *stream) startNamed(who access.Principal, views []view) error {
	named, err := st.find(who, views)
	for _, v := range named {
		st.addSession(v, 0)
	}
	return err
}

// find returns the named sessions that the principal may follow. One that does not exist yet is followed once it
// begins.
func (st *stream) find(who access.Principal, views []view) (named []view, err error) {
	for _, session := range st.names {
		i := slices.IndexFunc(views, func(v view) bool { return v.session == session })
		v := view{session: session}
		if i >= 0 {
			v = views[i]
		} else {
			row, found, err := st.hub.session(st.ctx, api.SessionsRequest{Session: session})
			if err != nil {
				return nil, err
			}
			if !found {
				continue
			}
			v.owner, v.last, v.ended = row.Owner, row.Last, row.Ended
		}
		if who.Hears(v.owner) && st.terms.Hears(session) {
			named = append(named, v)
		}
	}
	return named, nil
}

// join brings a late joiner up to date on each open session (C-91), and sets its position after all events so far.
func (st *stream) join(who access.Principal, views []view) error {
	var open []view
	for _, v := range views {
		if !who.Hears(v.owner) || !st.terms.Hears(v.session) {
			continue
		}
		st.addSession(v, v.last)
		if !v.ended && v.last > 0 {
			open = append(open, v)
		}
	}
	if len(open) == 0 {
		return nil
	}
	questions, err := st.questions(who, open)
	if err != nil {
		return err
	}
	asked := map[string][]api.QuestionRow{}
	for _, q := range questions {
		asked[q.Session] = append(asked[q.Session], q)
	}
	for _, v := range open {
		if err := st.introduce(v, asked[v.session]); err != nil || st.abandoned {
			return err
		}
	}
	return nil
}

// questions lists the open questions of those whom the subscriber hears. Those that wait for somebody like this subscriber are marked as shown beforehand,
// so that they are not announced twice: as waiting and as asked again.
func (st *stream) questions(who access.Principal, open []view) ([]api.QuestionRow, error) {
	rows, _, err := st.hub.questionsFor(st.ctx, who, QuestionOptions{})
	if err != nil {
		return nil, err
	}
	mine := slices.DeleteFunc(slices.Clone(rows), func(q api.QuestionRow) bool {
		can := st.terms.CanConfirm()
		if q.Kind != "confirmation" {
			can = st.terms.CanClarify()
		}
		return !can || !slices.ContainsFunc(open, func(v view) bool { return v.session == q.Session })
	})
	if st.hub.presentAll(st.ctx, who, mine) {
		rows, _, err = st.hub.questionsFor(st.ctx, who, QuestionOptions{})
	}
	return rows, err
}

// introduce sends a session's first event again, its current state, and its open questions.
func (st *stream) introduce(v view, questions []api.QuestionRow) error {
	first, err := st.hub.page(st.ctx, v.session, 0, 1)
	if err != nil {
		return st.lost(st.cursors[v.session], err)
	}
	intro := slices.Clone(first)
	state, found, err := st.hub.state(st.ctx, v)
	if err != nil {
		return err
	}
	if found {
		if now, err := st.resync(v.session, state); err == nil {
			intro = append(intro, now)
		} else {
			st.hub.o.Logger.Error("a late joiner is not told where a session is", "session", v.session, "error", err)
		}
	}
	for _, q := range questions {
		if q.Seq > 0 && q.Seq <= v.last && len(q.Body) > 0 {
			intro = append(intro, newEntry(api.EventRow{Seq: q.Seq, Body: q.Body, Template: q.Template, Params: q.Params}))
		}
	}
	st.waited()
	for _, e := range intro {
		c := e.content()
		if c.unreadable != nil {
			continue
		}
		st.again[c.event.ID] = true
		if err := st.emit(st.offer(nil, v.session, e)); err != nil || st.abandoned {
			return err
		}
	}
	return st.flush()
}

// resync creates a state.changed from the current state to itself, marked as a resync, for this stream only.
func (st *stream) resync(session string, state *entry) (*entry, error) {
	was := state.content().event
	changed, is := was.Payload.(aaep.StateChanged)
	if !is {
		return nil, errors.New("no state")
	}
	changed.FromState = changed.ToState
	now := st.hub.o.Now()
	id, err := aaep.NewID(aaep.PrefixEvent, now, st.hub.o.Rand)
	if err != nil {
		return nil, err
	}
	e := aaep.Event{
		ID: id, SessionID: session, Time: now, Producer: was.Producer, Hints: was.Hints, Payload: changed,
	}
	if e, err = e.Extend(aaep.PrefixEarshot, "resync", true); err != nil {
		return nil, err
	}
	raw, err := e.Encode()
	return newEntry(api.EventRow{Seq: 1, Body: raw, Template: state.template, Params: state.params}), err
}

// resume continues after an event. It returns false if the event is unknown.
func (st *stream) resume(who access.Principal, views []view, id string) (bool, error) {
	if at, known := st.sub.behind(id, st.life); known {
		return true, st.resumeAt(who, views, at)
	}
	id = pacing.Original(id)
	named, err := st.find(who, views) // before the ledger is read: what comes in between counts as new
	if err != nil {
		return false, err
	}
	var since api.SinceAnswer
	event, begun := st.hub.feed.meant(id)
	q := api.SinceRequest{Event: event}
	if !begun { // the order of delivery around an event can differ from that of commits
		q.OverlapMS = overlap.Milliseconds()
	}
	if !who.HearsAll() {
		q.Owners = concerns(who, nil)
	}
	err = rpc.AskUntil(st.ctx, st.hub.o.Conn, api.OpSince, q, &since)
	if err == nil && !begun && !who.Hears(since.Owner) {
		return false, nil // they may not learn that such an event exists
	}
	if rpc.Code(err, utp.CodeNotFound) || rpc.Code(err, utp.CodeTooLarge) || rpc.Code(err, utp.CodeBadRequest) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	st.sub.forget(st, st.life)
	if len(st.names) > 0 {
		views = named
	}
	for _, v := range views {
		if who.Hears(v.owner) && st.terms.Hears(v.session) {
			st.addSession(v, v.last)
		}
	}
	for _, row := range since.Sessions {
		if !who.Hears(row.Owner) || !st.terms.Hears(row.Session) {
			continue
		}
		v := view{session: row.Session, owner: row.Owner, base: row.Seq, last: row.Last, ended: row.Ended, forgotten: row.Ended}
		if p, known := st.cursors[row.Session]; known {
			v = p.view
			v.last = max(v.last, row.Last)
		}
		st.addSession(v, row.Seq)
	}
	return true, nil
}

// resumeAt resumes at the positions that the subscription itself remembers, and in the sessions that are new since.
func (st *stream) resumeAt(who access.Principal, views []view, at map[string]int64) error {
	known := make(map[string]view, len(views))
	for _, v := range views {
		known[v.session] = v
	}
	for session, seq := range at {
		v, is := known[session]
		if !is { // it ended while there was no stream
			row, found, err := st.hub.session(st.ctx, api.SessionsRequest{Session: session})
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			v = view{session: session, owner: row.Owner, base: row.Last, last: row.Last, ended: row.Ended, forgotten: row.Ended}
		}
		if who.Hears(v.owner) && st.terms.Hears(session) {
			st.addSession(v, seq)
		}
	}
	for _, v := range views {
		st.see(&who, v)
	}
	return nil
}
