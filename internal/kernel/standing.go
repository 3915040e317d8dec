package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// The notes about standing permissions.
const (
	NotePermissionMade  turn.NoteKind = "permission.made"
	NotePermissionUsed  turn.NoteKind = "permission.used"
	NotePermissionEnded turn.NoteKind = "permission.ended"
)

// counterPermission counts standing permissions: the last number that was given out.
const counterPermission = "permission"

// standingCall is a call of this turn as a permission sees it, of the tool as it is registered now.
func (s *step) standingCall(tool store.Tool, canonical jsontext.Value) standing.Call {
	st := s.rec.State
	return standing.Call{
		Owner: st.Owner, Project: st.Project, Agent: st.Agent, AgentName: st.DisplayName, Session: st.Session,
		Tool: tool.Definition.Tool, Definition: tool.Digest, Class: tool.EffectiveClass(), Risk: tool.EffectiveRisk(), Args: canonical,
	}
}

// permissions lists standing permissions as they are after what this step has done so far.
func (s *step) permissions(f store.PermissionFilter) ([]standing.Permission, error) {
	rows, err := s.tx.Permissions(f)
	if err != nil {
		return nil, err
	}
	for i, p := range rows {
		if j := s.changedPermission(p.Number); j >= 0 {
			rows[i] = s.batch.Permissions[j]
		}
	}
	return rows, nil
}

func (s *step) changedPermission(number int) int {
	return slices.IndexFunc(s.batch.Permissions, func(p standing.Permission) bool { return p.Number == number })
}

// savePermission saves a permission with this step. A restored ledger must be found to be behind it.
func (s *step) savePermission(p standing.Permission) error {
	if i := s.changedPermission(p.Number); i >= 0 {
		s.batch.Permissions[i] = p
	} else {
		s.batch.Permissions = append(s.batch.Permissions, p)
	}
	return s.count()
}

// lapsed returns why a call that the permission has allowed may not start, or "" while it may. Who gave the permission
// must still be allowed to.
func (s *step) lapsed(p standing.Permission, c standing.Call) standing.Why {
	if why := p.StartRefusal(c, s.k.clock.Latest(s.now)); why != "" {
		return why
	}
	if !s.mayApprove(p.By, p.Credential) {
		return standing.Approver
	}
	return ""
}

// permit lets a standing permission allow a call that the policy asks about, and takes the use. A call that stands for
// one that was judged before is asked for, and so is one whose accept takes a passkey. Permissions that are found to be
// over end.
func (s *step) permit(c *turn.Call, tool store.Tool, canonical jsontext.Value) error {
	if c.Decision != turn.Ask || c.Replaces != "" || s.k.passkeys.Needs(*c) {
		return nil
	}
	st := s.rec.State
	rows, err := s.permissions(store.PermissionFilter{Tool: c.Tool, Agent: st.Agent, Owners: []string{st.Owner}, Live: true})
	if err != nil {
		return err
	}
	call := s.standingCall(tool, canonical)
	for _, p := range rows {
		if !p.Concerns(call) || p.Ended != nil {
			continue
		}
		if why := s.lapsed(p, call); why != "" {
			if err := s.endPermission(p, standing.End{Why: why, At: s.now.Wall}); err != nil {
				return err
			}
			continue
		}
		used, allows := p.Use(call, s.k.clock.Latest(s.now))
		if !allows {
			continue
		}
		c.Decision, c.Permission = turn.Allow, p.Number
		c.Policy = fmt.Sprintf(`{"permission":%d,"rule":%s}`, p.Number, c.Policy)
		return s.savePermission(used)
	}
	return nil
}

// ruled returns the terms that apply to a call now: those of the policy and the agent's definition, and if a standing permission has allowed the
// call and still holds, that it is allowed.
func (s *step) ruled(c turn.Call, tool store.Tool) (turn.Terms, error) {
	ruling, err := s.ruling(tool)
	t := rulebook.Terms(tool, ruling)
	if err != nil {
		return t, err
	}
	if c.Permission == 0 || t.Decision != turn.Ask || s.k.passkeys.Needs(c) {
		return t, nil
	}
	p, err := store.OneRow(s.permissions(store.PermissionFilter{Number: c.Permission}))
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return t, nil
	}
	if err == nil && s.lapsed(p, s.standingCall(tool, nil)) == "" {
		t.Decision = turn.Allow
	}
	return t, err
}

// checkStanding makes the standing permission that comes with an accept; nil if none does. If it cannot be given, nothing
// is accepted.
func (s *step) checkStanding(call turn.Call, q consent.Question, judged consent.State, r api.ReplyRequest) (*standing.Permission, error) {
	if r.Standing == nil {
		return nil, nil //nolint:nilnil // Most accepts come without one.
	}
	refuse := func(why string) error { return api.NewFault(utp.CodeStandingRefused, why+"; nothing was accepted") }
	switch {
	case judged != consent.Accepted:
		return nil, refuse("a standing permission is given with an accept only")
	case q.Kind != consent.Confirmation || call.Kind != turn.ToolCall:
		return nil, refuse("a standing permission is for a tool that Earshot starts, and this question is about something else")
	case s.k.passkeys.Needs(call):
		return nil, refuse("this accept takes a passkey, and a standing permission would let later calls pass without one")
	}
	tool, err := s.tool(call.Tool)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil || !judgedAs(tool, call) {
		return nil, refuse("the tool has changed since the question was asked")
	}
	args, err := s.cards.Args(call)
	if err != nil {
		return nil, err
	}
	canonical, err := utp.Canonical(args)
	if err != nil {
		return nil, store.Unexpected("the arguments of call "+call.ID, err)
	}
	from := standing.Giver{By: r.By, Credential: r.Credential, Surface: r.Surface, Question: q.Number, Call: call.ID}
	p, err := standing.Make(*r.Standing, s.standingCall(tool, canonical), from, s.k.clock.Latest(s.now))
	if err != nil {
		return nil, refuse(err.Error())
	}
	return &p, nil
}

// makePermission gives a permission its number, once the accept that it came with is recorded.
func (s *step) makePermission(p standing.Permission) (api.StandingPermission, error) {
	n, err := s.tx.Count(counterPermission, 1)
	if err != nil {
		return api.StandingPermission{}, err
	}
	p.Number = int(n)
	if err := s.savePermission(p); err != nil {
		return api.StandingPermission{}, err
	}
	exact := p
	exact.AgentName = "" // the chain names agents by their ids
	if err := s.permissionAct(p, "made: "+exact.Terms(), p.Call, p.By); err != nil {
		return api.StandingPermission{}, err
	}
	return p.View(p.Made), s.tellPermission(NotePermissionMade, p, p.Call)
}

// endPermission ends a permission, and says so.
func (s *step) endPermission(p standing.Permission, e standing.End) error {
	p = p.End(e)
	if err := s.savePermission(p); err != nil {
		return err
	}
	if err := s.permissionAct(p, "ended: "+string(p.Ended.Why), "", e.By); err != nil {
		return err
	}
	return s.tellPermission(NotePermissionEnded, p, "")
}

// usedPermission records and reports the use of a permission by a call that is about to leave.
func (s *step) usedPermission(c turn.Call) error {
	p, err := store.OneRow(s.permissions(store.PermissionFilter{Number: c.Permission}))
	if err != nil {
		return err
	}
	if err := s.permissionAct(p, fmt.Sprintf("used, %d left", p.Left()), c.ID, p.By); err != nil {
		return err
	}
	return s.tellPermission(NotePermissionUsed, p, c.ID)
}

// takeBackPermission ends the permission that came with the accept of a question, which is taken back.
func (s *step) takeBackPermission(question int, r api.ReplyRequest) error {
	rows, err := s.permissions(store.PermissionFilter{Origin: s.rec.State.Session})
	if err != nil {
		return err
	}
	for _, p := range rows {
		if p.Question != question || p.Closed() {
			continue
		}
		if err := s.endPermission(p, standing.End{Why: standing.Revoked, At: s.now.Wall, By: r.By, Surface: r.Surface}); err != nil {
			return err
		}
	}
	return nil
}

// endWithSession ends the permissions that were for this session only, once it has ended. Its events have ended, too.
func (s *step) endWithSession() error {
	if s.rec.State.Status != turn.Ended || s.was.Status == turn.Ended {
		return nil
	}
	rows, err := s.permissions(store.PermissionFilter{Origin: s.rec.State.Session, Live: true})
	if err != nil {
		return err
	}
	for _, p := range rows {
		if p.Session == "" || p.Ended != nil {
			continue
		}
		if err := s.endPermission(p, standing.End{Why: standing.Session, At: s.now.Wall}); err != nil {
			return err
		}
	}
	return nil
}

// tellPermission reports something about a permission in the session of this step.
func (s *step) tellPermission(kind turn.NoteKind, p standing.Permission, call string) error {
	if s.rec.State.Status == turn.Ended {
		return nil
	}
	before := s.notification
	s.notification.Permission = p
	err := s.note(turn.Note{Kind: kind, Call: call})
	s.notification = before
	return err
}

// permissionAct records what became of a permission in the audit chain.
func (s *step) permissionAct(p standing.Permission, detail, call, by string) error {
	return s.addAct(api.AuditAct{
		Act: api.ActPermission, Subject: strconv.Itoa(p.Number), Detail: detail, Call: call, Digest: p.Definition, By: by,
	})
}
