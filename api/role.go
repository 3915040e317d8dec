package api

import "slices"

// Role is a set of rights of a principal.
type Role string

// The roles. Reading, replying and stopping are separate: a role gives no more than its line says.
const (
	// RoleListener receives the sessions of its own person, and of the owners that it is given.
	RoleListener Role = "listener"
	// RoleApprover answers and extends questions and withdraws accepts in the sessions that it receives, starts turns,
	// and stops them.
	RoleApprover Role = "approver"
	// RoleAuditor receives every session and changes nothing.
	RoleAuditor Role = "auditor"
	// RoleOperator receives every session, starts turns, and stops any. With RoleApprover it reviews tools, retries
	// dead messages, erases and imports.
	RoleOperator Role = "operator"
	// RoleAgent opens its own sessions and requests calls in them. It never receives sessions and never approves.
	RoleAgent Role = "agent"
	// RoleTool runs calls. It never receives sessions and never approves.
	RoleTool Role = "tool"
)

// Roles returns every role, in a fixed order.
func Roles() []Role {
	return []Role{RoleListener, RoleApprover, RoleAuditor, RoleOperator, RoleAgent, RoleTool}
}

// Right is what a principal needs for an operation or a route. The sessions that it can access with that right depend
// on their owners, see package hub/access.
type Right int

// The rights.
const (
	Nobody  Right = iota // no principal requests it by name
	Anyone               // even without a token
	Listen               // receive sessions
	Answer               // answer questions
	Stop                 // stop turns and calls
	Start                // start turns
	Inspect              // read everything, as an auditor or an operator
	Operate              // change what the gate relies on: an operator who may also approve
	Act                  // act as an agent
)

// rights maps each right to the roles that give it, and to a description.
var rights = map[Right]struct {
	description string
	roles       []Role
	all         bool // whether all of the roles are required; otherwise one is enough
}{
	Listen:  {description: "hear sessions", roles: []Role{RoleListener, RoleApprover, RoleAuditor, RoleOperator}},
	Answer:  {description: "answer questions", roles: []Role{RoleApprover}},
	Stop:    {description: "stop work", roles: []Role{RoleListener, RoleApprover, RoleOperator}},
	Start:   {description: "start turns", roles: []Role{RoleApprover, RoleOperator}},
	Inspect: {description: "look at what operators see", roles: []Role{RoleAuditor, RoleOperator}},
	Operate: {description: "change what operators decide", roles: []Role{RoleApprover, RoleOperator}, all: true},
	Act:     {description: "act as an agent", roles: []Role{RoleAgent}},
}

// Description returns what the right allows, as in "hear sessions".
func (r Right) Description() string { return rights[r].description }

// Roles returns the roles that give the right, and whether all of them are required; [Nobody] and [Anyone] have none.
func (r Right) Roles() (roles []Role, all bool) {
	right := rights[r]
	return slices.Clone(right.roles), right.all
}

// Of reports whether a principal with these roles has the right. A principal with the role agent or tool has no right
// except Act, and Listen if another role gives it.
func (r Right) Of(roles []Role) bool {
	right, is := rights[r]
	if !is {
		return r == Anyone
	}
	has := func(role Role) bool { return slices.Contains(roles, role) }
	if r != Listen && r != Act && (has(RoleAgent) || has(RoleTool)) {
		return false
	}
	if right.all {
		return !slices.ContainsFunc(right.roles, func(role Role) bool { return !has(role) })
	}
	return slices.ContainsFunc(right.roles, has)
}
