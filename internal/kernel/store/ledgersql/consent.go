package ledgersql

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// saveConsents saves new consents and marks others as used. A consent that is used must exist, be unused,
// and be for that very call and digest: all in the condition of one statement.
func (t *Tx) saveConsents(b *store.Batch) error {
	for i := range b.Consents {
		c := &b.Consents[i]
		err := t.exec(fmt.Sprintf("the consent to question %d", c.Question), `INSERT INTO consents
			(question, call_id, digest, given_by, surface, at) VALUES ($1, $2, $3, $4, $5, $6)`,
			c.Question, c.Call, c.Digest, c.By, c.Surface, stamp(c.At))
		if err != nil {
			return err
		}
	}
	for i := range b.Consumed {
		c := &b.Consumed[i]
		at := c.At
		if at.IsZero() {
			at = t.now()
		}
		err := t.must(fmt.Sprintf("the consent of the call %s", c.Call), `UPDATE consents SET consumed_at = $4
			WHERE question = $1 AND call_id = $2 AND digest = $3 AND consumed_at IS NULL`,
			c.Question, c.Call, c.Digest, stamp(at))
		if err != nil {
			return err
		}
	}
	return nil
}

// saveGrants records starts: one for each call and fence.
func (t *Tx) saveGrants(b *store.Batch) error {
	for i := range b.Grants {
		g := &b.Grants[i]
		err := t.add(fmt.Sprintf("the grant of the call %s, fence %d", g.Call, g.Fence), grants, g.Call, g.Fence, g.Owner, stamp(g.At))
		if err != nil {
			return err
		}
	}
	return nil
}
