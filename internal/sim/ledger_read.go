package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Turn implements [store.Tx].
func (t *tx) Turn(ref store.TurnRef) (store.Record, error) {
	if err := t.usable(); err != nil {
		return store.Record{}, err
	}
	id, err := t.locate(ref)
	if err != nil {
		return store.Record{}, err
	}
	row, is := t.rows.turns[id]
	if !is {
		return store.Record{}, missing("the turn of", ref)
	}
	return recordOf(row.rec), nil
}

// locate finds the turn of a handle. An empty one leads nowhere.
func (t *tx) locate(ref store.TurnRef) (string, error) {
	var ids []string
	if ref.Turn != "" {
		ids = append(ids, ref.Turn)
	}
	if ref.Session != "" {
		ids = append(ids, t.rows.sessions[ref.Session])
	}
	if ref.Call != "" {
		ids = append(ids, t.rows.calls[ref.Call])
	}
	if ref.Token != "" {
		ids = append(ids, t.rows.questions[t.rows.tokens[ref.Token]].turn)
	}
	if ref.Question != 0 {
		ids = append(ids, t.rows.questions[ref.Question].turn)
	}
	switch len(ids) {
	case 0:
		return "", missing("a turn without a handle", ref)
	case 1:
		return ids[0], nil
	default:
		return "", fmt.Errorf("%w: %d handles of one turn", errInvalid, len(ids))
	}
}

// Turns implements [store.Tx].
func (t *tx) Turns(f store.TurnFilter) ([]store.TurnRow, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if f.Claim && !t.writes {
		return nil, fmt.Errorf("%w: claiming turns", store.ErrReadOnly)
	}
	behind, err := t.behind(f)
	if err != nil {
		return nil, err
	}
	var recs []store.Record
	for _, row := range t.rows.turns {
		if t.fits(f, row.rec) && (f.After == "" || inOrder(f, row.rec, behind) > 0) {
			recs = append(recs, row.rec)
		}
	}
	slices.SortFunc(recs, func(a, b store.Record) int { return inOrder(f, a, b) })
	if f.Limit > 0 && len(recs) > f.Limit {
		recs = recs[:f.Limit]
	}
	var rows []store.TurnRow
	for _, r := range recs {
		row := t.rowOf(r)
		if !f.Due.IsZero() || !f.Free.IsZero() {
			row.Position = positionOf(f, r)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// OpenQuestions implements [store.Tx].
func (t *tx) OpenQuestions(f store.QuestionFilter) ([]store.OpenQuestion, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.OpenQuestion
	for number, q := range t.rows.questions {
		s := t.rows.turns[q.turn].rec.State
		if q.state == consent.Open && number > f.After && (len(f.Owners) == 0 || slices.Contains(f.Owners, s.Owner)) {
			rows = append(rows, store.OpenQuestion{Number: number, Turn: q.turn, Session: s.Session, Owner: s.Owner})
		}
	}
	slices.SortFunc(rows, func(a, b store.OpenQuestion) int { return cmp.Compare(a.Number, b.Number) })
	if f.Limit > 0 && len(rows) > f.Limit {
		rows = rows[:f.Limit]
	}
	return rows, nil
}

// behind is the place behind which a list goes on.
func (t *tx) behind(f store.TurnFilter) (store.Record, error) {
	row, is := t.rows.turns[f.After]
	switch {
	case f.After == "":
		return store.Record{}, nil
	case !f.Due.IsZero() || !f.Free.IsZero():
		return store.Record{State: turn.State{Turn: f.After}, Due: f.Position, Free: f.Position}, nil
	case !is:
		return store.Record{}, missing("the turn", f.After)
	}
	return row.rec, nil
}

// positionOf is what a list is ordered by, before the turn's id.
func positionOf(f store.TurnFilter, r store.Record) time.Time {
	switch {
	case !f.Due.IsZero():
		return r.Due
	case !f.Free.IsZero():
		return r.Free
	case f.Active:
		return time.Time{}
	default:
		return r.Created
	}
}

func inOrder(f store.TurnFilter, a, b store.Record) int {
	n := cmp.Or(positionOf(f, a).Compare(positionOf(f, b)), cmp.Compare(a.State.Turn, b.State.Turn))
	if f.Newest {
		n = -n
	}
	return n
}

func (t *tx) fits(f store.TurnFilter, r store.Record) bool {
	s := r.State
	switch {
	case f.Turn != "" && s.Turn != f.Turn,
		f.Session != "" && s.Session != f.Session,
		f.Agent != "" && s.Agent != f.Agent,
		f.Worker != "" && s.Worker != f.Worker,
		!named(f, s),
		!f.Due.IsZero() && (r.Due.IsZero() || r.Due.After(f.Due)),
		!f.Free.IsZero() && (r.Free.IsZero() || r.Free.After(f.Free)),
		f.Open && s.Status == turn.Ended,
		f.Active && !s.IsActive(),
		len(f.Statuses) > 0 && !slices.Contains(f.Statuses, s.Status),
		len(f.Owners) > 0 && !slices.Contains(f.Owners, s.Owner):
		return false
	}
	return !f.Asking || t.asks(s.Turn)
}

func named(f store.TurnFilter, s turn.State) bool {
	if len(f.Names) > 0 && (s.Project != f.Project || s.Name == "" || !slices.Contains(f.Names, s.Name)) {
		return false
	}
	return f.Topic == "" || s.Topic == f.Topic
}

func (t *tx) asks(id string) bool {
	for _, q := range t.rows.questions {
		if q.turn == id && q.state == consent.Open {
			return true
		}
	}
	return false
}

func (t *tx) rowOf(r store.Record) store.TurnRow {
	s := r.State
	row := store.TurnRow{
		Turn: s.Turn, Session: s.Session, Agent: s.Agent, Name: s.Name, Owner: s.Owner, Status: s.Status, Created: r.Created,
		Request: r.Request, Last: t.rows.turns[s.Turn].seq,
	}
	if s.End != nil {
		row.Summary = s.End.Message
	}
	return row
}

// Events implements [store.Tx].
func (t *tx) Events(f store.EventFilter) ([]store.Event, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if f.Session != "" {
		return page(t.rows.events[f.Session], func(e store.Event) bool { return e.Seq > f.After }, f.Limit), nil
	}
	var rows []store.Event
	for _, id := range f.IDs {
		if at, is := t.rows.eventRefs[id]; is {
			rows = append(rows, t.rows.events[at.session][at.seq-1])
		}
	}
	slices.SortFunc(rows, func(a, b store.Event) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
	})
	return slices.CompactFunc(rows, func(a, b store.Event) bool { return a.ID == b.ID }), nil
}

// page is the first rows, at most limit of them, that fit.
func page[T any](rows []T, fits func(T) bool, limit int) []T {
	var out []T
	for _, row := range rows {
		if len(out) < limit && fits(row) {
			out = append(out, row)
		}
	}
	return out
}

// Since implements [store.Tx].
func (t *tx) Since(p store.Point) (store.Progress, error) {
	first := !t.used
	if err := t.usable(); err != nil {
		return store.Progress{}, err
	}
	if !first {
		return store.Progress{}, fmt.Errorf("%w: what has gone on is asked first of all", errInvalid)
	}
	out := store.Progress{Newest: p.Event}
	if n := len(t.rows.order); n > 0 {
		out.Newest = t.rows.order[n-1].id
	}
	var from eventRef
	told := int64(0) // rows that other sessions count as told
	if p.Event != "" {
		var is bool
		if from, is = t.rows.eventRefs[p.Event]; !is {
			return store.Progress{}, missing("the event", p.Event)
		}
		out.Owner = t.rows.turns[t.rows.sessions[from.session]].rec.State.Owner
		told = t.overlapped(from, p)
	}
	if p.Limit > 0 {
		out.Sessions = t.advances(from, told, p)
	}
	if len(out.Sessions) > p.Limit {
		out.Sessions, out.More = out.Sessions[:p.Limit], true
	}
	return out, nil
}

// overlapped moves a point back by the time that its overlap says.
func (t *tx) overlapped(from eventRef, p store.Point) int64 {
	if p.Overlap <= 0 {
		return from.row
	}
	since := from.at.Add(-p.Overlap)
	for _, at := range slices.Backward(t.rows.order) {
		if at.row < from.row && at.at.Before(since) {
			return at.row
		}
	}
	return 0
}

func (t *tx) advances(from eventRef, told int64, p store.Point) []store.Advance {
	first := map[string]int64{}
	for _, at := range t.rows.order {
		if _, seen := first[at.session]; at.row > told && !seen {
			first[at.session] = at.seq
		}
	}
	var out []store.Advance
	for _, session := range slices.Sorted(maps.Keys(first)) {
		row := t.rows.turns[t.rows.sessions[session]]
		if !row.rec.Imported.IsZero() {
			continue
		}
		a := store.Advance{
			Session: session, Owner: row.rec.State.Owner, Seq: first[session] - 1, Last: row.seq,
			Ended: row.rec.State.Status == turn.Ended,
		}
		if session == from.session {
			a.Seq = from.seq
		}
		if a.Seq < a.Last && (len(p.Owners) == 0 || slices.Contains(p.Owners, a.Owner)) && len(out) <= p.Limit {
			out = append(out, a)
		}
	}
	return out
}

// Tools implements [store.Tx].
func (t *tx) Tools(f store.ToolFilter) ([]store.Tool, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if t.toolsRead == nil {
		t.toolsRead = map[string]store.Tool{}
	}
	for _, name := range f.Names {
		t.toolsRead[name] = store.Tool{} // not there, unless it is found now
	}
	rows := listed(t.rows.tools, f.Names, func(tool store.Tool, name string) bool {
		return name > f.After && (f.Service == "" || strings.Contains(tool.Definition.Target, store.CommandsTo(f.Service)))
	}, f.Limit)
	for _, tool := range rows {
		t.toolsRead[tool.Definition.Tool] = tool
	}
	return rows, nil
}

// listed is rows in the order of their keys: those of these keys, of nil all, that fit.
func listed[V any](rows map[string]V, keys []string, fits func(V, string) bool, limit int) []V {
	if keys == nil {
		keys = slices.Collect(maps.Keys(rows))
	}
	var out []V
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		row, is := rows[key]
		if is && fits(row, key) && (limit <= 0 || len(out) < limit) {
			out = append(out, row)
		}
	}
	return out
}

// Sealed implements [store.Tx].
func (t *tx) Sealed(call string) ([]store.Sealed, error) {
	rows := slices.SortedFunc(slices.Values(t.rows.sealed[call]), func(a, b store.Sealed) int { return cmp.Compare(a.Ref, b.Ref) })
	return rows, t.usable()
}

// Receipts implements [store.Tx].
func (t *tx) Receipts(session string) ([]store.Receipt, error) {
	return slices.Clone(t.rows.receipts[session]), t.usable()
}

// Calls implements [store.Tx].
func (t *tx) Calls(f store.CallFilter) ([]turn.Call, error) {
	return listed(t.rows.callDocuments, nil, func(_ turn.Call, id string) bool {
		return t.rows.calls[id] == f.Turn && id > f.After && (f.Call == "" || f.Call == id)
	}, f.Limit), t.usable()
}

// Preferences implements [store.Tx].
func (t *tx) Preferences(person string) (store.Preferences, error) {
	return t.rows.preferences[person], t.usable()
}

// RequestKey implements [store.Tx].
func (t *tx) RequestKey(principal, key string) (store.RequestKey, error) {
	return t.rows.keys[[2]string{principal, key}], t.usable()
}

// Unchained implements [store.Tx]. Every receipt of this ledger has its entry.
func (t *tx) Unchained() (api.AuditUnchained, error) { return api.AuditUnchained{}, t.usable() }

// InForce implements [store.Tx].
func (t *tx) InForce(kind string) ([]store.InForce, error) {
	var rows []store.InForce
	for _, row := range t.rows.inForce {
		if row.Kind == kind {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b store.InForce) int { return cmp.Compare(a.Subject, b.Subject) })
	return rows, t.usable()
}

// Permissions implements [store.Tx].
func (t *tx) Permissions(f store.PermissionFilter) ([]standing.Permission, error) {
	var rows []standing.Permission //nolint:prealloc // An empty list is none, as in the other ledgers.
	for _, number := range slices.Sorted(maps.Keys(t.rows.permissions)) {
		p := t.rows.permissions[number]
		switch {
		case f.Number > 0 && number != f.Number, number <= f.After, f.Live && p.Ended != nil,
			f.Origin != "" && p.Origin != f.Origin, f.Tool != "" && p.Tool != f.Tool, f.Agent != "" && p.Agent != f.Agent,
			f.Owners != nil && !slices.Contains(f.Owners, p.Owner):
			continue
		}
		p.Ended = pointed(p.Ended)
		rows = append(rows, p)
	}
	return firstOf(rows, f.Limit), t.usable()
}

// Agents implements [store.Tx].
func (t *tx) Agents(f store.AgentFilter) ([]store.Agent, error) {
	var rows []store.Agent
	for _, name := range slices.Sorted(maps.Keys(t.rows.agents)) {
		if (f.Name == "" || name == f.Name) && name > f.After {
			rows = append(rows, t.rows.agents[name])
		}
	}
	return firstOf(rows, f.Limit), t.usable()
}

// Passkeys implements [store.Tx].
func (t *tx) Passkeys() ([]store.Passkey, error) {
	rows := slices.SortedFunc(maps.Values(t.rows.passkeys), func(a, b store.Passkey) int {
		return cmp.Or(a.Added.Compare(b.Added), cmp.Compare(a.ID, b.ID))
	})
	return rows, t.usable()
}

// OpenCalls implements [store.Tx].
func (t *tx) OpenCalls(agent string, limit int) (int, error) {
	n := 0
	for id, c := range t.rows.callDocuments {
		row := t.rows.turns[t.rows.calls[id]]
		if s := row.rec.State; s.Agent == agent && s.Status != turn.Ended && c.State.Open() {
			n++
		}
	}
	return min(n, limit), t.usable()
}

// Audit implements [store.Tx].
func (t *tx) Audit(f store.AuditFilter) ([]api.AuditEntry, error) {
	if f.Limit == 0 {
		return nil, t.usable()
	}
	receipts := map[int64]api.AuditReceipt{}
	for _, rows := range t.rows.receipts {
		for _, r := range rows {
			receipts[r.Entry] = r.Audited()
		}
	}
	chain := slices.Clone(t.rows.audit[min(max(f.After, 0), int64(len(t.rows.audit))):])
	if f.Operators {
		chain = slices.DeleteFunc(chain, func(e api.AuditEntry) bool { return e.Kind != audit.Act || e.Act != nil && e.Act.Call != "" })
	}
	if f.Newest {
		slices.Reverse(chain)
	}
	chain = firstOf(chain, f.Limit)
	for i := range chain {
		if r, is := receipts[chain[i].N]; is {
			chain[i].Receipt = &r
		}
	}
	return chain, t.usable()
}

// Results implements [store.Tx].
func (t *tx) Results(id string, after, limit int) ([]store.ResultRow, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	return page(t.rows.results[id], func(r store.ResultRow) bool { return r.N > after }, limit), nil
}

// Cards implements [store.Tx].
func (t *tx) Cards(f store.CardFilter) ([]utp.Card, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	return listed(t.rows.cards, f.IDs, func(c utp.Card, id string) bool {
		return id > f.After && (f.Turn == "" || t.turnOf(c) == f.Turn)
	}, f.Limit), nil
}

// Outbox implements [store.Tx].
func (t *tx) Outbox(f store.OutboxFilter) ([]store.Outgoing, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	from := t.rows.outbox
	if f.Dead {
		from = t.rows.dead
	}
	var rows []store.Outgoing
	for _, id := range slices.Sorted(maps.Keys(from)) {
		o := from[id]
		if id <= f.After || f.Session != "" && o.Session != f.Session || !f.Before.IsZero() && !o.created.Before(f.Before) ||
			f.Limit > 0 && len(rows) >= f.Limit {
			continue
		}
		o.Header = maps.Clone(o.Header)
		rows = append(rows, o.Outgoing)
	}
	return rows, nil
}

// Count implements [store.Tx].
func (t *tx) Count(counter string, add int64) (int64, error) {
	if add == 0 {
		return t.rows.counters[counter], t.usable()
	}
	if err := t.writable(); err != nil {
		return 0, err
	}
	n := t.rows.counters[counter] + add
	putRow(t, t.rows.counters, counter, n)
	return n, nil
}
