package aaep

import "slices"

// This file is the vocabulary: one row for each field of each message, in the order
// of the specification's tables, and the rules that span fields. Names of rules are
// those of the catalogue; QEXT is our own message.

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

// envelope is the outer part of every event, in the order of ENV-58.
var envelope = []Field{
	{Name: "@context", Rule: "ENV-08", Also: []string{"ENV-09"}, Spec: "§3.2.1", Kind: KindContext, Required: true, Safety: true, Checks: []Rule{contextRule}},
	patterned("aaep_version", "ENV-44", PatternVersion).spec("§3.4.4").checks(versionRule),
	text("type", "ENV-16", 1, 0).spec("§3.2.2").required().safety(),
	patterned("event_id", "ENV-18", PatternEventID).spec("§3.2.3").required().safety(),
	patterned("session_id", "ENV-21", PatternSessionID).spec("§3.2.4").required().safety(),
	integer("sequence_number", "ENV-39", 0, maxSafeInteger).spec("§3.4.1"),
	formatted("timestamp", "ENV-24", FormatTimestamp).also("ENV-25", "ENV-26").spec("§3.2.5").required().safety(),
	object(
		"producer", "ENV-29", "ENV-33",
		text("agent_id", "ENV-29", 1, 0).required().safety(),
		text("agent_version", "ENV-31", 1, 0),
		text("agent_name", "ENV-31", 1, 0),
		text("model", "ENV-31", 1, 0),
		formatted("manifest_uri", "ENV-32", FormatURI),
	).spec("§3.2.6").required(),
	oneOf("verbosity", "ENV-34", verbosities...).spec("§3.3.1").otherwise("normal"),
	oneOf("urgency", "ENV-35", urgencies...).spec("§3.3.2").otherwise("normal"),
	object(
		"localization_hints", "I18N-01", "I18N-08",
		Field{Name: "primary_language", Rule: "I18N-02", Also: []string{"I18N-03"}, Kind: KindString, Pattern: PatternLanguage, Format: FormatLanguage, Wanted: "I18N-02"},
		oneOf("text_direction", "I18N-04", directions...).otherwise("ltr"),
		array("available_languages", "I18N-05", 0, 32, languageItem).also("ENV-53", "I18N-03").unique(),
		array("fallback_chain", "I18N-06", 0, 16, languageItem).also("I18N-03"),
		patterned("script", "I18N-07", PatternScript),
		text("calendar", "I18N-07", 0, 0),
	).spec("§11.1.1").checks(directionRule),
	text("correlation_id", "ENV-40", 0, 0).spec("§3.4.2"),
	{Name: "extensions", Rule: "ENV-41", Spec: "§3.4.3", Kind: KindObject, Each: &Field{Rule: "ENV-41", Kind: KindObject}, Checks: []Rule{prefixRule}},
}

// table is every message, in the order of the specification.
var table = slices.Concat(lifecycle, work, questions, answers)

var lifecycle = []Message{
	{
		Type: TypeSessionStarted, Spec: "§4.1.1", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
		Fields: []Field{
			readable("summary_normal", "START-01", long).required(),
			readable("summary_terse", "START-02", medium),
			readable("summary_detailed", "START-03", long),
			millis("expected_duration_ms", "START-04"),
			text("requested_by", "START-05", 1, short),
			text("request_text", "START-06", 0, long),
			array("tools_available", "START-07", 0, 256, Field{Kind: KindString, MinLen: 1, MaxLen: short}).unique(),
		},
	},
	{
		Type: TypeSessionCompleted, Spec: "§4.1.2", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
		Fields: []Field{
			readable("summary_normal", "COMP-01", long).required(),
			readable("summary_terse", "COMP-02", medium),
			readable("summary_detailed", "COMP-03", long),
			millis("duration_ms", "COMP-04"),
			integer("tool_invocations_count", "COMP-05", 0, maxSafeInteger),
			text("output_summary", "COMP-06", 0, long).people(),
			formatted("result_uri", "COMP-07", FormatURI),
		},
	},
	{
		Type: TypeSessionErrored, Spec: "§4.1.3", Event: true, Urgency: UrgencyCritical, Critical: "ERR-01", Closed: "ENV-47",
		Fields: []Field{
			oneOf("error_category", "ERR-02", categories...).required(),
			readable("summary_normal", "ERR-03", long).required(),
			readable("summary_terse", "ERR-04", medium),
			readable("summary_detailed", "ERR-05", long),
			patterned("error_code", "ERR-06", PatternErrorCode),
			formatted("error_uri", "ERR-07", FormatURI),
			boolean("recoverable", "ERR-08"),
			readable("remediation_hint", "ERR-09", medium),
		},
	},
	{
		Type: TypeSessionCancelled, Spec: "§4.1.4", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
		Fields: []Field{
			oneOf("cancelled_by", "CANC-01", cancellers...).required(),
			readable("summary_normal", "CANC-02", long).required(),
			readable("summary_terse", "CANC-03", medium),
			readable("summary_detailed", "CANC-04", long),
			patterned("cancellation_reason", "CANC-05", PatternReason),
			text("partial_result", "CANC-06", 0, long).people(),
		},
	},
}

var work = []Message{
	{
		Type: TypeStateChanged, Spec: "§4.2.1", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
		Fields: []Field{
			text("from_state", "STATE-01", 1, word).required(),
			text("to_state", "STATE-02", 1, word).required(),
			readable("summary_terse", "STATE-03", medium),
			readable("summary_normal", "STATE-04", long).wanted(),
			readable("summary_detailed", "STATE-05", long),
			millis("expected_duration_ms", "STATE-06"),
		},
	},
	{
		Type: TypeProgressUpdated, Spec: "§4.2.2", Event: true, Urgency: UrgencyBackground, Closed: "ENV-47",
		Fields: []Field{
			object(
				"progress", "PROG-01", "PROG-01",
				number("percent", "PROG-02", 0, 100),
				integer("step", "PROG-03", 1, maxSafeInteger),
				integer("total_steps", "PROG-04", 1, maxSafeInteger),
				readable("description", "PROG-05", medium),
			).required().checks(someProgressRule, stepRule),
			readable("summary_terse", "PROG-06", medium),
			readable("summary_normal", "PROG-07", long).wanted(),
			readable("summary_detailed", "PROG-08", long),
			millis("eta_ms", "PROG-09"),
		},
	},
	{
		Type: TypeToolInvoked, Spec: "§4.3.1", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
		Fields: []Field{
			patterned("tool", "TINV-01", PatternTool).required(),
			readable("summary_normal", "TINV-02", long).required(),
			readable("summary_terse", "TINV-03", medium),
			readable("summary_detailed", "TINV-04", long),
			readable("description", "TINV-05", medium),
			text("args_summary", "TINV-06", 0, long).people(),
			millis("expected_duration_ms", "TINV-07"),
			oneOf("risk_level", "TINV-08", risks...).otherwise("low"),
			boolean("irreversible", "TINV-09").otherwise("false"),
			patterned("tool_call_id", "TINV-10", PatternCallID),
		},
	},
	{
		Type: TypeToolCompleted, Spec: "§4.3.2", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
		Fields: []Field{
			patterned("tool", "TCOM-01", PatternTool).required(),
			oneOf("status", "TCOM-02", statuses...).required(),
			readable("summary_terse", "TCOM-03", medium),
			readable("summary_normal", "TCOM-04", long).wanted(),
			readable("summary_detailed", "TCOM-05", long),
			patterned("tool_call_id", "TCOM-06", PatternCallID),
			millis("duration_ms", "TCOM-07"),
			readable("error_message", "TCOM-08", medium),
		},
		Rules: []Rule{errorMessageRule},
	},
	{
		Type: TypeOutputStreaming, Spec: "§4.3.3", Event: true, Urgency: UrgencyNormal, Closed: "ENV-47",
		Fields: []Field{
			text("chunk", "OUT-01", 0, long).people().required(),
			integer("position", "OUT-02", 0, maxSafeInteger).required(),
			boolean("complete", "OUT-03").required(),
			oneOf("coalesce_hint", "OUT-04", boundaries...),
			patterned("output_id", "OUT-05", PatternOutputID),
			patterned("content_type", "OUT-06", PatternContentType).otherwise("text/plain"),
			{Name: "language", Rule: "OUT-07", Kind: KindString, Pattern: PatternLanguage, Format: FormatLanguage},
		},
		Rules: []Rule{completionHintRule},
	},
}

var questions = []Message{
	{
		Type: TypeAwaitingConfirmation, Spec: "§4.4.1", Event: true, Urgency: UrgencyCritical, Critical: "CONFM-01", Closed: "ENV-47",
		Fields: []Field{
			readable("action", "CONFM-02", long).required(),
			readable("consequence", "CONFM-03", long).required(),
			patterned("reply_token", "CONFM-04", PatternReplyToken).also("CONF-05").required().safety(),
			integer("timeout_seconds", "CONFM-05", 1, daySeconds).required().safety(),
			oneOf("default_decision", "CONFM-06", decisions...).required().safety(),
			readable("summary_terse", "CONFM-07", medium),
			readable("summary_normal", "CONFM-08", long).wanted(),
			readable("summary_detailed", "CONFM-09", long),
			oneOf("risk_level", "CONFM-10", risks...),
			boolean("irreversible", "CONFM-11"),
			oneOf("reversibility", "CONFM-12", reversals...),
			array("allowed_replies", "CONFM-13", 1, 32, Field{Kind: KindString}).unique().otherwise(`["accept","reject"]`),
			anyObject("extra_context", "CONFM-14"),
		},
		Rules: []Rule{defaultDecisionRule, reversibilityRule, allowedRepliesRule, timeoutGuideRule},
	},
	{
		Type: TypeAwaitingClarification, Spec: "§4.4.2", Event: true, Urgency: UrgencyCritical, Critical: "CLAR-01", Closed: "ENV-47",
		Fields: []Field{
			readable("question", "CLAR-02", long).required(),
			patterned("reply_token", "CLAR-03", PatternReplyToken).required().safety(),
			integer("timeout_seconds", "CLAR-04", 1, daySeconds).required().safety(),
			readable("summary_terse", "CLAR-05", medium),
			readable("summary_normal", "CLAR-06", long).wanted(),
			readable("summary_detailed", "CLAR-07", long),
			array("accepted_response_kinds", "CLAR-08", 1, 4, Field{Kind: KindString, Enum: responses}).unique(),
			array("choices", "CLAR-09", 2, 32, object(
				"", "CLAR-09", "CLAR-09",
				text("value", "CLAR-09", 1, short).required(),
				readable("label", "CLAR-09", label).required(),
			)).unique(),
			readable("context", "CLAR-10", medium),
			text("default_response", "CLAR-11", 0, medium),
		},
		Rules: []Rule{choicesRule, defaultAnswerRule},
	},
	{
		Type: TypeHandoffRequested, Spec: "§4.4.3", Event: true, Urgency: UrgencyCritical, Critical: "HAND-01", Closed: "ENV-47",
		Fields: []Field{
			readable("reason", "HAND-02", long).required(),
			oneOf("target_kind", "HAND-03", targets...).required(),
			readable("summary_terse", "HAND-04", medium),
			readable("summary_normal", "HAND-05", long).wanted(),
			readable("summary_detailed", "HAND-06", long),
			formatted("target_uri", "HAND-07", FormatURI),
			anyObject("packaged_context", "HAND-08"),
			oneOf("urgency_for_handoff", "HAND-09", risks...),
		},
	},
}

var answers = []Message{
	{
		Type: TypeConfirmationReply, Spec: "§6.3", Closed: "CONF-40",
		Fields: []Field{
			oneOf("type", "CONF-30", TypeConfirmationReply).required().safety(),
			patterned("reply_token", "CONF-31", PatternReplyToken).required().safety(),
			oneOf("decision", "CONF-32", decisions...).required().safety(),
			patterned("subscription_id", "CONF-33", PatternSubscriptionID).required().safety(),
			formatted("timestamp", "CONF-34", FormatTimestamp).required().safety(),
			text("decided_by", "CONF-35", 1, short),
			text("decision_rationale", "CONF-36", 1, medium),
			anyObject("modified_action", "CONF-37"),
			text("correlation_id", "CONF-39", 0, 0),
		},
	},
	{
		Type: TypeClarificationReply, Spec: "§6.5", Closed: "CLA-05",
		Fields: []Field{
			oneOf("type", "CLA-02", TypeClarificationReply).required().safety(),
			patterned("reply_token", "CLA-02", PatternReplyToken).required().safety(),
			{Name: "response", Rule: "CLA-02", Also: []string{"CLA-04"}, Kind: KindScalar, MinLen: 1, MaxLen: long, Required: true, Safety: true},
			patterned("subscription_id", "CLA-02", PatternSubscriptionID).required().safety(),
			formatted("timestamp", "CLA-02", FormatTimestamp).required().safety(),
			text("decided_by", "CLA-05", 1, short),
			number("confidence", "CLA-05", 0, 1),
			text("correlation_id", "CLA-05", 0, 0),
		},
	},
	{
		Type: TypeQuestionExtend, Spec: "earshot ns v1", Closed: "QEXT-05",
		Fields: []Field{
			oneOf("type", "QEXT-01", TypeQuestionExtend).required().safety(),
			patterned("reply_token", "QEXT-02", PatternReplyToken).required().safety(),
			patterned("subscription_id", "QEXT-03", PatternSubscriptionID).required().safety(),
			formatted("timestamp", "QEXT-04", FormatTimestamp).required().safety(),
		},
	},
}
