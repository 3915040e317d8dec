package access

import (
	"slices"

	"github.com/earshot-dev/earshot/api"
)

// Role is one bundle of rights.
type Role = api.Role

// The roles, see package api.
const (
	Listener = api.RoleListener
	Approver = api.RoleApprover
	Auditor  = api.RoleAuditor
	Operator = api.RoleOperator
	Agent    = api.RoleAgent
	Tool     = api.RoleTool
)

// Everybody as an entry of Owners stands for every owner.
const Everybody = "*"

// Principal is somebody who has shown who they are.
type Principal struct {
	// Name is the person (or the agent, or the tool service): who owns turns, and whose
	// name stands under an answer.
	Name  string
	Roles []Role
	// Projects narrows the principal to these projects; none does not.
	Projects []string
	// Owners are further people whose sessions the principal is concerned with, or
	// [Everybody].
	Owners []string
	// Surface is where an answer is given, for example "page" or "terminal".
	Surface string
	// Credential is the id of the token, grant or page session that was shown. It says
	// nothing secret. Empty for a principal that was not made by a [Store].
	Credential string
}

// Has tells whether the principal has one of the roles.
func (p Principal) Has(roles ...Role) bool {
	return slices.ContainsFunc(roles, func(r Role) bool { return slices.Contains(p.Roles, r) })
}

// May tells whether the principal has a right at all.
func (p Principal) May(r api.Right) bool { return r.Of(p.Roles) }

// Reaches tells whether the principal's rights hold in a project.
func (p Principal) Reaches(project string) bool {
	return len(p.Projects) == 0 || slices.Contains(p.Projects, project)
}

// Subscribes tells whether the principal may hear any session at all.
func (p Principal) Subscribes() bool { return p.May(api.Listen) }

// HearsAll tells whether the principal may hear the sessions of everybody.
func (p Principal) HearsAll() bool {
	return p.Has(Auditor, Operator) || (p.Subscribes() && slices.Contains(p.Owners, Everybody))
}

// Hears tells whether the principal may hear the sessions of an owner.
func (p Principal) Hears(owner string) bool {
	return p.HearsAll() || (p.Has(Listener, Approver) && p.concerned(owner))
}

// Answers tells whether the principal may answer questions at all.
func (p Principal) Answers() bool { return p.May(api.Answer) }

// Approves tells whether the principal may answer, extend and take back questions in the
// sessions of an owner. Anyone who has the role of an agent or a tool never may. That the
// asking agent itself never does is the kernel's to see: it knows who asked.
func (p Principal) Approves(owner string) bool {
	return p.Answers() && (p.Has(Operator) || p.concerned(owner))
}

// Stops tells whether the principal may stop the sessions of an owner: the owner, an
// approver for the owner, an operator.
func (p Principal) Stops(owner string) bool {
	if p.Has(Agent, Tool) {
		return false
	}
	return p.Has(Operator) || p.Approves(owner) || (p.Name == owner && p.Has(Listener))
}

// Starts tells whether the principal may start turns, as their owner.
func (p Principal) Starts() bool { return p.May(api.Start) }

// Operates tells whether the principal may change what the gate relies on, such as the review
// of a tool, or what is kept: an operator who may also approve, as a person at a surface that
// they have opened is, and a program that has found its way in is not.
func (p Principal) Operates() bool { return p.May(api.Operate) }

func (p Principal) concerned(owner string) bool {
	return (owner != "" && p.Name == owner) || slices.Contains(p.Owners, owner) || slices.Contains(p.Owners, Everybody)
}
