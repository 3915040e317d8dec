package admission

import (
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// CounterPermission counts standing permissions: the last number that was handed out.
const CounterPermission = "permission"

// Permissions are the standing permissions of one transaction: what was changed in it is read like what was there before.
type Permissions struct {
	in      *Tx
	changed []standing.Permission
	ended   []standing.Permission // of the changed ones: found to be over, and not yet taken
}

// Changed are the permissions that are to be saved with the transaction.
func (p *Permissions) Changed() []standing.Permission { return p.changed }

// NewlyEnded returns the permissions that were found to be over since it was last called. People are to be told of them.
func (p *Permissions) NewlyEnded() []standing.Permission {
	ended := p.ended
	p.ended = nil
	return ended
}

// List lists permissions.
func (p *Permissions) List(f store.PermissionFilter) ([]standing.Permission, error) {
	rows, err := p.in.tx.Permissions(f)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if j := p.index(row.Number); j >= 0 {
			rows[i] = p.changed[j]
		}
	}
	return rows, nil
}

// Number finds a permission by its number. The error may be [store.ErrNotFound].
func (p *Permissions) Number(n int) (standing.Permission, error) {
	return store.OneRow(p.List(store.PermissionFilter{Number: n}))
}

// OfSession lists the permissions that were made in this session; live are those that have not ended.
func (p *Permissions) OfSession(live bool) ([]standing.Permission, error) {
	return p.List(store.PermissionFilter{Origin: p.in.of.Session, Live: live})
}

func (p *Permissions) index(number int) int {
	return slices.IndexFunc(p.changed, func(c standing.Permission) bool { return c.Number == number })
}

// Save saves a permission with the transaction.
func (p *Permissions) Save(one standing.Permission) {
	if i := p.index(one.Number); i >= 0 {
		p.changed[i] = one
		return
	}
	p.changed = append(p.changed, one)
}

// Add numbers a permission and saves it with the transaction.
func (p *Permissions) Add(one standing.Permission) (standing.Permission, error) {
	n, err := p.in.tx.Count(CounterPermission, 1)
	if err != nil {
		return one, err
	}
	one.Number = int(n)
	p.Save(one)
	return one, nil
}

// lapsed returns why a call that the permission has allowed may not start, or "" while it may. Who made the permission must
// still be allowed to.
func (p *Permissions) lapsed(one standing.Permission, c standing.Call) standing.Why {
	if why := one.StartRefusal(c, p.in.gate.o.Latest(p.in.now)); why != "" {
		return why
	}
	if !p.in.MayApprove(one.By, one.Credential) {
		return standing.Approver
	}
	return ""
}

// allow lets a standing permission allow a call that the policy asks about, and takes the use. A call that stands for one
// that was judged before is asked for, and so is one whose accept takes a passkey. Permissions that are found to be over end.
func (p *Permissions) allow(c *turn.Call, tool store.Tool, canonical []byte) error {
	if c.Decision != turn.Ask || c.Replaces != "" || p.in.gate.o.NeedsPasskey(*c) {
		return nil
	}
	rows, err := p.List(store.PermissionFilter{Tool: c.Tool, Agent: p.in.of.Agent, Owners: []string{p.in.of.Owner}, Live: true})
	if err != nil {
		return err
	}
	call, latest := p.in.callOf(tool, canonical), p.in.gate.o.Latest(p.in.now)
	for _, one := range rows {
		if !one.Concerns(call) || one.Ended != nil {
			continue
		}
		if why := p.lapsed(one, call); why != "" {
			one = one.End(standing.End{Why: why, At: p.in.now.Wall})
			p.Save(one)
			p.ended = append(p.ended, one)
			continue
		}
		used, allows := one.Use(call, latest)
		if !allows {
			continue
		}
		c.Decision, c.Permission = turn.Allow, one.Number
		c.Policy = fmt.Sprintf(`{"permission":%d,"rule":%s}`, one.Number, c.Policy)
		p.Save(used)
		return nil
	}
	return nil
}

// Make makes the permission that comes with the accept of a question, without its number; nil if none does. If it cannot
// be had, the error is a fault that says why, and nothing is to be accepted.
func (p *Permissions) Make(call turn.Call, q consent.Question, judged consent.State, r api.ReplyRequest) (*standing.Permission, error) {
	if r.Standing == nil {
		return nil, nil //nolint:nilnil // Most accepts come without one.
	}
	refuse := func(why string) error { return api.NewFault(utp.CodeStandingRefused, why+"; nothing was accepted") }
	switch {
	case judged != consent.Accepted:
		return nil, refuse("a standing permission is given with an accept only")
	case q.Kind != consent.Confirmation || call.Kind != turn.ToolCall:
		return nil, refuse("a standing permission is for a tool that Earshot starts, and this question is about something else")
	case p.in.gate.o.NeedsPasskey(call):
		return nil, refuse("this accept takes a passkey, and a standing permission would let later calls pass without one")
	}
	tool, err := p.in.Tool(call.Tool)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil || !JudgedAs(tool, call) {
		return nil, refuse("the tool has changed since the question was asked")
	}
	args, err := p.in.cards.Args(call)
	if err != nil {
		return nil, err
	}
	canonical, err := utp.Canonical(args)
	if err != nil {
		return nil, store.Unexpected("the arguments of call "+call.ID, err)
	}
	from := standing.Giver{By: r.By, Credential: r.Credential, Surface: r.Surface, Question: q.Number, Call: call.ID}
	made, err := standing.Make(*r.Standing, p.in.callOf(tool, canonical), from, p.in.gate.o.Latest(p.in.now))
	if err != nil {
		return nil, refuse(err.Error())
	}
	return &made, nil
}
