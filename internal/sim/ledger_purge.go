package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// blobGrace is how long a blob that nothing refers to is left alone, leaveGrace how long a
	// turn that has ended waits for its messages to leave.
	blobGrace  = time.Hour
	leaveGrace = time.Minute
)

// purging is a purge, and what it has done so far.
type purging struct {
	store.Purge
	store.Purged
}

// Purge implements [store.Tx].
func (t *tx) Purge(q store.Purge) (store.Purged, error) {
	p := &purging{Purge: q}
	if err := t.writable(); err != nil {
		return p.Purged, err
	}
	t.purge(p)
	return p.Purged, nil
}

// purge erases expired content, at most Limit of each kind.
func (t *tx) purge(p *purging) {
	found := t.turnsBy(p.Limit, func(row turnRow) bool { return t.erasable(p, row) })
	for _, row := range found {
		t.erase(p, row)
	}
	if p.More = len(found) == p.Limit; p.Project != "" && p.Turns == nil && !p.More {
		for _, row := range t.turnsBy(0, func(row turnRow) bool {
			return row.rec.State.Project == p.Project && row.rec.State.Status == turn.Ended && !row.rec.Erased
		}) {
			p.Waiting = append(p.Waiting, row.rec.State.Turn)
		}
	}
	if !p.Keys.IsZero() {
		t.dropKeys(p)
	}
	if !p.Receipts.IsZero() {
		t.forget(p)
	}
	if !p.Content.IsZero() {
		t.dropStrayCards(p)
	}
	if !p.Receipts.IsZero() {
		t.dropActs(p)
	}
	t.release(p, func(b blob) bool { return b.created.Before(t.now().Add(-blobGrace)) })
}

// turnsBy lists the oldest turns that fit.
func (t *tx) turnsBy(limit int, fits func(turnRow) bool) []turnRow {
	var rows []turnRow
	for _, row := range t.rows.turns {
		if fits(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b turnRow) int { return inOrder(store.TurnFilter{}, a.rec, b.rec) })
	return firstOf(rows, limit)
}

func firstOf[T any](rows []T, limit int) []T {
	if limit > 0 && len(rows) > limit {
		return rows[:limit]
	}
	return rows
}

func (t *tx) erasable(p *purging, row turnRow) bool {
	s := row.rec.State
	if s.Status != turn.Ended || row.rec.Erased || t.leaving(s.Session) {
		return false
	}
	switch {
	case p.Turns != nil:
		return slices.Contains(p.Turns, s.Turn)
	case p.Project != "":
		return s.Project == p.Project
	case !p.Content.IsZero():
		return row.rec.Created.Before(p.Content) &&
			!slices.ContainsFunc(t.rows.events[s.Session], func(e store.Event) bool { return !e.At.Before(p.Content) })
	default:
		return false
	}
}

// leaving reports whether a message of a session may be on its way.
func (t *tx) leaving(session string) bool {
	for _, o := range t.rows.outbox {
		if o.Session == session && o.created.After(t.now().Add(-leaveGrace)) {
			return true
		}
	}
	return false
}

// removeIf takes the rows out that fit.
func removeIf[K comparable, V any](t *tx, m map[K]V, fits func(K, V) bool) {
	for k, v := range m {
		if fits(k, v) {
			removeRow(t, m, k)
		}
	}
}

// erase takes the content of one turn out.
func (t *tx) erase(p *purging, row turnRow) {
	s := row.rec.State
	ofTurn := func(call string) bool { return call != "" && t.rows.calls[call] == s.Turn }
	var named []string // blobs
	removeIf(t, t.rows.cards, func(_ string, c utp.Card) bool {
		if t.turnOf(c) != s.Turn {
			return false
		}
		removeRow(t, t.rows.ends, [2]string{c.Project, c.ToolCallID})
		named = append(named, store.BlobsIn(c.Content)...)
		return true
	})
	removeIf(t, t.rows.sealed, func(call string, _ []store.Sealed) bool { return ofTurn(call) })
	removeIf(t, t.rows.late, func(call string, _ []store.Report) bool { return ofTurn(call) })
	removeRow(t, t.rows.results, s.Turn)
	t.unbox(s.Turn)
	removeIf(t, t.rows.permissions, func(_ int, p standing.Permission) bool { return p.Origin == s.Session })
	t.untell(s.Session)
	t.unsend(s.Session)
	for id, c := range t.rows.callDocuments {
		if ofTurn(id) {
			p.Calls = append(p.Calls, id)
			putRow(t, t.rows.callDocuments, id, turn.Call{
				ID: c.ID, Tool: c.Tool, Target: c.Target, State: c.State, Class: c.Class, Risk: c.Risk, Definition: c.Definition,
				Question: c.Question, Digest: c.Digest, Fence: c.Fence,
			})
		}
	}
	slices.Sort(p.Calls)
	row.rec, row.erased = bare(row.rec), t.now()
	putRow(t, t.rows.turns, s.Turn, row)
	p.Erased = append(p.Erased, s.Turn)
	t.releaseOnly(p, named)
}

// bare is a turn without its content.
func bare(r store.Record) store.Record {
	s := r.State
	kept := turn.State{
		Turn: s.Turn, Session: s.Session, Project: s.Project, Channel: s.Channel, Agent: s.Agent, Owner: s.Owner,
		Status: turn.Ended, Epoch: s.Epoch, Step: s.Step, Applied: s.Applied, Tally: s.Tally,
	}
	if s.End != nil {
		kept.End = &turn.End{Status: s.End.Status, Code: s.End.Code}
	}
	return store.Record{State: kept, Created: r.Created, Due: r.Due, Free: r.Free, Erased: true, Imported: r.Imported, Unfinished: r.Unfinished, Version: r.Version + 1}
}

// untell removes the events of a session.
func (t *tx) untell(session string) {
	removeRow(t, t.rows.events, session)
	removeIf(t, t.rows.eventRefs, func(_ string, at eventRef) bool { return at.session == session })
	before := t.rows.order
	t.undo = append(t.undo, func() { t.rows.order = before })
	t.rows.order = slices.DeleteFunc(slices.Clone(before), func(at eventRef) bool { return at.session == session })
}

// unsend removes the messages of a session.
func (t *tx) unsend(session string) {
	of := func(_ int64, o outgoing) bool { return o.Session == session }
	removeIf(t, t.rows.dead, of)
	removeIf(t, t.rows.outbox, of)
}

// forget removes erased turns whose last receipt is old enough, with their receipts.
func (t *tx) forget(p *purging) {
	found := t.turnsBy(p.Limit, func(row turnRow) bool {
		return row.rec.Erased && row.rec.Created.Before(p.Receipts) && row.erased.Before(p.Receipts) &&
			!slices.ContainsFunc(t.rows.receipts[row.rec.State.Session], func(r store.Receipt) bool { return !r.At.Before(p.Receipts) })
	})
	for _, row := range found {
		s := row.rec.State
		ofTurn := func(call string) bool { return t.rows.calls[call] == s.Turn }
		for _, r := range t.rows.receipts[s.Session] {
			t.chain(api.AuditEntry{Kind: audit.Forgotten, Of: r.Entry})
		}
		t.forgetActs(func(e api.AuditEntry) bool { return e.Act.Call != "" && e.Act.Session == s.Session }, 0)
		removeRow(t, t.rows.receipts, s.Session)
		removeIf(t, t.rows.consents, func(call string, _ consentRow) bool { return ofTurn(call) })
		removeIf(t, t.rows.grants, func(key startKey, _ store.Grant) bool { return ofTurn(key.call) })
		removeIf(t, t.rows.reports, func(_ string, r report) bool { return r.Turn == s.Turn })
		removeIf(t, t.rows.tokens, func(_ string, number int) bool { return t.rows.questions[number].turn == s.Turn })
		removeIf(t, t.rows.questions, func(_ int, q question) bool { return q.turn == s.Turn })
		removeIf(t, t.rows.callDocuments, func(call string, _ turn.Call) bool { return ofTurn(call) })
		removeIf(t, t.rows.calls, func(_, id string) bool { return id == s.Turn })
		removeRow(t, t.rows.sessions, s.Session)
		removeRow(t, t.rows.turns, s.Turn)
	}
	p.Dropped, p.More = len(found), p.More || len(found) == p.Limit
}

// dropActs forgets what operators have done, once it is old enough.
func (t *tx) dropActs(p *purging) {
	gone := t.forgetActs(func(e api.AuditEntry) bool { return e.Act.Call == "" && e.At.Before(p.Receipts) }, p.Limit)
	p.More = p.More || gone == p.Limit
}

// forgetActs takes the first acts that fit out of their entries, and says so in the chain.
func (t *tx) forgetActs(fits func(api.AuditEntry) bool, limit int) int {
	before := t.rows.audit
	t.undo = append(t.undo, func() { t.rows.audit = before })
	t.rows.audit = slices.Clone(before)
	var gone []int64
	for i := range t.rows.audit {
		if e := &t.rows.audit[i]; e.Act != nil && fits(*e) && (limit == 0 || len(gone) < limit) {
			e.Act, gone = nil, append(gone, e.N)
		}
	}
	for _, n := range gone {
		t.chain(api.AuditEntry{Kind: audit.Forgotten, Of: n})
	}
	return len(gone)
}

// dropKeys forgets keys of requests whose time is over.
func (t *tx) dropKeys(p *purging) {
	var old []store.RequestKey
	for _, k := range t.rows.keys {
		if !k.Lasting && !k.At.After(p.Keys) {
			old = append(old, k)
		}
	}
	slices.SortFunc(old, func(a, b store.RequestKey) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Key, b.Key))
	})
	old = firstOf(old, p.Limit)
	for _, k := range old {
		removeRow(t, t.rows.keys, [2]string{k.Principal, k.Key})
	}
	p.More = p.More || len(old) == p.Limit
}

// turnOf is the turn that a card belongs to: the one that its lineage names, or else its call's.
func (t *tx) turnOf(c utp.Card) string { return cmp.Or(c.TurnID(), t.rows.calls[c.ToolCallID]) }

// dropStrayCards removes old cards of no turn that has content still.
func (t *tx) dropStrayCards(p *purging) {
	var strays []utp.Card
	for _, c := range t.rows.cards {
		if row, ours := t.rows.turns[t.turnOf(c)]; (!ours || row.rec.Erased) && c.CreatedAt.Before(p.Content) {
			strays = append(strays, c)
		}
	}
	slices.SortFunc(strays, func(a, b utp.Card) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	strays = firstOf(strays, p.Limit)
	for _, c := range strays {
		removeRow(t, t.rows.cards, c.ID)
		removeRow(t, t.rows.ends, [2]string{c.Project, c.ToolCallID})
	}
	p.Strays, p.More = len(strays), p.More || len(strays) == p.Limit
}

// releaseOnly removes those of the blobs that nothing refers to any more.
func (t *tx) releaseOnly(p *purging, named []string) {
	for _, sha := range named {
		if _, is := t.rows.blobs[sha]; is && !t.referred(sha) {
			removeRow(t, t.rows.blobs, sha)
			p.Blobs++
		}
	}
}

func (t *tx) referred(sha string) bool {
	for _, c := range t.rows.cards {
		if slices.Contains(store.BlobsIn(c.Content), sha) {
			return true
		}
	}
	return false
}

// release removes the blobs that fit, and that nothing refers to.
func (t *tx) release(p *purging, fits func(blob) bool) {
	var strays []string
	for sha, b := range t.rows.blobs {
		if fits(b) && !t.referred(sha) {
			strays = append(strays, sha)
		}
	}
	slices.Sort(strays)
	strays = firstOf(strays, p.Limit)
	p.More = p.More || len(strays) == p.Limit
	t.releaseOnly(p, strays)
}
