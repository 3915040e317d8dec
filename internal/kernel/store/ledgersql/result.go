package ledgersql

import (
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// cardAlong is the largest card, in bytes, that is read together with its result: most are small, and
// whoever reads results asks for their cards next.
const cardAlong = 8 << 10

// Results implements [store.Tx].
func (t *Tx) Results(turnID string, after, limit int) ([]store.ResultRow, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.ResultRow
	err := t.c.Each(`SELECT n, key, call_id, tool, card, coalesce(project, ''), coalesce(type, ''), coalesce(author, ''), coalesce(tool_call_id, ''),
			content, metadata, created
		FROM results LEFT JOIN cards ON card_id = card AND octet_length(content) <= $4 WHERE results.turn_id = $1 AND n > $2 ORDER BY n`+limited("$3"),
		[]any{turnID, after, max(limit, 0), cardAlong}, func(scan func(...any) error) error {
			var r store.ResultRow
			var c utp.Card
			var created *int64
			err := scan(&r.N, &r.Key, &r.Call, &r.Tool, &r.Card, &c.Project, &c.Type, &c.AuthorID, &c.ToolCallID,
				value(&c.Content), value(&c.Metadata), &created)
			if created != nil {
				c.ID, c.CreatedAt = r.Card, instant(*created)
				t.cards[c.ID] = c
			}
			rows = append(rows, r)
			return err
		})
	return rows, t.read(err, "the results of %s", turnID)
}

// How a report is added that waits, and one that is applied at once: that one takes the next
// place in its turn's transcript. Either has a turn, or is not added.
const (
	insertReport = `INSERT INTO reports (turn_id, call_id, card, status, after_execution, at)
		SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS text), CAST($4 AS text), CAST($5 AS text), CAST($6 AS bigint)` + ofTurn
	insertAppliedReport = `INSERT INTO reports (turn_id, call_id, card, status, after_execution, at, key, tool, applied)
		SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS text), CAST($4 AS text), CAST($5 AS text), CAST($6 AS bigint), CAST($7 AS text), CAST($8 AS text),
		1 + (SELECT coalesce(max(applied), 0) FROM reports WHERE reports.turn_id = $1 AND applied IS NOT NULL)` + ofTurn

	ofTurn = ` WHERE EXISTS (SELECT 1 FROM turns WHERE turns.turn_id = $1)`
)

// saveReports fills the inbox, one report for each call, and keeps late ones beside it. Of the
// reports that this very step applies, one may be applied while it is added: a second of the
// same turn would take the same place.
func (t *Tx) saveReports(b *store.Batch) error {
	for i := range b.Reports {
		r := &b.Reports[i]
		insert, args := insertReport, []any{r.Turn, r.Call, r.Card, string(r.Status), r.After, stamp(r.At)}
		if a := appliedAtOnce(b, r); a != nil {
			insert, args = insertAppliedReport, append(args, a.Key, a.Tool)
		}
		if err := t.must("the turn of the report of the call "+r.Call, insert, args...); err != nil {
			return err
		}
	}
	for i := range b.Late {
		r := &b.Late[i]
		err := t.exec("the late result of the call "+r.Call,
			`INSERT INTO late_results (turn_id, call_id, card, status, after_execution, at) VALUES ($1, $2, $3, $4, $5, $6)`,
			r.Turn, r.Call, r.Card, string(r.Status), r.After, stamp(r.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// appliedAtOnce returns the result that a report is added with: that which the batch applies first, if it is the report's.
// The others find their places once it has one.
func appliedAtOnce(b *store.Batch, r *store.Report) *store.ResultRow {
	if len(b.Applied) == 0 || b.Applied[0].Call != r.Call || b.Applied[0].Card != r.Card {
		return nil
	}
	return &b.Applied[0]
}

// saveResults applies reports: each takes the next place in its turn's transcript, once.
func (t *Tx) saveResults(b *store.Batch) error {
	for i := range b.Applied {
		a := &b.Applied[i]
		if i == 0 && slices.ContainsFunc(b.Reports, func(r store.Report) bool { return appliedAtOnce(b, &r) != nil }) {
			continue
		}
		n, err := t.c.Write(`UPDATE reports SET key = $2, tool = $3,
			applied = 1 + (SELECT coalesce(max(r.applied), 0) FROM reports r WHERE r.turn_id = reports.turn_id AND r.applied IS NOT NULL)
			WHERE call_id = $1 AND card = $4 AND applied IS NULL`, 1, a.Call, a.Key, a.Tool, a.Card)
		if err != nil {
			return t.c.Border("applying the report of the call "+a.Call, err)
		}
		if n == 0 {
			return conflict("the call %s has no report that waits to be applied", a.Call)
		}
	}
	return nil
}
