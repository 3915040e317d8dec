package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/utp"
)

// auditPage is how many entries of the audit chain one answer holds at most.
const auditPage = 200

// audit hands out a page of the audit chain, or its head. It judges nothing: that is for who
// reads it, who may not trust this very program.
func (k *Kernel) audit(ctx context.Context, _ Caller, q utp.AuditRequest) (utp.AuditAnswer, error) {
	var a utp.AuditAnswer
	f := AuditFilter{After: q.After, Limit: auditPage}
	if q.Head {
		f = AuditFilter{Newest: true, Limit: 1, Unchained: true}
	}
	err := k.o.Store.View(ctx, func(tx Tx) error {
		kept, err := tx.Beside(BesideFilter{Audit: f})
		if err != nil {
			return err
		}
		a = utp.AuditAnswer{Unchained: kept.Unchained, More: len(kept.Audit) == auditPage}
		r := newRoom()
		for _, e := range kept.Audit {
			if fits, err := r.takes(e); err != nil || !fits {
				a.More = true
				return err
			}
			a.Entries = append(a.Entries, e)
		}
		return nil
	})
	return a, err
}
