package narrate

// englishStanding are the messages about standing permissions.
var englishStanding = map[string]Message{
	"standing.made": {
		Terse: "Standing permission {number} is given.",
		Normal: "Standing permission {number}: for {life}, {agent} may use {tool} {anywhere, select, yes {in any session} other {in this session}} " +
			"without asking, {uses, plural, one {once} other {up to # times}}{words, select, none {.} other {, if {words}.}} Each use is told.",
	},
	"standing.used": {
		Terse: "Permission {number}: {left, plural, =0 {used up.} one {# use left.} other {# uses left.}}",
		Normal: "Allowed by your standing permission {number}: {action} {left, plural, =0 {That was the last use; you are asked again from now on.} " +
			"one {# use is left.} other {# uses are left.}} {first, select, yes {You gave it with question {question}; it can be revoked at any time.} other {}}",
		Detailed: "Allowed by your standing permission {number}: {action} {words, select, none {} other {It is for calls where {words}.}} " +
			"{left, plural, =0 {That was the last use; you are asked again from now on.} one {# use is left.} other {# uses are left.}} " +
			"You gave it with question {question}; it can be revoked at any time.",
	},
	"standing.ended": {
		Terse: "Standing permission {number} has ended.",
		Normal: "{why, select, expired {Standing permission {number} for {tool} has expired.} " +
			"revoked {Standing permission {number} for {tool} is revoked{by, select, none {} other { by {by}}}.} " +
			"definition {Standing permission {number} has ended: the tool {tool} has changed.} " +
			"approver {Standing permission {number} for {tool} has ended: the login that gave it no longer counts.} " +
			"other {Standing permission {number} for {tool} has ended.}} {agent} has to ask again from now on.",
	},
}
