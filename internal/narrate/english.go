package narrate

import (
	"maps"

	"golang.org/x/text/language"
)

// English is the first catalogue; other languages have the same keys and parameters.
func English() Catalogue {
	all := map[string]Message{}
	maps.Copy(all, english)
	maps.Copy(all, englishOutside)
	maps.Copy(all, englishStanding)
	return Catalogue{Tag: language.English, Messages: all}
}

var english = map[string]Message{
	// Values inside sentences.
	"value.secret":   {Normal: "a secret"},
	"value.hidden":   {Normal: "One value is hidden, because its name says that it is a credential."},
	"value.empty":    {Normal: "(empty)"},
	"value.more":     {Normal: "(and {n, plural, one {# more character} other {# more characters}})"},
	"value.left":     {Normal: "And {n, plural, one {# more} other {# more}}."},
	"value.others":   {Normal: "and {n, plural, one {# other} other {# others}}"},
	"value.comma":    {Normal: ", "},
	"value.bytes":    {Normal: "{n, plural, one {# byte} other {# bytes}}"},
	"value.size":     {Normal: "{round} ({n, plural, one {# byte} other {# bytes}})"},
	"value.fraction": {Normal: "{n} seconds"},
	"value.seconds":  {Normal: "{n, plural, one {# second} other {# seconds}}"},
	"value.minutes":  {Normal: "{n, plural, one {# minute} other {# minutes}}"},
	"value.hours":    {Normal: "{n, plural, one {# hour} other {# hours}}"},
	"value.days":     {Normal: "{n, plural, one {# day} other {# days}}"},

	// Arguments, a sentence each.
	"value.member":         {Normal: "{name}: {value}."},
	"value.secret.unnamed": {Normal: "One value is a secret, which is not shown."},
	"value.secret.named":   {Normal: "{name}: a secret, which is not shown."},
	"value.covered":        {Normal: "{name}: {n, plural, one {# value} other {# values}}, {size}, SHA-256 {sha}. The question stands for all of them."},
	"value.empty.list":     {Normal: "an empty list"},
	"value.empty.object":   {Normal: "an empty object"},

	// The turn.
	"turn.began": {
		Terse:  "{spawner, select, none {Started.} other {Started by {spawner}.}}",
		Normal: "{session, select, none {{agent}} other {{session}}} has started{request, select, none {.} other { on this request: {request}}}" + startedBy,
		Detailed: "{session, select, none {{agent}} other {{session}}} has started{request, select, none {.} other { on this request: {request}}} " +
			"Everything it does with a tool is told here." + startedBy,
	},
	"turn.thinking": {
		Terse:  "Thinking.",
		Normal: "Working out what to do next.",
	},
	"turn.stopping": {
		Terse: "Stopping.",
		Normal: "Stopping. {running, plural, one {# tool is still running and has been asked to stop. You will hear what it did.} " +
			"other {# tools are still running and have been asked to stop. You will hear what they did.}}",
		Detailed: "Stopping{by, select, none {} other {, as {by} asked}}. No further step is taken. {running, plural, " +
			"one {# tool is still running and has been asked to stop. You will hear what it did.} " +
			"other {# tools are still running and have been asked to stop. You will hear what they did.}}",
	},
	"question.left": {
		Terse:  "{left} left for question {question}.",
		Normal: "{left} are left to answer question {question}: {action}",
	},
	"rules.broken": {
		Terse: "The new policy cannot be read. The earlier one stays in force.",
		Normal: "The policy file has changed and cannot be used. The earlier policy stays in force. " +
			"An operator has to correct the file.",
	},
	"rules.mended": {
		Terse:  "The policy can be read again.",
		Normal: "The policy file can be read again and is in force.",
	},
	"ledger.restored": {
		Terse: "The ledger is from an older copy.",
		Normal: "The ledger has been restored from an older copy. What happened since is not in it. " +
			"Whatever was under way and has an effect has an unknown outcome; none of it is repeated without your consent.",
	},

	// Tools.
	"call.using": {
		Terse:  "Using a tool.",
		Normal: "Using the tool {tool}.",
	},
	"call.back": {
		Terse:  "Still running.",
		Normal: "{running, plural, one {# tool is} other {# tools are}} still running.",
	},
	"call.invoked": {
		Terse:  "{doing, select, none {Using {tool}.} other {{doing}}}",
		Normal: "{doing, select, none {Using the tool {tool}.} other {{doing}}}",
		Detailed: "{doing, select, none {Using the tool {tool}.} other {{doing} The tool is {tool}.}} {class, select, " +
			"read {It only looks.} idempotent {It makes a change that may be repeated.} reversible {What it does can be undone.} other {What it does cannot be undone.}} " +
			"{question, select, none {} other {You said yes to question {question}.}}",
		Fields: map[string]string{
			"description":  "{about, select, none {} other {{about}}}",
			"args_summary": "{args, select, none {} other {{args}}}",
		},
	},
	"call.now": {Normal: "Now: {action}"},
	"call.progress": {
		Terse:  "{percent} percent.",
		Normal: "{percent} percent done.",
	},
	"call.working": {
		Terse:  "{words}",
		Normal: "{tool}: {words}",
	},
	"call.completed.success": {
		Terse:  "{result, select, none {Done.} other {{result}}}",
		Normal: "{result, select, none {The tool {tool} has finished.} other {{result}}}",
		Detailed: "{result, select, none {The tool {tool} has finished.} other {{result}}} " +
			"{took, select, none {} other {The tool {tool} took {took}.}}",
	},
	"call.completed.partial": {
		Terse:    "Only partly done. {result, select, none {} other {{result}}}",
		Normal:   "Only partly done. {result, select, none {The tool {tool} finished a part of the work.} other {{result}}}",
		Detailed: "Only partly done. {result, select, none {The tool {tool} finished a part of the work.} other {{result}}} {message, select, none {} other {It reports: {message}}}",
	},
	"call.completed.failed": {
		Terse:    "{tool} failed.",
		Normal:   "The tool {tool} failed{why, select, none {.} other {: {why}}} {result, select, none {} other {{result}}}",
		Detailed: "The tool {tool} failed{why, select, none {.} other {: {why}}} {message, select, none {} other {It reports: {message}}} {result, select, none {} other {{result}}} {effect, select, yes {It may have changed something before it failed.} other {}}",
		Fields:   map[string]string{"error_message": "{message, select, none {{why, select, none {The tool {tool} failed.} other {{why}}}} other {{message}}}"},
	},
	"call.completed.timeout": {
		Terse:    "{tool} took too long.",
		Normal:   "The tool {tool} did not finish in time. {effect, select, yes {It may have changed something.} other {}}",
		Detailed: "The tool {tool} did not finish in time{took, select, none {} other { and was given up after {took}}}. {message, select, none {} other {It reports: {message}}} {effect, select, yes {It may have changed something.} other {}}",
		Fields:   map[string]string{"error_message": "{message, select, none {The tool {tool} did not finish in time.} other {{message}}}"},
	},
	"call.completed.not_started": {
		Terse:  "{tool} was not started.",
		Normal: "No service started the tool {tool} in time. Nothing was done.",
		Fields: map[string]string{"error_message": "No service started the tool {tool} in time."},
	},
	"call.completed.canceled": {
		Terse:    "{tool} was stopped.",
		Normal:   "The tool {tool} was stopped. {result, select, none {{effect, select, yes {What it did before that is not known.} other {}}} other {{result}}}",
		Detailed: "The tool {tool} was stopped. {result, select, none {{effect, select, yes {What it did before that is not known.} other {}}} other {{result}}} {message, select, none {} other {It reports: {message}}}",
		Fields:   map[string]string{"error_message": "{message, select, none {The tool {tool} was stopped.} other {{message}}}"},
	},
	"call.completed.stopped": {
		Terse:  "{tool} was stopped before it started.",
		Normal: "The tool {tool} was stopped before it started. Nothing was done.",
		Fields: map[string]string{"error_message": "Stopped before it started."},
	},
	"call.completed.denied_by_policy": {
		Terse:  "{tool} is not allowed any more.",
		Normal: "The tool {tool} did not start: the policy has changed and does not allow it any more. Nothing was done.",
		Fields: map[string]string{"error_message": "The policy has changed and does not allow it any more."},
	},
	"call.completed.tool_gone": {
		Terse:  "{tool} is not there any more.",
		Normal: "The tool {tool} did not start: it is not there any more. Nothing was done.",
		Fields: map[string]string{"error_message": "The tool is not there any more."},
	},
	"call.completed.consent_stale": {
		Terse: "{question, select, none {{tool} did not start.} other {Your yes no longer applies.}}",
		Normal: "The tool {tool} did not start: {question, select, none {what was allowed} other {your yes to question {question}}} no longer applies. " +
			"{reason} Nothing was done. {again, select, yes {You will be asked again.} tried {It is tried once more.} other {}}",
		Fields: map[string]string{"error_message": "{question, select, none {What was allowed} other {The consent}} no longer applied to what would have run, so it did not start."},
	},
	"call.completed.consent_retry_exhausted": {
		Terse: "{tool} did not start, again. You will not be asked again.",
		Normal: "The tool {tool} did not start: your yes to question {question} no longer applies. {reason} " +
			"This happened {times} times in a row, so you will not be asked again. Nothing was done.",
		Fields: map[string]string{"error_message": "It did not start {times} times in a row, so nobody is asked again. Nothing was done."},
	},
	"call.completed.outcome_unknown": {
		Terse:  "It is not known what {tool} did.",
		Normal: "It is not known whether this was done: {action} {known}",
		Fields: map[string]string{"error_message": "The tool {tool} gave no result. What it did is not known."},
	},
	"call.completed.abandoned": {
		Terse:  "{tool} was still running.",
		Normal: "The tool {tool} was still running when the turn ended. It has been asked to stop. What it did is not known.",
		Fields: map[string]string{"error_message": "Still running when the turn ended; asked to stop."},
	},
	"call.undelivered": {
		Terse:  "{tool} was not reached.",
		Normal: "A message to the tool {tool} could not be sent. Earshot keeps trying until the tool starts or its time to start is over.",
	},
	"call.unserved": {
		Terse: "No service for {tool} is connected.",
		Normal: "No service for {tool} is connected. The call starts when one connects. {left, select, none {} other {If none does within {left}, " +
			"{again, select, yes {you will be asked again.} other {it is given up.}}}}",
	},
	"call.late": {
		Terse:  "A late result from {tool}.",
		Normal: "A result of {tool} came late, after you had been told that its outcome was not known. {outcome}",
	},
	"late.success":  {Normal: "It did finish. {result, select, none {} other {{result}}}"},
	"late.partial":  {Normal: "It finished a part of the work. {result, select, none {} other {{result}}}"},
	"late.failed":   {Normal: "It failed. It may have changed something."},
	"late.timeout":  {Normal: "It ran out of time. It may have changed something."},
	"late.canceled": {Normal: "It was stopped."},

	// Questions.
	"question.waiting": {
		Terse:  "Waiting for your answer.",
		Normal: "Waiting for your answer to question {question}.",
	},
	"question.asked": {
		Terse: "Question {question}{session, select, none {} other {, {session}}}{earlier, select, none {} other {, asked again}}: {action}",
		Normal: "Question {question}{session, select, none {} other {, {session}}}{again, select, yes {, asked again with more time} other {}}" +
			"{earlier, select, none {} other {, asked again}}. " +
			"{action} {consequence} {earlier, select, none {} other {{earlier}}} {unread, select, none {} other {{unread}}} " +
			"{request, select, none {} other {This is for the request {request}.}} Say accept or reject. {passkey, select, yes {Accepting takes your passkey, on the page.} other {}} {limit}",
		Detailed: "Question {question}{session, select, none {} other {, {session}}}{again, select, yes {, asked again with more time} other {}}" +
			"{earlier, select, none {} other {, asked again}}. " +
			"{action} {consequence} {earlier, select, none {} other {{earlier}}} {values} " +
			"{request, select, none {} other {This is for the request {request}.}} Say accept or reject. {passkey, select, yes {Accepting takes your passkey, on the page.} other {}} {limit} {details}",
		Fields: map[string]string{"action": "{action}", "consequence": "{consequence}"},
	},
	// What is important besides the question itself.
	"question.details": {Normal: "{undo, select, none {} other {After you accept, you have {undo} to take it back.}} " +
		"The tool is {tool}. " +
		"{unserved, select, none {} other {No service for it is connected at the moment. It can start only when one connects.}} " +
		"{says, select, none {} other {The agent says: {says} End of the agent's words.}} " +
		"{held, select, none {} advisory {The agent could also do this without your answer; it only asks.} " +
		"other {A third-party service does this. It learns of this only after your answer, and Earshot can neither see nor stop what it then does.}}"},
	"question.values": {Normal: "{args, select, none {} other {{args}}} {rest, select, none {} other {More values: {rest}}} {unread, select, none {} other {{unread}}}"},
	"question.unread": {Normal: "{left, select, none {} other {{left, plural, one {# value is not given here in full.} other {# values are not given here in full.}}}} " +
		"{hidden, select, none {} other {{hidden, plural, one {# value is hidden, because its name says that it is a credential.} " +
		"other {# values are hidden, because their names say that they are credentials.}}}} " +
		"{short, select, yes {} other {The arguments have {size}; their SHA-256 is {sha}.}} " +
		"{must, select, yes {Read all of them before you accept: say list{short, select, yes {.} other {, or open {address}.}}} " +
		"other {To read all of them, say list{short, select, yes {.} other {, or open {address}.}}}}"},
	"earlier.restarted": {Normal: "{reason, select, none {Earshot restarted after your yes.} other {{reason}}} Nothing was done."},
	"earlier.stale": {Normal: "{question, select, none {An earlier attempt at this did not start.} " +
		"other {You said yes to this as question {question}, but that yes no longer applies.}} {reason} Nothing was done."},
	"earlier.repeated": {Normal: "This is the {times, plural, =3 {third} =4 {fourth} =5 {fifth} other {#th}} time that this is asked. " +
		"{same, select, none {{reasons}} other {Each time for the same reason: {same}}} Nothing was done. " +
		"{late, select, yes {Before you say yes once more, make sure that the service of the tool {tool} is connected and starts at once.} other {}} " +
		"{last, select, yes {If it does not start this time either, you will not be asked again.} other {}}"},
	"earlier.time": {Normal: "{question, select, none {Before} other {Question {question}}}: {reason}"},
	"earlier.unknown": {Normal: "{ago, select, none {It is not known what became of an earlier attempt at this.} " +
		"other {An attempt at this began {ago} ago, and it is not known whether it was done.}} If it was, this does it a second time."},
	"earlier.other": {Normal: "This was asked or tried before; that does not count for it."},
	"question.extended": {
		Terse:  "More time.",
		Normal: "More time for question {question}. It is asked again.",
	},
	"limit.set": {Normal: "If nobody answers within {time}, it is {left, select, yes {left} other {not done}}."},
	"limit.waiting": {Normal: "It waits, for {time} at most, until somebody who can answer is shown it; " +
		"if nobody answers within {length} after that, it is {left, select, yes {left} other {not done}}."},
	"limit.unlimited": {Normal: "There is no time limit, but a question stays open for {time} at most: " +
		"if nobody has answered by then, it is {left, select, yes {left} other {not done}}."},
	"question.shown": {
		Terse:  "Its time starts now.",
		Normal: "Question {question} is shown to somebody who can answer it, so its time starts now. It is asked again.",
	},
	"question.unshown": {
		Terse:  "It waits for somebody.",
		Normal: "Nobody who can answer question {question} is here, so it waits. It is asked again.",
	},
	"question.withdrawn": {
		Terse:  "Question {question} is withdrawn.",
		Normal: "Question {question} is withdrawn. {reason}",
	},
	"withdrawn.stopped":  {Normal: "The work was stopped."},
	"withdrawn.restored": {Normal: "The ledger has been restored from an older copy."},
	"grant.revoked": {
		Terse:  "Your yes no longer counts.",
		Normal: "Your yes to question {question} no longer counts.",
	},
	"action.generic": {Normal: "Run the tool {tool}{about, select, none {.} other {: {about}}} {args, select, none {} other {{args}}}"},
	"action.unreviewed": {Normal: "Run the tool {tool}{service, select, none {} other { of the service {service}}}, which nobody here has reviewed. " +
		"{args, select, none {} other {{args}}} {claim, select, none {} other {It says of itself: {claim} End of its words.}}"},
	"consequence.read":         {Normal: "It only looks and changes nothing."},
	"consequence.idempotent":   {Normal: "It makes a change. Doing it twice is the same as doing it once."},
	"consequence.reversible":   {Normal: "It can be undone."},
	"consequence.irreversible": {Normal: "It cannot be undone."},
	"consequence.unreviewed":   {Normal: "Nobody here knows what it does, so assume that it cannot be undone."},

	// What the agent itself asks.
	"person.asked": {
		Terse: "Question {question}{session, select, none {} other {, {session}}}: {asks}",
		Normal: "Question {question}{session, select, none {} other {, {session}}}{again, select, yes {, asked again with more time} other {}}. {tool, select, none {The agent asks} other {{tool} asks, in the middle of its work}}: {asks} " +
			"End of {tool, select, none {the agent's} other {its}} words. {request, select, none {} other {This is for the request {request}.}} {how} {limit}",
		Detailed: "Question {question}{session, select, none {} other {, {session}}}{again, select, yes {, asked again with more time} other {}}. {tool, select, none {The agent asks} other {{tool} asks, in the middle of its work}}: {asks} " +
			"{context, select, none {} other {It adds: {context}}} End of {tool, select, none {the agent's} other {its}} words. {request, select, none {} other {This is for the request {request}.}} " +
			"{how} {limit} No answer to this allows the use of a tool.",
		Fields: map[string]string{
			"question": "{tool, select, none {The agent} other {{tool}}} asks: {asks}",
			"context":  "{context, select, none {} other {{tool, select, none {The agent} other {{tool}}} adds: {context}}}",
		},
	},
	"how.freetext":        {Normal: "Answer in your own words."},
	"how.yes_no":          {Normal: "Say yes or no."},
	"how.numeric":         {Normal: "Say a number."},
	"how.multiple_choice": {Normal: "Say one of these: {choices}."},
	"how.choice":          {Normal: "{value}{label, select, none {} other { ({label})}}"},
	"answer.limit.set": {Normal: "Without an answer within {time} " +
		"{default, select, none {the {tool, select, none {agent} other {tool}} goes on without one} other {the answer is: {default}}}."},
	"answer.limit.waiting": {Normal: "It waits, for {time} at most, until somebody who can answer is shown it; without an answer within {length} after that " +
		"{default, select, none {the {tool, select, none {agent} other {tool}} goes on without one} other {the answer is: {default}}}."},
	"answer.limit.unlimited": {Normal: "There is no time limit, but a question stays open for {time} at most: without an answer " +
		"{default, select, none {the {tool, select, none {agent} other {tool}} then goes on without one} other {it is then: {default}}}."},
	"answer.yes": {Normal: "yes"},
	"answer.no":  {Normal: "no"},
	"person.answered": {
		Terse:    "Recorded: {answer}",
		Normal:   "Recorded, as the answer to question {question}: {answer}.",
		Detailed: "Recorded, as the answer to question {question}{by, select, none {} other {, by {by}}}{surface, select, none {} other { at {surface}}}: {answer}.",
	},
	"person.expired": {
		Terse: "Question {question} has expired.",
		Normal: "{absent, select, yes {Nobody is there to answer question {question}} other {Nobody answered question {question} in time}}. " +
			"{answer, select, none {The {tool, select, none {agent} other {tool}} goes on without an answer} other {So the answer is: {answer}}}.",
	},
	"withdrawn.ended": {Normal: "The agent's work has ended."},
	"withdrawn.left":  {Normal: "The tool does not wait for the answer any more."},

	// Somebody else takes over.
	"handoff.moving": {Terse: "Handing over.", Normal: "Handing over to somebody else."},
	"handoff.requested": {
		Terse: "The agent asks for {to, select, human {a person} specialist_agent {another agent} other {somebody}} to take over.",
		Normal: "The agent asks for {to, select, human {a person} specialist_agent {another agent} other {somebody from a queue of helpers}} to take over" +
			"{urgency, select, high {, urgently} low {, when there is time} other {}}. It says: {reason}",
		Detailed: "The agent asks for {to, select, human {a person} specialist_agent {another agent} other {somebody from a queue of helpers}} to take over" +
			"{urgency, select, high {, urgently} low {, when there is time} other {}}. It says: {reason} End of the agent's words. " +
			"{context, select, yes {What it has found out so far is passed on to them.} other {}}",
		Fields: map[string]string{"reason": "{reason}"},
	},
	"turn.handed_over": {
		Terse: "Handed over.",
		Normal: "Ended; somebody else is asked to take over. {doubt, select, none {} other {{doubt}}} {rest, select, none {} other {{rest}}} " +
			"{said, select, none {} other {The agent says: {said}}}",
		Detailed: "Ended; somebody else is asked to take over. {summary, select, none {} other {The agent says: {summary}}} {account} " +
			"{rest, select, none {} other {{rest}}}",
		Fields: map[string]string{"output_summary": "{words, select, none {} other {{words}}}"},
	},

	// Answers.
	"call.accepted": {
		Terse: "Recorded: yes. {undo, select, none {} other {Starts in {undo}; say undo.}}",
		Normal: "Recorded: yes to question {question}. {undo, select, none {It starts now.} " +
			"other {Starts in {undo}; say undo.}}",
		Detailed: "Recorded: yes to question {question}{by, select, none {} other {, by {by}}}{surface, select, none {} other { at {surface}}}. " +
			"{undo, select, none {It starts now.} other {Starts in {undo}; say undo.}} The yes is good for this one call.",
	},
	"call.refused.consent_declined": {
		Terse:  "Recorded: no.",
		Normal: "Recorded: no to question {question}. The tool {tool} does not run.",
		Detailed: "Recorded: no to question {question}{by, select, none {} other {, by {by}}}{surface, select, none {} other { at {surface}}}. " +
			"The tool {tool} does not run. Nothing was done.",
	},
	"call.refused.consent_expired": {
		Terse: "Question {question} has expired.",
		Normal: "{absent, select, yes {Nobody is there to answer question {question}} other {Nobody answered question {question} in time}}, " +
			"so it is not done. The tool {tool} does not run.",
	},
	"call.refused.consent_withdrawn": {
		Terse:  "Question {question} is withdrawn.",
		Normal: "Question {question} is withdrawn. The tool {tool} does not run.",
	},
	"call.refused.consent_stale": {
		Terse: "{question, select, none {It no longer applies.} other {Your yes no longer applies.}}",
		Normal: "{question, select, none {The tool {tool} was not used: what was allowed no longer applies.} " +
			"other {Your yes to question {question} no longer applies, so it was not done.}} {reason} " +
			"{again, select, yes {You will be asked again.} tried {It is tried once more.} other {}}",
	},
	"call.refused.consent_retry_exhausted": {
		Terse: "{tool} was not done, again. You will not be asked again.",
		Normal: "Your yes to question {question} no longer applies, so it was not done. {reason} " +
			"This happened {times} times in a row, so you will not be asked again.",
	},
	"call.refused.restarted": {
		Terse: "Earshot restarted. Nothing was done.",
		Normal: "Earshot restarted after your yes to question {question}. Nothing was done. " +
			"{again, select, yes {You will be asked again.} other {}}",
	},
	"call.refused.stopped": {
		Terse:  "Stopped before it started.",
		Normal: "Stopped before it started: {tool}. Nothing was done.",
	},
	"call.refused.undone": {
		Terse:  "Taken back.",
		Normal: "Taken back in time: the tool {tool} does not run. Nothing was done.",
	},
	"call.refused.denied_by_policy": {
		Terse: "{tool} is not allowed.",
		Normal: "{question, select, none {The policy does not allow the tool {tool}. It does not run and nobody is asked.} " +
			"other {The policy has changed and does not allow the tool {tool} any more. " +
			"{said, select, yes {Your yes to question {question} does not count.} other {Question {question} is withdrawn.}} It does not run.}}",
	},
	"call.refused.tool_gone": {
		Terse: "{tool} is not there any more.",
		Normal: "The tool {tool} is not there any more. " +
			"{question, select, none {} other {{said, select, yes {Your yes to question {question} does not count.} other {Question {question} is withdrawn.}} }}Nothing was done.",
	},
	"call.refused.other": {
		Terse:  "{tool} does not run.",
		Normal: "The tool {tool} does not run. Reason: {code}.",
	},
	"stale.age":         {Normal: "Too much time has passed{said, select, yes { since you said it} other {}}."},
	"stale.not_started": {Normal: "No service started it in time."},
	"stale.begun_late":  {Normal: "Too much time had passed when its service was about to start it."},
	"stale.restarted": {Normal: "Earshot restarted{said, select, yes { after your yes} other {}}{changed, select, tool {, and the tool has changed since} " +
		"work {, and what it would be done to has changed since} review {, and an operator has reviewed the tool again since} other {}}."},
	"stale.unnoticed":  {Normal: "You could not be told in time that your yes was recorded."},
	"stale.arguments":  {Normal: "What it would have been done to has changed."},
	"stale.definition": {Normal: "The tool itself has changed."},
	"stale.permission": {Normal: "The standing permission that allowed it no longer does."},
	"stale.policy":     {Normal: "The policy has changed."},
	"stale.env":        {Normal: "A setting that it depends on has changed."},
	"stale.project":    {Normal: "It belongs to another project now."},
	"stale.approver":   {Normal: "The person who said it may no longer decide this."},
	"stale.epoch":      {Normal: "The agent has gone on to something else since."},
	"stale.digest":     {Normal: "It is not exactly what you were asked."},
	"stale.call":       {Normal: "It was for another call."},
	"stale.other":      {Normal: "Something that it was about has changed."},

	// Unknown outcomes.
	"fate.asked": {
		Terse: "Question {question}{session, select, none {} other {, {session}}}: {insist, select, yes {ask again, although {tool} may still be running?} " +
			"other {it is not known whether this was done: {action}}}",
		Normal: "Question {question}{session, select, none {} other {, {session}}}. {insist, select, yes {The tool {tool} may still be running on the first attempt, and a second one could do it twice. " +
			"It was asked to do this: {action}} other {It is not known whether this was done: {action} {known}}} " +
			"Say leave, to leave it as it is, or ask again, to be asked about it once more. " +
			"{passkey, select, yes {To be asked again takes your passkey, on the page.} other {}} {limit}",
		Fields: map[string]string{
			"question": "{insist, select, yes {The tool {tool} may still be running on the first attempt, and a second one could do it twice. " +
				"Ask about it again all the same?} other {It is not known whether this was done: {action} What now?}}",
			"context":          "{known}",
			"choice.leave":     "Leave it as it is.",
			"choice.ask again": "Ask me about it again. Nothing runs without another yes.",
		},
	},
	"fate.silent": {Normal: "The tool {tool} began and has given no result{gone, select, yes { and is no longer running} other { and may still be running}}." +
		"{says, select, none {} other { The tool says: {says}}}"},
	"fate.restored": {Normal: "The ledger has been restored from an older copy, so what happened to it since is not known."},
	"fate.insist": {
		Terse:  "Recorded. The tool may still be running.",
		Normal: "Recorded: ask again. But the tool {tool} may still be running on the first attempt, so you are asked once more.",
	},
	"fate.leave": {
		Terse:  "Recorded: left as it is.",
		Normal: "Recorded: left as it is. It is still not known whether this was done: {action}",
	},
	"fate.expired": {
		Terse: "Question {question} has expired.",
		Normal: "{absent, select, yes {Nobody is there to answer question {question}} other {Nobody answered question {question} in time}}, " +
			"so it is left as it is. It is still not known whether this was done: {action}",
	},
	"fate.again": {
		Terse:  "Recorded: ask again.",
		Normal: "Recorded: ask again. You will be asked about it again. Nothing runs without another yes.",
	},
	"fate.settled": {
		Terse:  "The outcome is known now.",
		Normal: "Question {question} is withdrawn: the outcome of the tool {tool} is known now. {outcome}",
	},
	"fate.stopped": {
		Terse:  "Question {question} is withdrawn.",
		Normal: "Question {question} is withdrawn, since the work was stopped. It is still not known whether this was done: {action}",
	},
	"settled.success":   {Normal: "It has finished. {result, select, none {} other {{result}}}"},
	"settled.partial":   {Normal: "It finished a part of the work. {result, select, none {} other {{result}}}"},
	"settled.failed":    {Normal: "It failed. {result, select, none {It may have changed something.} other {{result}}}"},
	"settled.timeout":   {Normal: "It ran out of time. It may have changed something."},
	"settled.canceled":  {Normal: "It was stopped."},
	"settled.not_begun": {Normal: "It had not started. Nothing was done."},

	// Output and the end.
	"output.writing": {
		Terse:  "Writing the answer.",
		Normal: "Writing the answer.",
	},
	"output.chunk": {},
	"turn.completed": {
		Terse: "Finished.",
		Normal: "Finished. {doubt, select, none {} other {{doubt}}} {rest, select, none {} other {{rest}}} " +
			"{said, select, none {} other {The agent says: {said}}}",
		Detailed: "Finished. {summary, select, none {} other {The agent says: {summary}}} {account} " +
			"{rest, select, none {} other {{rest}}}",
		Fields: map[string]string{"output_summary": "{words, select, none {} other {{words}}}"},
	},
	"turn.all_failed": {
		Terse: "Nothing worked.",
		Normal: "Finished, but nothing worked: {failed, plural, one {the only tool call} other {all # tool calls}} failed. " +
			"{doubt, select, none {} other {{doubt}}} {said, select, none {} other {The agent says: {said}}}",
		Detailed: "Finished, but nothing worked: {failed, plural, one {the only tool call} other {all # tool calls}} failed. " +
			"{summary, select, none {} other {The agent says: {summary}}} {account}",
		Fields: map[string]string{"output_summary": "{words, select, none {} other {{words}}}"},
	},
	"turn.partial": {
		Terse: "Finished in part.",
		Normal: "Finished, but only in part. {doubt, select, none {} other {{doubt}}} {rest, select, none {} other {{rest}}} " +
			"{said, select, none {} other {The agent says: {said}}}",
		Detailed: "Finished, but only in part. {summary, select, none {} other {The agent says: {summary}}} {account} " +
			"{rest, select, none {} other {{rest}}}",
		Fields: map[string]string{"output_summary": "{words, select, none {} other {{words}}}"},
	},
	"turn.declined": {
		Terse: "Finished. You said no.",
		Normal: "Finished. You said no, so {declined, plural, one {that was not done.} other {those # things were not done.}} " +
			"{doubt, select, none {} other {{doubt}}} {rest, select, none {} other {{rest}}} {said, select, none {} other {The agent says: {said}}}",
		Detailed: "Finished. You said no, so {declined, plural, one {that was not done.} other {those # things were not done.}} " +
			"{summary, select, none {} other {The agent says: {summary}}} {account} {rest, select, none {} other {{rest}}}",
		Fields: map[string]string{"output_summary": "{words, select, none {} other {{words}}}"},
	},
	"turn.errored": {
		Terse:    "Failed.",
		Normal:   "Failed: {why} {account} {rest, select, none {} other {{rest}}}",
		Detailed: "Failed: {why} {message, select, none {} other {It reports: {message}}} {summary, select, none {} other {The agent says: {summary}}} {account} {rest, select, none {} other {{rest}}}",
		Fields:   map[string]string{"remediation_hint": "{hint}"},
	},
	"turn.cancelled": {
		Terse:    "{undone, select, yes {Taken back.} other {Stopped.}}",
		Normal:   "{undone, select, yes {Taken back, and stopped.} other {Stopped.}} {account} {rest, select, none {} other {{rest}}}",
		Detailed: "{undone, select, yes {Taken back, and stopped} other {Stopped}}{by, select, none {} other { by {by}}}{surface, select, none {} other { at {surface}}}. {account} {rest, select, none {} other {{rest}}}",
		Fields:   map[string]string{"partial_result": "{effects, select, yes {{account}} other {}}"},
	},
	"turn.cancelled_queued": {
		Terse:  "Stopped before it started.",
		Normal: "Stopped before it started. Nothing was done.",
	},
	"turn.cancelled_timeout": {
		Terse:  "Nobody answered.",
		Normal: "Ended, because nobody answered in time. {account} {rest, select, none {} other {{rest}}}",
		Fields: map[string]string{"partial_result": "{effects, select, yes {{account}} other {}}"},
	},
	"turn.cancelled_agent": {
		Terse:    "The agent gave up.",
		Normal:   "The agent ended the work itself. {account} {rest, select, none {} other {{rest}}}",
		Detailed: "The agent ended the work itself. {summary, select, none {} other {It says: {summary}}} {account} {rest, select, none {} other {{rest}}}",
		Fields:   map[string]string{"partial_result": "{effects, select, yes {{account}} other {}}"},
	},

	// The effects, for the last event.
	"account.nothing":   {Normal: "Nothing has been changed."},
	"account.something": {Normal: "Something may have been changed."},
	"account.done":      {Normal: "Done: {deeds}"},
	"account.before":    {Normal: "Done before that: {deeds}"},
	"account.unknown":   {Normal: "Not known whether it was done: {deeds}"},
	"account.tool":      {Normal: "{tool} has finished."},
	"account.partial":   {Normal: "In part: {result, select, none {{tool}.} other {{result}}}"},
	"account.failed":    {Normal: "{tool} failed and may have changed something."},
	"account.canceled":  {Normal: "{tool} was stopped and may have changed something. {result, select, none {} other {{result}}}"},
	"rest.expired":      {Normal: "{n, plural, one {# question was not answered, so that was not done.} other {# questions were not answered, so those things were not done.}}"},
	"rest.declined":     {Normal: "{n, plural, one {You said no to # thing, so it was not done.} other {You said no to # things, so they were not done.}}"},
	"rest.failed":       {Normal: "{n, plural, one {# tool did not succeed.} other {# tools did not succeed.}}"},
	"rest.withdrawn":    {Normal: "{n, plural, one {# question was withdrawn, so that was not done.} other {# questions were withdrawn, so those things were not done.}}"},
	"rest.denied":       {Normal: "{n, plural, one {# call was not allowed.} other {# calls were not allowed.}}"},

	// Why something failed, by code, and what may help.
	"why.auth_failed":                {Normal: "it is not allowed to do that."},
	"why.bad_request":                {Normal: "the request was invalid."},
	"why.changed_since_review":       {Normal: "what it runs has changed since review, so it did not run."},
	"why.conflict":                   {Normal: "something changed in the meantime."},
	"why.internal_error":             {Normal: "there was an internal error."},
	"why.not_found":                  {Normal: "what it was looking for is not there."},
	"why.outcome_unknown":            {Normal: "what was done is not known."},
	"why.tool_timeout":               {Normal: "a tool took too long."},
	"why.upstream_unavailable":       {Normal: "something that it needs cannot be reached."},
	"why.timeout":                    {Normal: "it took too long."},
	"why.consent_retry_exhausted":    {Normal: "your yes expired again and again before it could start."},
	"why.denied_by_policy":           {Normal: "the policy does not allow it."},
	"why.unknown_tool":               {Normal: "the tool is not there."},
	"why.consent_declined":           {Normal: "you said no."},
	"why.consent_expired":            {Normal: "nobody answered in time."},
	"why.resume_retry_exhausted":     {Normal: "the agent resumed it again and again without progress."},
	"why.dispatch_timeout":           {Normal: "no agent picked it up."},
	"why.deadline_exceeded":          {Normal: "the time that it was given is over."},
	"why.must_end_with":              {Normal: "it ended without the call that it has to end with."},
	"why.too_many_steps":             {Normal: "it took as many steps as it may."},
	"why.recursion_depth_exceeded":   {Normal: "too many agents have called each other."},
	"why.timeout_reaped_by_watchdog": {Normal: "the agent stopped responding."},
	"why.other":                      {Normal: "the reason is {code}."},
	"why.unnamed":                    {Normal: "no reason was given."},

	"hint.transient":     {Normal: "Trying again later may help."},
	"hint.requires_user": {Normal: "Check what it is allowed to use, then try again."},
	"hint.permanent":     {Normal: "Trying the same again will not help. Change the request."},
	"hint.unchanged":     {Normal: "Find out what is in the way, then try again."},
	"hint.unknown":       {Normal: "Look at what was done before you try again."},
}

// startedBy ends the sentence that begins a session, where another agent or a service started it.
const startedBy = "{spawner, select, none {} other { {spawner} started this within {parent, select, none {another session} other {{parent}}}.}}"
