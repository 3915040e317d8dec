package storetest

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func permissionCases() []exercise {
	return []exercise{
		{"are kept, found and compared", permissionsAreSaved},
		{"the last use is taken once", lastUse},
		{"go with the content of their session", permissionsAreErased},
	}
}

// permission is the n-th sample: in force for an hour, for one use.
func permission(n int) standing.Permission {
	return standing.Permission{
		Number: n, By: "ann", Question: n, Call: id("tc", n), Origin: id("sess", n), Owner: "ann", Project: "default", Agent: "tidy", Tool: id("tool", n%2),
		Definition: "d", Class: utp.Reversible, Risk: utp.RiskLow, Uses: 1, Made: at(n), Expires: at(n).Add(time.Hour),
		Bounds: []api.Bound{{Argument: "/a", Rule: api.BoundEquals, Value: jsontext.Value(`1`)}},
	}
}

func (l *ledger) permissions(f store.PermissionFilter) (rows []standing.Permission) {
	l.t.Helper()
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.Permissions(f)
		return err
	})
	return rows
}

func permissionsAreSaved(l *ledger) {
	full := permission(1)
	fill("Permission", reflect.ValueOf(&full).Elem(), 1)
	full.Bounds, full.Version = permission(1).Bounds, 0
	other := permission(2)
	other.Owner = "Bób"
	third := permission(3)
	l.save(store.Batch{Permissions: []standing.Permission{full, other, third}})
	full.Version, other.Version, third.Version = 1, 1, 1
	same(l, "all", l.permissions(store.PermissionFilter{}), []standing.Permission{full, other, third})
	for _, tt := range []struct {
		name string
		f    store.PermissionFilter
		want []standing.Permission
	}{
		{"one", store.PermissionFilter{Number: 2}, []standing.Permission{other}},
		{"none", store.PermissionFilter{Number: 4}, nil},
		{"those that live", store.PermissionFilter{Live: true}, []standing.Permission{other, third}},
		{"a page", store.PermissionFilter{After: 1, Limit: 1}, []standing.Permission{other}},
		{"of a tool", store.PermissionFilter{Tool: third.Tool, Agent: "tidy"}, []standing.Permission{full, third}},
		{"of a person", store.PermissionFilter{Owners: []string{"Bób"}}, []standing.Permission{other}},
		{"of people", store.PermissionFilter{Owners: []string{"Bób", "ann"}, Live: true}, []standing.Permission{other, third}},
		{"of nobody", store.PermissionFilter{Owners: []string{}}, nil},
		{"of a session", store.PermissionFilter{Origin: third.Origin}, []standing.Permission{third}},
	} {
		same(l, tt.name, l.permissions(tt.f), tt.want)
	}
	l.refuse("the same number", store.ErrConflict, store.Batch{Permissions: []standing.Permission{permission(2)}})
	old := other
	other = other.End(standing.End{Why: standing.Revoked, At: at(9), By: "ann"})
	l.save(store.Batch{Permissions: []standing.Permission{other}})
	l.refuse("an old version", store.ErrConflict, store.Batch{Permissions: []standing.Permission{old}})
	other.Version = 2
	same(l, "one that has ended", l.permissions(store.PermissionFilter{Number: 2}), []standing.Permission{other})
	for _, bad := range []standing.Permission{{Origin: "sess"}, {Number: 9}} {
		if err := l.try(store.Batch{Permissions: []standing.Permission{bad}}); err == nil {
			l.t.Errorf("%+v was kept", bad)
		}
	}
}

// lastUse: of many who want the last use, one gets it.
func lastUse(l *ledger) {
	l.save(store.Batch{Permissions: []standing.Permission{permission(1)}})
	call := standing.Call{
		Owner: "ann", Project: "default", Agent: "tidy", Tool: id("tool", 1), Definition: "d", Class: utp.Reversible, Risk: utp.RiskLow, Args: jsontext.Value(`{"a":1}`),
	}
	var got atomic.Int64
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			used := false
			err := store.Update(l.t.Context(), l.store, func(tx store.Tx) error {
				p, err := store.OneRow(tx.Permissions(store.PermissionFilter{Number: 1}))
				if err != nil {
					return err
				}
				if p, used = p.Use(call, at(2)); !used {
					return nil
				}
				return tx.Save(store.Batch{Permissions: []standing.Permission{p}})
			})
			if err != nil {
				l.t.Errorf("Update: %v", err)
			}
			if used {
				got.Add(1)
			}
		})
	}
	all.Wait()
	if n := got.Load(); n != 1 {
		l.t.Errorf("the last use was taken %d times", n)
	}
	if p := l.permissions(store.PermissionFilter{Number: 1}); len(p) != 1 || p[0].Used != 1 || p[0].Ended == nil {
		l.t.Errorf("it is kept as %+v", p)
	}
}

// permissionsAreErased: the bounds quote what the session was about.
func permissionsAreErased(l *ledger) {
	for n := 1; n <= 2; n++ {
		r := plain(n)
		r.State.Status = turn.Ended
		l.save(store.Batch{Turn: &r, Permissions: []standing.Permission{permission(n)}})
	}
	if err := l.update(func(tx store.Tx) error {
		_, err := tx.Purge(store.Purge{Turns: []string{id("turn", 1)}, Limit: 10})
		return err
	}); err != nil {
		l.t.Fatal(err)
	}
	if left := l.permissions(store.PermissionFilter{}); len(left) != 1 || left[0].Number != 2 {
		l.t.Errorf("left: %+v", left)
	}
}
