package kernel

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// permissionPage is how many standing permissions one answer has at most.
const permissionPage = 100

// listPermissions lists the standing permissions that are in force.
func (k *Kernel) listPermissions(ctx context.Context, _ Caller, q api.PermissionsRequest) (api.PermissionsAnswer, error) {
	a := api.PermissionsAnswer{Permissions: []api.StandingPermission{}}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		f := store.PermissionFilter{After: q.After, Number: q.Number, Owners: q.Owners, Live: q.Number == 0, Limit: permissionPage}
		rows, err := tx.Permissions(f)
		if err != nil {
			return err
		}
		now := k.clock.Latest(k.clock.Now())
		for _, p := range rows {
			if v := p.View(now); v.Ended == "" || q.Number != 0 {
				a.Permissions = append(a.Permissions, v)
			}
		}
		if len(rows) == permissionPage {
			a.Next = rows[len(rows)-1].Number
		}
		return nil
	})
	return a, store.ProtocolError(err)
}

// revoke ends a standing permission. A call that it has allowed and that has not started is asked for. It is like a no:
// those who may answer may do it. A repeat changes nothing.
func (k *Kernel) revoke(ctx context.Context, _ Caller, q api.RevokeRequest) (api.StandingPermission, error) {
	var v api.StandingPermission
	origin, err := k.originOf(ctx, q.Number)
	if err != nil {
		return v, err
	}
	err = k.attempt(ctx, store.TurnRef{Session: origin}, func(s *step) error {
		p, err := s.admission.Permissions().Number(q.Number)
		if err != nil {
			return err
		}
		if !s.admission.MayApprove(q.By, q.Credential) {
			return noApprover()
		}
		if p.Closed() {
			v = p.View(s.now.Wall)
			return errUnchanged
		}
		e := standing.End{Why: standing.Revoked, At: s.now.Wall, By: q.By, Surface: q.Surface}
		v = p.End(e).View(s.now.Wall)
		return s.endPermission(p, e)
	})
	switch {
	case errors.Is(err, errUnchanged):
		return v, nil
	case err != nil:
		return v, store.ProtocolError(err)
	}
	if err := k.incarnation.Save(ctx); err != nil { // a restored ledger must not revive what somebody was told to be revoked
		return v, store.Unexpected("writing the incarnation", err)
	}
	if err := k.everyOpen(ctx, v.Agent, (*step).rejudge); err != nil { // each start is judged by itself anyway
		k.o.Logger.Error("judging calls after a permission was revoked", "error", err)
	}
	return v, nil
}

// originOf returns the session that a permission was given in.
func (k *Kernel) originOf(ctx context.Context, number int) (origin string, err error) {
	err = k.o.Store.View(ctx, func(tx store.Tx) error {
		p, err := store.OneRow(tx.Permissions(store.PermissionFilter{Number: max(number, 1)}))
		origin = p.Origin
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = api.NewFault(utp.CodeNotFound, fmt.Sprintf("there is no standing permission %d", number))
	}
	return origin, store.ProtocolError(err)
}

// endRestored ends all standing permissions of a restored ledger: each may have been used up or revoked in the part that
// is lost.
func (k *Kernel) endRestored(ctx context.Context) error {
	for more := true; more; {
		err := k.update(ctx, func(tx store.Tx) error {
			rows, err := tx.Permissions(store.PermissionFilter{Live: true, Limit: permissionPage})
			if more = len(rows) > 0; err != nil || !more {
				return err
			}
			now := k.clock.Now().Wall
			var b store.Batch
			for _, p := range rows {
				p = p.End(standing.End{Why: standing.Restored, At: now})
				a, err := k.admin.Act(api.AuditAct{
					Act: api.ActPermission, Subject: strconv.Itoa(p.Number), Detail: "ended: " + string(standing.Restored), Session: p.Origin, Digest: p.Definition, At: now,
				})
				if err != nil {
					return err
				}
				b.Permissions, b.Acts = append(b.Permissions, p), append(b.Acts, a)
			}
			return tx.Save(b)
		})
		if err != nil {
			return store.ProtocolError(err)
		}
	}
	return nil
}
