package aaep

import (
	"slices"
	"sync"
)

// This file is the vocabulary: one row for each field of each message, in the order
// of the specification's tables, and the rules that span fields. Names of rules are
// those of the catalogue; QEXT is our own message. The handshake has a file of its own.
// All of it is built at its first use: most commands of a program that imports this
// package need none.

var (
	verbosities  = []string{"terse", "normal", "detailed"}
	urgencies    = []string{"background", "normal", "critical"}
	risks        = []string{"low", "medium", "high"}
	directions   = []string{"ltr", "rtl", "auto"}
	statuses     = []string{"success", "error", "timeout"}
	categories   = []string{"transient", "permanent", "requires_user", "unknown"}
	cancellers   = []string{"user", "producer", "timeout", "system"}
	decisions    = []string{"accept", "reject"}
	reversals    = []string{"reversible", "reversible_with_effort", "irreversible"}
	boundaries   = []string{"none", "word", "sentence", "paragraph", "completion"}
	responses    = []string{"freetext", "yes_no", "multiple_choice", "numeric"}
	targets      = []string{"human", "specialist_agent", "escalation_queue"}
	languageItem = Field{Kind: KindString, Pattern: PatternLanguage, Format: FormatLanguage}
)

// producerMembers describe the producer of an event, or of a subscription (HS-23).
func producerMembers() []Field {
	return []Field{
		text("agent_id", "ENV-29", 1, 0).required().safety().means("The stable name of the agent; it stays the same across versions."),
		text("agent_version", "ENV-31", 1, 0).means("The version of the agent, best as a semantic version."),
		text("agent_name", "ENV-31", 1, 0).means("A name of the agent that can be read to a person."),
		text("model", "ENV-31", 1, 0).means("The language model behind the agent, if any."),
		formatted("manifest_uri", "ENV-32", FormatURI).means("Where the manifest of the producer can be fetched."),
	}
}

// envelope is the outer part of every event, in the order of ENV-58.
var envelope = sync.OnceValue(func() []Field {
	return []Field{
		{Name: "@context", Rule: "ENV-08", Also: []string{"ENV-09"}, Spec: "§3.2.1", Kind: KindContext, Required: true, Safety: true, Checks: []Rule{contextRule}, Description: "The vocabulary: the core context, or a list that begins with it and adds those of extensions."},
		patterned("aaep_version", "ENV-44", PatternVersion).spec("§3.4.4").checks(versionRule).means("The version of AAEP that the sender follows."),
		text("type", "ENV-16", 1, 0).spec("§3.2.2").required().safety().means("What kind of event this is: prefix:name, or a URI."),
		patterned("event_id", "ENV-18", PatternEventID).spec("§3.2.3").required().safety().means("The identity of this event; the same id means the same event, delivered again."),
		patterned("session_id", "ENV-21", PatternSessionID).spec("§3.2.4").required().safety().means("The session that this event belongs to, from its start to its one terminal event."),
		integer("sequence_number", "ENV-39", 0, maxSafeInteger).spec("§3.4.1").means("The place of the event in its session, counted from 0; on every event of the session or on none."),
		formatted("timestamp", "ENV-24", FormatTimestamp).also("ENV-25", "ENV-26").spec("§3.2.5").required().safety().means("When the event was made: RFC 3339, upper-case T, Z or a numeric offset, no fraction of a second or one of 3 or 6 digits."),
		object("producer", "ENV-29", "ENV-33", producerMembers()...).spec("§3.2.6").required().checks(agentRule).means("Who emits the event."),
		oneOf("verbosity", "ENV-34", verbosities...).spec("§3.3.1").otherwise("normal").means("How wordy the texts of this event are."),
		oneOf("urgency", "ENV-35", urgencies...).spec("§3.3.2").otherwise("normal").means("How soon a person should hear of it; what is critical passes filters and rate limits."),
		object(
			"localization_hints", "I18N-01", "I18N-08",
			Field{Name: "primary_language", Rule: "I18N-02", Also: []string{"I18N-03"}, Kind: KindString, Pattern: PatternLanguage, Format: FormatLanguage, RecommendedBy: "I18N-02"}.means("The language of the texts, as a BCP 47 tag."),
			oneOf("text_direction", "I18N-04", directions...).otherwise("ltr").means("The direction in which the text is written."),
			array("available_languages", "I18N-05", 0, 32, languageItem).also("ENV-53", "I18N-03").unique().means("Further languages in which the producer could say the same."),
			array("fallback_chain", "I18N-06", 0, 16, languageItem).also("I18N-03").means("Languages to try in this order where the wanted one is missing."),
			patterned("script", "I18N-07", PatternScript).means("The script of the text as an ISO 15924 code, such as Latn."),
			text("calendar", "I18N-07", 0, 0).means("The calendar of the dates in the text."),
		).spec("§11.1.1").checks(directionRule).means("The language of the texts; an event with text for people carries it."),
		text("correlation_id", "ENV-40", 0, 0).spec("§3.4.2").means("A trace id that links the message to logs elsewhere."),
		{
			Name: "extensions", Rule: "ENV-41", Spec: "§3.4.3", Kind: KindObject, Each: &Field{Rule: "ENV-41", Kind: KindObject}, Checks: []Rule{prefixRule},
			Description: "The data of extensions: one object under each prefix, and each prefix declared through @context.",
		},
	}
})

// table is every message, in the order of the specification.
var table = sync.OnceValue(func() []Message {
	return slices.Concat(lifecycle(), work(), questions(), handshake(), answers())
})

func lifecycle() []Message {
	return []Message{
		{
			Type: TypeSessionStarted, Spec: "§4.1.1", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
			Description: "A session begins: one request of a person, reported from here to its one terminal event.",
			Example:     exampleSessionStarted,
			Fields: []Field{
				normal("START-01").required(),
				terse("START-02"),
				detailed("START-03"),
				millis("expected_duration_ms", "START-04").means("How long the session will probably take, in milliseconds."),
				text("requested_by", "START-05", 1, short).means("Who asked for the work."),
				text("request_text", "START-06", 0, long).people().means("What was asked, without secrets."), // C-20
				array("tools_available", "START-07", 0, 256, Field{Kind: KindString, MinLen: 1, MaxLen: short}).unique().means("The names of the tools that the session may use."),
			},
		},
		{
			Type: TypeSessionCompleted, Spec: "§4.1.2", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
			Description: "The session ends because its work is done.",
			Example:     exampleSessionCompleted,
			Fields: []Field{
				normal("COMP-01").required(),
				terse("COMP-02"),
				detailed("COMP-03"),
				millis("duration_ms", "COMP-04").means("How long the session took, in milliseconds."),
				integer("tool_invocations_count", "COMP-05", 0, maxSafeInteger).means("How many tools were invoked in the session."),
				text("output_summary", "COMP-06", 0, long).people().means("What came out of it, in short."),
				formatted("result_uri", "COMP-07", FormatURI).means("Where the result can be fetched."),
			},
		},
		{
			Type: TypeSessionErrored, Spec: "§4.1.3", Event: true, Urgency: UrgencyCritical, Critical: "ERR-01", Closed: "ENV-47",
			Description: "The session ends because something went wrong.",
			Example:     exampleSessionErrored,
			Fields: []Field{
				oneOf("error_category", "ERR-02", categories...).required().means("What would help: waiting (transient), nothing (permanent), the person (requires_user), or unknown."),
				normal("ERR-03").required(),
				terse("ERR-04"),
				detailed("ERR-05"),
				patterned("error_code", "ERR-06", PatternErrorCode).means("A code for programs, in capitals."),
				formatted("error_uri", "ERR-07", FormatURI).means("Where the error is explained."),
				boolean("recoverable", "ERR-08").means("Whether another attempt may succeed."),
				readable("remediation_hint", "ERR-09", medium).means("What a person can do about it."),
			},
		},
		{
			Type: TypeSessionCancelled, Spec: "§4.1.4", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
			Description: "The session ends before its work is done, because someone or something stopped it.",
			Example:     exampleSessionCancelled,
			Fields: []Field{
				oneOf("cancelled_by", "CANC-01", cancellers...).required().means("Who ended the session before it was done."),
				normal("CANC-02").required(),
				terse("CANC-03"),
				detailed("CANC-04"),
				patterned("cancellation_reason", "CANC-05", PatternReason).means("The reason, as a code for programs."),
				text("partial_result", "CANC-06", 0, long).people().means("What had been reached by then."),
			},
		},
	}
}

func work() []Message { return append(working(), using()...) }

func working() []Message {
	return []Message{
		{
			Type: TypeStateChanged, Spec: "§4.2.1", Event: true, Urgency: UrgencyNormal, Quiet: true, Closed: "ENV-47",
			Description: "The agent passes from one state to another.",
			Example:     exampleStateChanged,
			Fields: []Field{
				text("from_state", "STATE-01", 1, word).required().means("The state that is left; idle for the first change of a session."),
				text("to_state", "STATE-02", 1, word).required().means("The state that begins: idle, thinking, calling_tool, writing_output, awaiting_input, deciding, handing_off, or a word of the producer's own."),
				terse("STATE-03"),
				normal("STATE-04").recommended(),
				detailed("STATE-05"),
				millis("expected_duration_ms", "STATE-06").means("How long the new state will probably last, in milliseconds."),
			},
		},
		{
			Type: TypeProgressUpdated, Spec: "§4.2.2", Event: true, Urgency: UrgencyBackground, Closed: "ENV-47",
			Description: "The work has come further.",
			Example:     exampleProgressUpdated,
			Fields: []Field{
				object(
					"progress", "PROG-01", "PROG-01",
					number("percent", "PROG-02", 0, 100).means("The part that is done, in percent."),
					integer("step", "PROG-03", 1, maxSafeInteger).means("The present step, counted from 1; not beyond total_steps."),
					integer("total_steps", "PROG-04", 1, maxSafeInteger).means("How many steps there are."),
					readable("description", "PROG-05", medium).means("What the present step does."),
				).required().checks(someProgressRule, stepRule).means("How far the work has come; at least one member."),
				terse("PROG-06"),
				normal("PROG-07").recommended(),
				detailed("PROG-08"),
				millis("eta_ms", "PROG-09").means("Milliseconds until it is probably done."),
			},
		},
	}
}

func using() []Message {
	return []Message{
		{
			Type: TypeToolInvoked, Spec: "§4.3.1", Event: true, Urgency: UrgencyNormal, Quiet: true, Closed: "ENV-47",
			Description: "A tool is about to run; reported before it has any effect.",
			Example:     exampleToolInvoked,
			Fields: []Field{
				patterned("tool", "TINV-01", PatternTool).required().means("The name of the tool."),
				normal("TINV-02").required(),
				terse("TINV-03"),
				detailed("TINV-04"),
				readable("description", "TINV-05", medium).means("What the tool does, the same at every call."),
				text("args_summary", "TINV-06", 0, long).people().means("The arguments in words, without keys, passwords or needless personal data."),
				millis("expected_duration_ms", "TINV-07").means("How long the call will probably take, in milliseconds."),
				oneOf("risk_level", "TINV-08", risks...).otherwise("low").means("How bad the outcome can be."),
				boolean("irreversible", "TINV-09").otherwise("false").means("Whether the effect cannot be undone; then an accepted confirmation comes first."),
				patterned("tool_call_id", "TINV-10", PatternCallID).means("The identity of this call; its completion repeats it."),
			},
		},
		{
			Type: TypeToolCompleted, Spec: "§4.3.2", Event: true, Urgency: UrgencyNormal, Quiet: true, Closed: "ENV-47",
			Description: "A tool has ended, in whatever way.",
			Example:     exampleToolCompleted,
			Fields: []Field{
				patterned("tool", "TCOM-01", PatternTool).required().means("The name of the tool, as in its invocation."),
				oneOf("status", "TCOM-02", statuses...).required().means("How the call ended."),
				terse("TCOM-03"),
				normal("TCOM-04").recommended(),
				detailed("TCOM-05"),
				patterned("tool_call_id", "TCOM-06", PatternCallID).means("The identity of the call, as in its invocation."),
				millis("duration_ms", "TCOM-07").means("How long the call took, in milliseconds."),
				readable("error_message", "TCOM-08", medium).means("What went wrong; expected where the status is not success."),
			},
			Rules: []Rule{errorMessageRule},
		},
		{
			Type: TypeOutputStreaming, Spec: "§4.3.3", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
			Borne:       "summary_normal", // some emitters give every event one (C-28)
			Description: "A piece of the text that the agent writes for the person.",
			Example:     exampleOutputStreaming,
			Fields: []Field{
				text("chunk", "OUT-01", 0, long).people().required().means("The next piece of the text; empty to mark the end only."),
				integer("position", "OUT-02", 0, maxSafeInteger).required().means("The characters (code points) of the same output before this chunk."),
				boolean("complete", "OUT-03").required().means("Whether this is the last chunk of its output."),
				oneOf("coalesce_hint", "OUT-04", boundaries...).means("Where the chunk ends: after a word, a sentence, a paragraph, the whole, or anywhere (none)."),
				patterned("output_id", "OUT-05", PatternOutputID).means("The output that the chunk belongs to, where a session has several."),
				patterned("content_type", "OUT-06", PatternContentType).otherwise("text/plain").means("The media type of the text, without parameters."),
				Field{Name: "language", Rule: "OUT-07", Kind: KindString, Pattern: PatternLanguage, Format: FormatLanguage}.means("The language of this chunk, where it differs from localization_hints."),
			},
			Rules: []Rule{completionHintRule},
		},
	}
}

func questions() []Message {
	return []Message{
		{
			Type: TypeAwaitingConfirmation, Spec: "§4.4.1", Event: true, Urgency: UrgencyCritical, Critical: "CONFM-01", Closed: "ENV-47",
			Description: "The agent waits for a person to allow an action, or not.",
			Example:     exampleAwaitingConfirmation,
			Fields: []Field{
				readable("action", "CONFM-02", long).required().means("What will be done, so that it can be judged without seeing anything else."),
				readable("consequence", "CONFM-03", long).required().means("What follows from doing it."),
				patterned("reply_token", "CONFM-04", PatternReplyToken).also("CONF-05").required().safety().means("The token that the reply repeats; it is good for one reply."),
				integer("timeout_seconds", "CONFM-05", 1, daySeconds).required().safety().means("How long an answer is waited for, in seconds."),
				oneOf("default_decision", "CONFM-06", decisions...).required().safety().means("What holds when nobody answers in time."),
				terse("CONFM-07"),
				normal("CONFM-08").recommended(),
				detailed("CONFM-09"),
				oneOf("risk_level", "CONFM-10", risks...).means("How bad the outcome can be."),
				boolean("irreversible", "CONFM-11").means("Whether the action cannot be undone."),
				oneOf("reversibility", "CONFM-12", reversals...).means("How far the action can be undone."),
				array("allowed_replies", "CONFM-13", 1, 32, Field{Kind: KindString}).unique().otherwise(`["accept","reject"]`).means("The decisions that are possible."),
				anyObject("extra_context", "CONFM-14").means("Further facts about the action, in any shape."),
			},
			Rules: []Rule{defaultDecisionRule, reversibilityRule, allowedRepliesRule, timeoutGuideRule},
		},
		{
			Type: TypeAwaitingClarification, Spec: "§4.4.2", Event: true, Urgency: UrgencyCritical, Critical: "CLAR-01", Closed: "ENV-47",
			Description: "The agent waits for an answer that it needs to go on.",
			Example:     exampleAwaitingClarification,
			Fields: []Field{
				readable("question", "CLAR-02", long).required().means("What is asked."),
				patterned("reply_token", "CLAR-03", PatternReplyToken).required().safety().means("The token that the reply repeats; it is good for one reply."),
				integer("timeout_seconds", "CLAR-04", 1, daySeconds).required().safety().means("How long an answer is waited for, in seconds."),
				terse("CLAR-05"),
				normal("CLAR-06").recommended(),
				detailed("CLAR-07"),
				array("accepted_response_kinds", "CLAR-08", 1, 4, Field{Kind: KindString, Enum: responses}).unique().means("The kinds of answer that can be used."),
				array("choices", "CLAR-09", 2, 32, object(
					"", "CLAR-09", "CLAR-09",
					text("value", "CLAR-09", 1, short).required().means("The answer that choosing it sends."),
					readable("label", "CLAR-09", label).required().means("The choice as a person hears it."),
				)).unique().means("What can be chosen; needed where multiple_choice is accepted."),
				readable("context", "CLAR-10", medium).means("What helps to understand the question."),
				text("default_response", "CLAR-11", 0, medium).means("The answer that holds when nobody answers in time, as text whatever its kind."),
			},
			Rules: []Rule{choicesRule, defaultAnswerRule, timeoutGuideRule},
		},
		{
			Type: TypeHandoffRequested, Spec: "§4.4.3", Event: true, Urgency: UrgencyCritical, Critical: "HAND-01", Closed: "ENV-47",
			Description: "The agent asks that someone else takes over.",
			Example:     exampleHandoffRequested,
			Fields: []Field{
				readable("reason", "HAND-02", long).required().means("Why someone else should take over."),
				oneOf("target_kind", "HAND-03", targets...).required().means("Who should take over."),
				terse("HAND-04"),
				normal("HAND-05").recommended(),
				detailed("HAND-06"),
				formatted("target_uri", "HAND-07", FormatURI).means("Where they can be reached."),
				anyObject("packaged_context", "HAND-08").means("What they need to know, in any shape."),
				oneOf("urgency_for_handoff", "HAND-09", risks...).means("How soon someone should take over; not how soon the event is delivered."),
			},
		},
	}
}

func answers() []Message {
	return []Message{
		{
			Type: TypeConfirmationReply, Spec: "§6.3", Closed: "CONF-40",
			Description: "A person's decision on a confirmation.",
			Example:     exampleConfirmationReply,
			Fields: []Field{
				oneOf("type", "CONF-30", TypeConfirmationReply).required().safety().means("The type of this message."),
				patterned("reply_token", "CONF-31", PatternReplyToken).required().safety().means("The token of the question, exactly as it came."),
				oneOf("decision", "CONF-32", decisions...).required().safety().means("What the person decided."),
				patterned("subscription_id", "CONF-33", PatternSubscriptionID).required().safety().means("The subscription of the one who replies."),
				formatted("timestamp", "CONF-34", FormatTimestamp).required().safety().means("When the person decided, which is not when it was sent."),
				text("decided_by", "CONF-35", 1, short).means("Who decided: a person, or the rule that a person had set."),
				text("decision_rationale", "CONF-36", 1, medium).means("Why, in the person's words."),
				anyObject("modified_action", "CONF-37").means("What the person wants changed; a producer that cannot change it takes the reply as a reject."),
				text("correlation_id", "CONF-39", 0, 0).means("A trace id that links the message to logs elsewhere."),
			},
		},
		{
			Type: TypeClarificationReply, Spec: "§6.5", Closed: "CLA-05",
			Description: "A person's answer to a clarification.",
			Example:     exampleClarificationReply,
			Fields: []Field{
				oneOf("type", "CLA-02", TypeClarificationReply).required().safety().means("The type of this message."),
				patterned("reply_token", "CLA-02", PatternReplyToken).required().safety().means("The token of the question, exactly as it came."),
				{Name: "response", Rule: "CLA-02", Also: []string{"CLA-04"}, Kind: KindScalar, MinLen: 1, MaxLen: long, Required: true, Safety: true, Description: "The answer: a text or the value of a choice, yes or no as a boolean, or a number."},
				patterned("subscription_id", "CLA-02", PatternSubscriptionID).required().safety().means("The subscription of the one who replies."),
				formatted("timestamp", "CLA-02", FormatTimestamp).required().safety().means("When the person answered, which is not when it was sent."),
				text("decided_by", "CLA-05", 1, short).means("Who answered."),
				number("confidence", "CLA-05", 0, 1).means("How sure the answer is, from 0 to 1, where it was recognised from speech or the like."),
				text("correlation_id", "CLA-05", 0, 0).means("A trace id that links the message to logs elsewhere."),
			},
		},
		{
			Type: TypeQuestionExtend, Spec: "earshot ns v1", Closed: "QEXT-05",
			Description: "A person needs more time for an answer. A message of Earshot's own.",
			Example:     exampleQuestionExtend,
			Fields: []Field{
				oneOf("type", "QEXT-01", TypeQuestionExtend).required().safety().means("The type of this message."),
				patterned("reply_token", "QEXT-02", PatternReplyToken).required().safety().means("The token of the question that needs more time."),
				patterned("subscription_id", "QEXT-03", PatternSubscriptionID).required().safety().means("The subscription of the one who asks."),
				formatted("timestamp", "QEXT-04", FormatTimestamp).required().safety().means("When more time was asked for."),
			},
		},
	}
}
