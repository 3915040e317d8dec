package admin

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Act completes an act. Without a time of its own it happens now.
func (ad *Admin) Act(a api.AuditAct) (api.AuditAct, error) {
	if a.At.IsZero() {
		a.At = ad.o.Now()
	}
	salt, err := ad.o.Salt()
	a.Salt = salt
	return a, err
}

// Operated completes an act of an operator; if it names none, the operator is the kernel's own.
func (ad *Admin) Operated(a api.AuditAct) ([]api.AuditAct, error) {
	a.By = cmp.Or(a.By, ad.o.Operator)
	a, err := ad.Act(a)
	return []api.AuditAct{a}, err
}

// RecordInForce compares what is in force of a kind (the operator's rules, tokens, logins, credentials) with what the
// ledger has recorded, and records an act for each item that is new, changed or gone. So the audit chain shows since
// when each item has been in force, to the interval between two calls, also for changes while nothing ran.
func (ad *Admin) RecordInForce(ctx context.Context, kind string, now []store.InForce) error {
	return store.ProtocolError(store.Update(ctx, ad.o.Ledger, func(tx store.Tx) error {
		recorded, err := tx.InForce(kind)
		if err != nil {
			return err
		}
		before := map[string]store.InForce{}
		for _, f := range recorded {
			before[f.Subject] = f
		}
		var b store.Batch
		keep := func(f store.InForce, detail, digest string) error {
			a, err := ad.Act(api.AuditAct{Act: kind, Subject: f.Subject, Detail: detail, Digest: digest, By: f.By})
			b.Acts, b.InForce = append(b.Acts, a), append(b.InForce, f)
			return err
		}
		for _, f := range now {
			f.Kind = kind
			was, known := before[f.Subject]
			delete(before, f.Subject)
			if known && was.Digest == f.Digest {
				continue
			}
			if err := keep(f, f.Detail, f.Digest); err != nil {
				return err
			}
		}
		for _, subject := range slices.Sorted(maps.Keys(before)) {
			f := before[subject]
			f.Digest = ""
			if err := keep(f, api.ActEnded, before[subject].Digest); err != nil {
				return err
			}
		}
		if len(b.Acts) == 0 {
			return nil
		}
		return tx.Save(b)
	}))
}
