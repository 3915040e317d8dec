package ledgersql

import (
	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/utp"
)

// agreed reads what is kept of what receipts are about, each by the keys of its rows.
func (t *Tx) agreed(f kernel.AgreedFilter) ([]kernel.Agreed, error) {
	var rows []kernel.Agreed
	err := t.c.Each(`SELECT r.entry, coalesce(t.turn_id, ''), coalesce(t.project, ''), t.erased_at IS NOT NULL, t.turn_id IS NOT NULL AND CAST(t.imported AS integer) = 1,
		coalesce(c.tool, ''), coalesce(c.card, ''), coalesce(c.definition, ''), coalesce(c.digest, ''),
		q.number IS NOT NULL, coalesce(k.digest, ''), coalesce(c.fence, 0) > 0 AND g.call_id IS NULL
		FROM receipts r LEFT JOIN turns t ON t.session_id = r.session_id
		LEFT JOIN calls c ON c.call_id = r.call_id AND c.turn_id = t.turn_id
		LEFT JOIN questions q ON q.number = r.question AND q.turn_id = t.turn_id
		LEFT JOIN consents k ON k.call_id = r.call_id AND k.question = r.question
		LEFT JOIN grants g ON g.call_id = c.call_id AND g.fence = c.fence
		WHERE r.entry > $1 AND r.entry <= $2 ORDER BY r.entry`, []any{f.After, f.To}, func(scan func(...any) error) error {
		var a kernel.Agreed
		err := scan(&a.Entry, &a.Turn, &a.Project, &a.Erased, &a.Imported, &a.Tool, &a.Card, &a.Definition, &a.Digest, &a.Question, &a.Consent, &a.Unstarted)
		rows = append(rows, a)
		return err
	})
	return rows, t.read(err, "what the receipts of the audit chain are about")
}

// unreceipted lists the calls that were agreed to, or started although they cannot be undone, and
// that no receipt of a yes stands for; also those of which nothing but the consent or the start is left.
func (t *Tx) unreceipted(f kernel.UnreceiptedFilter) ([]utp.AuditCall, error) {
	var rows []utp.AuditCall
	err := t.c.Each(`SELECT s.call_id, coalesce(c.turn_id, ''), coalesce(c.question, 0)
		FROM (SELECT call_id, 1 AS given FROM consents UNION SELECT call_id, 0 FROM grants) s LEFT JOIN calls c ON c.call_id = s.call_id
		WHERE s.call_id > $1 AND (s.given = 1 OR c.call_id IS NULL OR c.class = $2)
		AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.call_id = s.call_id AND r.decision = $3)
		GROUP BY s.call_id, c.turn_id, c.question ORDER BY s.call_id LIMIT $4`,
		[]any{f.After, string(utp.Irreversible), string(consent.Accept), f.Limit}, func(scan func(...any) error) error {
			var c utp.AuditCall
			err := scan(&c.Call, &c.Turn, &c.Question)
			rows = append(rows, c)
			return err
		})
	return rows, t.read(err, "calls without a receipt")
}
