package api

import "slices"

// Role is one bundle of rights of a principal.
type Role string

// The roles. Reading, replying and stopping are separate: a role gives no more than its line says.
const (
	// RoleListener hears the sessions of its own person, and of the owners it is given.
	RoleListener Role = "listener"
	// RoleApprover answers, extends and takes back questions in the sessions that it hears,
	// starts turns, and stops them.
	RoleApprover Role = "approver"
	// RoleAuditor hears every session and changes nothing.
	RoleAuditor Role = "auditor"
	// RoleOperator hears every session, starts turns, and stops any. With RoleApprover it reviews
	// tools, tries dead messages again, erases and imports.
	RoleOperator Role = "operator"
	// RoleAgent opens sessions of its own and asks for calls in them. It never hears sessions and never approves.
	RoleAgent Role = "agent"
	// RoleTool carries calls out. It never hears sessions and never approves.
	RoleTool Role = "tool"
)

// Roles returns every role, in a fixed order.
func Roles() []Role {
	return []Role{RoleListener, RoleApprover, RoleAuditor, RoleOperator, RoleAgent, RoleTool}
}

// Right is what a principal needs for an operation or a route. Which sessions it then reaches depends on their
// owners, see package hub/access.
type Right int

// The rights.
const (
	Nobody  Right = iota // nobody asks for it by its name
	Anyone               // also who shows no token
	Listen               // hear sessions
	Answer               // answer questions
	Stop                 // stop turns and calls
	Start                // start turns
	Inspect              // look at everything, as an auditor or an operator
	Operate              // change what the gate relies on: an operator who may also approve
	Act                  // act as an agent
)

// rights are the roles that give each right, and what it allows in words.
var rights = map[Right]struct {
	description string
	roles       []Role
	all         bool // it takes all of the roles; else one of them
}{
	Listen:  {description: "hear sessions", roles: []Role{RoleListener, RoleApprover, RoleAuditor, RoleOperator}},
	Answer:  {description: "answer questions", roles: []Role{RoleApprover}},
	Stop:    {description: "stop work", roles: []Role{RoleListener, RoleApprover, RoleOperator}},
	Start:   {description: "start turns", roles: []Role{RoleApprover, RoleOperator}},
	Inspect: {description: "look at what operators see", roles: []Role{RoleAuditor, RoleOperator}},
	Operate: {description: "change what operators decide", roles: []Role{RoleApprover, RoleOperator}, all: true},
	Act:     {description: "act as an agent", roles: []Role{RoleAgent}},
}

// Description are what the right allows, as in "hear sessions".
func (r Right) Description() string { return rights[r].description }

// Roles are those that give the right, and whether it takes all of them; for [Nobody] and [Anyone] there are none.
func (r Right) Roles() (roles []Role, all bool) {
	right := rights[r]
	return slices.Clone(right.roles), right.all
}

// Of reports whether a principal with these roles has the right. An agent acts, and an agent or a tool may hear, where it has
// another role that lets it; nothing else.
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
