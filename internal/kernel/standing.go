package kernel

import (
	"fmt"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// The notes about standing permissions.
const (
	NotePermissionMade  turn.NoteKind = "permission.made"
	NotePermissionUsed  turn.NoteKind = "permission.used"
	NotePermissionEnded turn.NoteKind = "permission.ended"
)

// makePermission gives a permission its number, once the accept that it came with is recorded.
func (s *step) makePermission(p standing.Permission) (api.StandingPermission, error) {
	p, err := s.admission.Permissions().Add(p)
	if err != nil {
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
	s.admission.Permissions().Save(p)
	return s.tellEnded(p)
}

// tellEnded records and tells that a permission has ended.
func (s *step) tellEnded(p standing.Permission) error {
	if err := s.permissionAct(p, "ended: "+string(p.Ended.Why), "", p.Ended.By); err != nil {
		return err
	}
	return s.tellPermission(NotePermissionEnded, p, "")
}

// usedPermission records and reports the use of a permission by a call that is about to leave.
func (s *step) usedPermission(c turn.Call) error {
	p, err := s.admission.Permissions().Number(c.Permission)
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
	rows, err := s.admission.Permissions().OfSession(false)
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
	rows, err := s.admission.Permissions().OfSession(true)
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
	return s.receipts.Act(api.AuditAct{
		Act: api.ActPermission, Subject: strconv.Itoa(p.Number), Detail: detail, Call: call, Digest: p.Definition, By: by,
	})
}
