package narrate

// englishOutside are the messages about external agents.
var englishOutside = map[string]Message{
	"call.completed.gone": {
		Terse:  "{tool} did not start: {agent} did not wait for it.",
		Normal: "The tool {tool} did not start: {agent} did not wait for it any more. Nothing was done.",
		Fields: map[string]string{"error_message": "Nobody waited for it any more, so it did not start."},
	},
	"action.permission":      {Normal: "Let {agent} use its own tool {tool}. {args, select, none {} other {{args}}}"},
	"consequence.permission": {Normal: "{agent} does this itself; Earshot can neither stop nor undo it."},
	"call.refused.gone": {
		Terse: "Not done: {agent} did not wait for it.",
		Normal: "{question, select, none {The tool {tool} was not used} other {Your yes to question {question} was not used}}: " +
			"{agent} did not wait for it any more. Nothing was done.",
	},
	"permission.given": {
		Terse:  "Recorded: yes.",
		Normal: "Recorded: yes to question {question}. {agent} may go ahead.",
		Detailed: "Recorded: yes to question {question}{by, select, none {} other {, by {by}}}{surface, select, none {} other { at {surface}}}. " +
			"{agent} may go ahead. The yes is good for this one time.",
	},
	"permission.refused.consent_declined": {
		Terse:    "Recorded: no.",
		Normal:   "Recorded: no to question {question}. {agent} is told not to do it.",
		Detailed: "Recorded: no to question {question}{by, select, none {} other {, by {by}}}{surface, select, none {} other { at {surface}}}. {agent} is told not to do it.",
	},
	"permission.refused.consent_expired": {
		Terse: "Question {question} has expired.",
		Normal: "{absent, select, yes {Nobody is there to answer question {question}} other {Nobody answered question {question} in time}}, " +
			"so {agent} is told not to do it.",
	},
	"permission.refused.consent_withdrawn": {
		Terse:  "Question {question} is withdrawn.",
		Normal: "Question {question} is withdrawn. {agent} is told not to do it.",
	},
	"permission.refused.gone": {
		Terse:  "Your yes was not used: {agent} was no longer waiting.",
		Normal: "Your yes to question {question} was not used: {agent} was no longer waiting for it. If it asks again, you are asked again.",
	},
	"permission.refused.left": {
		Terse:  "Question {question} is withdrawn: {agent} has gone.",
		Normal: "Question {question} is withdrawn: {agent} does not wait for the answer any more. If it asks again, you are asked again.",
	},
	"permission.refused.stopped": {
		Terse:  "Stopped.",
		Normal: "Stopped. {agent} is told not to use {tool}.",
	},
	"permission.refused.denied_by_policy": {
		Terse: "{agent} may not use {tool}.",
		Normal: "The policy does not let {agent} use its own tool {tool}. It is told{question, select, none {, and nobody is asked} " +
			"other {, and question {question} is withdrawn}}.",
	},

	// What an external agent reports about itself.
	"agent.observed": {
		Terse:    "{agent} reports: {words}",
		Normal:   "{agent} reports: {words}",
		Detailed: "{agent} reports: {words} End of its words. Earshot has seen nothing of it.",
	},
	"agent.doing": {
		Terse:  "{agent}: {words}",
		Normal: "{agent}: {words}",
	},
	"turn.quiet": {
		Terse:    "Ended: {agent} was quiet.",
		Normal:   "Ended, because nothing more was heard from {agent}. {doubt, select, none {} other {{doubt}}} {rest, select, none {} other {{rest}}}",
		Detailed: "Ended, because nothing more was heard from {agent}. {account} {rest, select, none {} other {{rest}}}",
	},
	"account.nothing_here": {Normal: "Nothing has been changed through Earshot."},
}
