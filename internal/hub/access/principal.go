package access

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// Role is a set of rights.
type Role = api.Role

// The roles; see package api.
const (
	Listener = api.RoleListener
	Approver = api.RoleApprover
	Auditor  = api.RoleAuditor
	Operator = api.RoleOperator
	Agent    = api.RoleAgent
	Tool     = api.RoleTool
)

// Everybody in Owners means all owners.
const Everybody = "*"

// Principal is an authenticated person, agent or tool service.
type Principal struct {
	// Name is the name of the person, agent or tool service. It owns turns and signs answers.
	Name  string
	Roles []Role
	// Projects restricts the principal to these projects; empty means all.
	Projects []string
	// Owners are other people whose sessions the principal has access to, or [Everybody].
	Owners []string
	// Surface is where the principal answers, for example "page" or "terminal".
	Surface string
	// Credential is the id of the token, grant or page session that was presented. It is not secret. It is empty for a
	// principal that was not created by a [Store].
	Credential string
	// Unattended is why no person is known to be behind the credential, as it goes on after a colon; "" if one is. Such
	// a principal rejects, extends, takes back and stops. It accepts nothing, and answers nothing else.
	Unattended string
	// Issuer is the identity provider that vouches for the principal, and Expires is when that ends. Both are empty for a credential
	// of the [Store] itself.
	Issuer  string
	Expires time.Time
}

// Has reports whether the principal has one of the roles.
func (p Principal) Has(roles ...Role) bool {
	return slices.ContainsFunc(roles, func(r Role) bool { return slices.Contains(p.Roles, r) })
}

// May reports whether the principal has the right for at least one owner or project. With a token of an identity provider, behind
// which no person is known to be, nobody changes what the gate relies on: the operator has not handed it out by themselves.
func (p Principal) May(r api.Right) bool {
	if r == api.Operate && p.Issuer != "" && p.Unattended != "" {
		return false
	}
	return r.Of(p.Roles)
}

// Reaches reports whether the principal's rights include a project.
func (p Principal) Reaches(project string) bool {
	return len(p.Projects) == 0 || slices.Contains(p.Projects, project)
}

// Subscribes reports whether the principal may follow any session at all.
func (p Principal) Subscribes() bool { return p.May(api.Listen) }

// HearsAll reports whether the principal may follow the sessions of every owner.
func (p Principal) HearsAll() bool {
	return p.Has(Auditor, Operator) || (p.Subscribes() && slices.Contains(p.Owners, Everybody))
}

// Hears reports whether the principal may follow the sessions of an owner.
func (p Principal) Hears(owner string) bool {
	return p.HearsAll() || (p.Has(Listener, Approver) && p.concerned(owner))
}

// Answers reports whether the principal may answer questions at all.
func (p Principal) Answers() bool { return p.May(api.Answer) }

// Approves reports whether the principal may answer, extend and take back questions in the sessions of an owner. A
// principal with the role of an agent or a tool never may. The kernel, which knows who asked, enforces that an agent
// never answers its own question.
func (p Principal) Approves(owner string) bool {
	return p.Answers() && (p.Has(Operator) || p.concerned(owner))
}

// Stops reports whether the principal may stop the sessions of an owner. The owner, an approver for the owner, and an
// operator may.
func (p Principal) Stops(owner string) bool {
	if p.Has(Agent, Tool) {
		return false
	}
	return p.Has(Operator) || p.Approves(owner) || (p.Name == owner && p.Has(Listener))
}

// Starts reports whether the principal may start turns, as their owner.
func (p Principal) Starts() bool { return p.May(api.Start) }

// Operates reports whether the principal may change what the gate relies on, such as the review of a tool, or delete
// stored data. This takes an operator who may also approve: a person at a surface that they have opened. A program that
// found an operator's token is not enough.
func (p Principal) Operates() bool { return p.May(api.Operate) }

func (p Principal) concerned(owner string) bool {
	return (owner != "" && p.Name == owner) || slices.Contains(p.Owners, owner) || slices.Contains(p.Owners, Everybody)
}
