package sim

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// standingFor is the standing permission that a person asks for with a yes; nil for most. It is asked for what cannot be
// undone, too, where it has to be refused.
func (w *world) standingFor(q api.QuestionRow) *api.Standing {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(q.Call))                // a hash never fails
	r := rand.New(rand.NewPCG(w.seed, sum.Sum64())) //nolint:gosec // Chance has to be the same again.
	if q.Tool == utp.AskPerson || q.Kind != "confirmation" || r.IntN(4) == 0 {
		return nil
	}
	return &api.Standing{
		Uses: 1 + r.IntN(3), Seconds: 600, Scope: api.ScopeAgent, Bounds: []api.Bound{{Argument: "/name", Rule: api.BoundAny}},
	}
}

// says sends a reply, a yes sometimes with a standing permission.
func (s *someone) says(q api.QuestionRow, op string, r api.ReplyRequest, mood string) (a api.ReplyAnswer, err error) {
	if op == api.OpAnswer && mood == accept {
		r.Standing = s.w.standingFor(q)
	}
	if r.Standing != nil {
		s.w.judge.gives(q.Call)
	}
	err = s.ask(op, r, &a)
	if rpc.Code(err, utp.CodeStandingRefused) { // nothing was accepted
		r.Standing = nil
		err = s.ask(op, r, &a)
	}
	return a, err
}

// revokes ends some of the permissions that this person has given.
func (s *someone) revokes(p *api.StandingPermission) {
	if p == nil || p.Number%2 == 0 {
		return
	}
	if s.ask(api.OpRevoke, api.RevokeRequest{Number: p.Number, By: person, Surface: "terminal"}, nil) == nil {
		s.w.judge.revoked(p.Number)
	}
}

// permissionLog is what the world knows of one standing permission.
type permissionLog struct {
	uses    int
	agent   string
	calls   map[string]bool // that were started by it
	revoked bool            // somebody was told so
}

// gives: a person asks for a permission with their yes, heard or not.
func (j *judge) gives(call string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.given[call] = true
}

// revoked: somebody was told that a permission is revoked.
func (j *judge) revoked(number int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.w.did(revokedPermission)
	if p := j.permissions[number]; p != nil {
		p.revoked = true
	}
}

// permissionsChanged: a permission is one that a person has given, and never for what cannot be undone.
func (j *judge) permissionsChanged(p *process, b store.Batch) {
	for _, one := range b.Permissions {
		log := j.permissions[one.Number]
		if log == nil {
			log = &permissionLog{calls: map[string]bool{}}
			j.permissions[one.Number] = log
		}
		log.uses, log.agent = one.Uses, one.Agent
		switch {
		case !j.given[one.Call]:
			j.brokenf("%s has recorded the standing permission %d, and nobody has given it", p.name, one.Number)
		case one.Class == utp.Irreversible:
			j.brokenf("the standing permission %d is for %s, which is irreversible", one.Number, one.Tool)
		case one.Used > one.Uses:
			j.brokenf("the standing permission %d is used %d times of %d", one.Number, one.Used, one.Uses)
		}
	}
}

// permitted holds the start of a call that nobody was asked about against the permission for it.
func (j *judge) permitted(s turn.State, c turn.Call) {
	log := j.permissions[c.Permission]
	switch {
	case !c.Class.Effectful():
		return
	case log == nil:
		j.brokenf("%s, which is %s, is started, and neither a consent nor a permission allows it", c.ID, c.Class)
		return
	case log.revoked:
		j.brokenf("%s is started by the standing permission %d, which is revoked", c.ID, c.Permission)
	case log.agent != s.Agent:
		j.brokenf("%s of %s is started by the standing permission %d, which %s has", c.ID, s.Agent, c.Permission, log.agent)
	}
	j.w.did(usedPermission)
	log.calls[c.ID] = true
	if len(log.calls) > log.uses {
		j.brokenf("the standing permission %d is for %d calls, and %d are started by it", c.Permission, log.uses, len(log.calls))
	}
}

// unspent keeps a use that was taken.
type unspent struct{ store.Tx }

// Save implements [store.Tx].
func (u unspent) Save(b store.Batch) error {
	all := make([]standing.Permission, 0, len(b.Permissions))
	for _, p := range b.Permissions {
		if p.Used > 0 && (p.Ended == nil || p.Ended.Why == standing.UsedUp) {
			p.Used, p.Ended = 0, nil
		}
		all = append(all, p)
	}
	b.Permissions = all
	return u.Tx.Save(b)
}

// undead forgets that permissions have ended.
type undead struct{ store.Tx }

// Permissions implements [store.Tx].
func (u undead) Permissions(f store.PermissionFilter) ([]standing.Permission, error) {
	f.Live = false
	rows, err := u.Tx.Permissions(f)
	for i := range rows {
		rows[i].Ended = nil
	}
	return rows, err
}
