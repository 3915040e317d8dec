package sqlite

import (
	"github.com/earshot-dev/earshot/kernel"
)

// Results implements [kernel.Tx].
func (t *tx) Results(turnID string, after, limit int) ([]kernel.ResultRow, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []kernel.ResultRow
	err := t.c.each(`SELECT n, key, call_id, tool, card FROM results WHERE turn_id = ?1 AND n > ?2 ORDER BY n LIMIT ?3`,
		[]any{turnID, after, max(limit, 0)}, func(scan func(...any) error) error {
			var r kernel.ResultRow
			err := scan(&r.N, &r.Key, &r.Call, &r.Tool, &r.Card)
			rows = append(rows, r)
			return err
		})
	return rows, t.read(err, "the results of %s", turnID)
}

// saveReports fills the inbox, one report for each call, and keeps late ones beside it.
func (t *tx) saveReports(b *kernel.Batch) error {
	for i := range b.Reports {
		r := &b.Reports[i]
		err := t.put("the report of the call "+r.Call,
			`INSERT INTO reports (turn_id, call_id, card, status, after_execution, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
			r.Turn, r.Call, r.Card, string(r.Status), r.After, stamp(r.At))
		if err != nil {
			return err
		}
	}
	for i := range b.Late {
		r := &b.Late[i]
		err := t.put("the late result of the call "+r.Call,
			`INSERT INTO late_results (turn_id, call_id, card, status, after_execution, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
			r.Turn, r.Call, r.Card, string(r.Status), r.After, stamp(r.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// saveResults applies reports: each takes the next place in its turn's transcript, once.
func (t *tx) saveResults(b *kernel.Batch) error {
	for i := range b.Applied {
		r := &b.Applied[i]
		var turnID string
		var n int64
		err := t.c.one(`UPDATE reports SET applied = 1 + (SELECT coalesce(max(n), 0) FROM results WHERE results.turn_id = reports.turn_id)
			WHERE call_id = ?1 AND applied IS NULL RETURNING turn_id, applied`, []any{r.Call}, &turnID, &n)
		if noRows(err) {
			return conflict("the call %s has no report that waits to be applied", r.Call)
		}
		if err != nil {
			return border("applying the report of the call "+r.Call, err)
		}
		err = t.put("the result of the call "+r.Call,
			`INSERT INTO results (turn_id, n, key, call_id, tool, card) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
			turnID, n, r.Key, r.Call, r.Tool, r.Card)
		if err != nil {
			return err
		}
	}
	return nil
}

// saveTrail keeps what is only ever added: the path of each call, and who answered what.
func (t *tx) saveTrail(b *kernel.Batch) error {
	for i := range b.Edges {
		e := &b.Edges[i]
		err := t.put("an edge of the call "+e.Call,
			`INSERT INTO edges (call_id, primitive, phase, source, target, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
			e.Call, e.Primitive, e.Phase, e.Source, e.Target, stamp(e.At))
		if err != nil {
			return err
		}
	}
	for i := range b.Receipts {
		r := &b.Receipts[i]
		err := t.put("a receipt of the call "+r.Call, `INSERT INTO receipts
			(session_id, call_id, question, decision, given_by, surface, at, shown, language) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
			r.Session, r.Call, r.Question, r.Decision, r.By, r.Surface, stamp(r.At), r.Shown, r.Language)
		if err != nil {
			return err
		}
	}
	return nil
}
