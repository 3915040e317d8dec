package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// firstOf returns the first rows; a limit of 0 does not limit.
func firstOf[T any](rows []T, limit int) []T {
	if limit > 0 && len(rows) > limit {
		return rows[:limit]
	}
	return rows
}

// atMost returns the first rows; a limit of 0 returns none.
func atMost[T any](rows []T, limit int) []T { return rows[:min(len(rows), max(limit, 0))] }

// listed returns copies of rows in the order of their keys: those of these keys, of nil all, that match.
func listed[V any](t *table[string, V], keys []string, matches func(V, string) bool, limit int) []V {
	if keys == nil {
		for key := range t.all() {
			keys = append(keys, key)
		}
	}
	var out []V
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		if row, is := t.get(key); is && matches(row, key) && (limit <= 0 || len(out) < limit) {
			out = append(out, copyOf(row))
		}
	}
	return out
}

// copies returns copies of the rows that match, at most limit of them.
func copies[T any](rows []T, matches func(T) bool, limit int) []T {
	var out []T
	for _, row := range rows {
		if len(out) < limit && matches(row) {
			out = append(out, copyOf(row))
		}
	}
	return out
}

// OpenQuestions implements [store.Tx].
func (t *tx) OpenQuestions(f store.QuestionFilter) ([]store.OpenQuestion, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.OpenQuestion
	for number, q := range t.rows.questions.all() {
		if q.state != consent.Open || number <= f.After {
			continue
		}
		s := &t.rows.turns.row(q.turn).rec.State
		if len(f.Owners) == 0 || slices.Contains(f.Owners, s.Owner) {
			rows = append(rows, store.OpenQuestion{Number: number, Turn: q.turn, Session: s.Session, Owner: s.Owner})
		}
	}
	slices.SortFunc(rows, func(a, b store.OpenQuestion) int { return cmp.Compare(a.Number, b.Number) })
	return firstOf(rows, f.Limit), nil
}

// Tools implements [store.Tx].
func (t *tx) Tools(f store.ToolFilter) ([]store.Tool, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	for _, name := range f.Names {
		t.sawTool(name, store.Tool{}) // which does not exist, unless it is found now
	}
	found := listed(&t.rows.tools, f.Names, func(tool *store.Tool, name string) bool {
		return name > f.After && (f.Service == "" || strings.Contains(tool.Definition.Target, store.CommandsTo(f.Service)))
	}, f.Limit)
	var rows []store.Tool
	for _, tool := range found {
		t.sawTool(tool.Definition.Tool, *tool)
		rows = append(rows, copyOf(*tool))
	}
	return rows, nil
}

// Agents implements [store.Tx].
func (t *tx) Agents(f store.AgentFilter) ([]store.Agent, error) {
	return listed(&t.rows.agents, nil, func(_ store.Agent, name string) bool {
		return (f.Name == "" || name == f.Name) && name > f.After
	}, f.Limit), t.usable()
}

// Sealed implements [store.Tx].
func (t *tx) Sealed(call string) ([]store.Sealed, error) {
	rows := copyOf(t.rows.sealed.row(call))
	slices.SortFunc(rows, func(a, b store.Sealed) int { return cmp.Compare(a.Ref, b.Ref) })
	return rows, t.usable()
}

// Calls implements [store.Tx].
func (t *tx) Calls(f store.CallFilter) ([]turn.Call, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	row := t.rows.turns.row(f.Turn)
	if row == nil {
		return nil, nil
	}
	var rows []turn.Call
	for _, id := range slices.Sorted(slices.Values(row.calls)) {
		c := &t.rows.calls.row(id).call
		if id > f.After && (f.Call == "" || f.Call == id) && (f.Tools == nil || slices.Contains(f.Tools, c.Tool)) {
			rows = append(rows, copyOf(*c))
		}
	}
	return firstOf(rows, f.Limit), nil
}

// OpenCalls implements [store.Tx].
func (t *tx) OpenCalls(agent string, limit int) (int, error) {
	n := 0
	for id := range t.rows.open.all() {
		row := t.rows.turns.row(id)
		if row.rec.State.Agent != agent || row.rec.State.Status == turn.Ended {
			continue
		}
		for _, call := range row.calls {
			if t.rows.calls.row(call).call.State.Open() {
				n++
			}
		}
	}
	return min(n, max(limit, 0)), t.usable()
}

// Preferences implements [store.Tx].
func (t *tx) Preferences(person string) (store.Preferences, error) {
	return copyOf(t.rows.preferences.row(person)), t.usable()
}

// RequestKey implements [store.Tx].
func (t *tx) RequestKey(principal, key string) (store.RequestKey, error) {
	return t.rows.keys.row([2]string{principal, key}), t.usable()
}

// InForce implements [store.Tx].
func (t *tx) InForce(kind string) ([]store.InForce, error) {
	var rows []store.InForce
	for _, row := range t.rows.inForce.all() {
		if row.Kind == kind {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b store.InForce) int { return cmp.Compare(a.Subject, b.Subject) })
	return rows, t.usable()
}

// Permissions implements [store.Tx].
func (t *tx) Permissions(f store.PermissionFilter) ([]standing.Permission, error) {
	var rows []standing.Permission
	for number, p := range t.rows.permissions.all() {
		switch {
		case f.Number > 0 && number != f.Number, number <= f.After, f.Live && p.Ended != nil,
			f.Origin != "" && p.Origin != f.Origin, f.Tool != "" && p.Tool != f.Tool, f.Agent != "" && p.Agent != f.Agent,
			f.Owners != nil && !slices.Contains(f.Owners, p.Owner):
			continue
		}
		rows = append(rows, copyOf(p))
	}
	slices.SortFunc(rows, func(a, b standing.Permission) int { return cmp.Compare(a.Number, b.Number) })
	return firstOf(rows, f.Limit), t.usable()
}

// Passkeys implements [store.Tx].
func (t *tx) Passkeys() ([]store.Passkey, error) {
	var rows []store.Passkey
	for _, p := range t.rows.passkeys.all() {
		rows = append(rows, p)
	}
	slices.SortFunc(rows, func(a, b store.Passkey) int { return cmp.Or(a.Added.Compare(b.Added), cmp.Compare(a.ID, b.ID)) })
	return rows, t.usable()
}

// Receipts implements [store.Tx].
func (t *tx) Receipts(session string) ([]store.Receipt, error) {
	return copyOf(t.rows.receipts.row(session)), t.usable()
}

// Unchained implements [store.Tx]. Every receipt and every start of this ledger has its entry.
func (t *tx) Unchained() (api.AuditUnchained, error) { return api.AuditUnchained{}, t.usable() }

// Audit implements [store.Tx].
func (t *tx) Audit(f store.AuditFilter) ([]api.AuditEntry, error) {
	if err := t.usable(); err != nil || f.Limit == 0 {
		return nil, err
	}
	var rows []api.AuditEntry
	for _, e := range t.rows.audit[min(max(f.After, 0), int64(len(t.rows.audit))):] {
		if !f.Operators || e.Kind == audit.Act && (e.Act == nil || e.Act.Call == "") {
			rows = append(rows, e)
		}
	}
	if f.Newest {
		slices.Reverse(rows)
	}
	rows = copyOf(firstOf(rows, f.Limit))
	receipts := map[int64]api.AuditReceipt{}
	for _, kept := range t.rows.receipts.all() {
		for _, r := range kept {
			receipts[r.Entry] = r.Audited()
		}
	}
	for i := range rows {
		if r, is := receipts[rows[i].N]; is {
			rows[i].Receipt = &r
		}
	}
	return rows, nil
}

// Results implements [store.Tx].
func (t *tx) Results(id string, after, limit int) ([]store.ResultRow, error) {
	return copies(t.rows.results.row(id), func(r store.ResultRow) bool { return r.N > after }, limit), t.usable()
}

// Outbox implements [store.Tx].
func (t *tx) Outbox(f store.OutboxFilter) ([]store.Outgoing, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	from := &t.rows.outbox
	if f.Dead {
		from = &t.rows.dead
	}
	var found []*outgoing
	for id, o := range from.all() {
		if id > f.After && (f.Session == "" || o.Session == f.Session) && (f.Before.IsZero() || o.created.Before(micro(f.Before))) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b *outgoing) int { return cmp.Compare(a.ID, b.ID) })
	var rows []store.Outgoing
	for _, o := range firstOf(found, f.Limit) {
		rows = append(rows, copyOf(o.Outgoing))
	}
	return rows, nil
}
