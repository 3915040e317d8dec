package conform_test

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

// stamp is the time of every message that does not say another one.
const stamp = "2026-05-24T14:22:00.000Z"

// bases are valid messages, as small as they can be without a warning of their own;
// the vectors change them.
var bases = map[string]object{
	"started":   event("session.started", "normal", "summary_normal", "Checking the backups."),
	"completed": event("session.completed", "normal", "summary_normal", "The backups are checked."),
	"errored":   event("session.errored", "critical", "error_category", "transient", "summary_normal", "The backups could not be read."),
	"cancelled": event("session.cancelled", "normal", "cancelled_by", "user", "summary_normal", "Stopped, as you asked."),
	"state":     event("state.changed", "normal", "from_state", "idle", "to_state", "thinking", "summary_normal", "Thinking."),
	"progress":  event("progress.updated", "background", "progress", object{{"percent", 40}}, "summary_normal", "Almost half of it is checked."),
	"invoked":   event("tool.invoked", "normal", "tool", "files.scan", "summary_normal", "Looking through the folder."),
	"done":      event("tool.completed", "normal", "tool", "files.scan", "status", "success", "summary_normal", "The folder is looked through."),
	"chunk":     event("output.streaming", "normal", "chunk", "Three ", "position", 0, "complete", false, "coalesce_hint", "word"),
	"last":      event("output.streaming", "normal", "chunk", "Done.", "position", 0, "complete", true, "coalesce_hint", "completion"),
	"confirmation": event("awaiting.confirmation", "critical", "action", "Empty the folder named old.", "consequence", "Its 12 files can be restored for a month.",
		"reply_token", "rpl_1", "timeout_seconds", 60, "default_decision", "reject", "summary_normal", "Empty the folder named old?",
		"risk_level", "low", "irreversible", false),
	"clarification": event("awaiting.clarification", "critical", "question", "Which folder?", "reply_token", "rpl_1", "timeout_seconds", 120,
		"summary_normal", "Which folder shall I look at?", "accepted_response_kinds", list("freetext")),
	"handoff": event("handoff.requested", "critical", "reason", "The disk must be changed by hand.", "target_kind", "human",
		"summary_normal", "Somebody has to change the disk."),

	"creply":      {{"type", "confirmation.reply"}, {"reply_token", "rpl_1"}, {"decision", "reject"}, {"subscription_id", "sub_1"}, {"timestamp", stamp}},
	"answer":      {{"type", "clarification.reply"}, {"reply_token", "rpl_1"}, {"response", "The one named old."}, {"subscription_id", "sub_1"}, {"timestamp", stamp}},
	"request":     {{"type", "subscription.request"}, {"aaep_version", aaep.Version}, {"subscriber_id", "reader-1"}, {"capabilities", object{}}},
	"accepted":    {{"type", "subscription.accepted"}, {"subscription_id", "sub_1"}, {"aaep_version", aaep.Version}, {"producer", object{{"agent_id", "vector-agent"}}}, {"honored_capabilities", object{}}},
	"rejected":    {{"type", "subscription.rejected"}, {"reason_code", "rate_limit"}, {"reason_message", "Too many are listening."}},
	"renegotiate": {{"type", "subscription.renegotiate"}, {"subscription_id", "sub_1"}, {"capabilities", object{{"max_events_per_second", 2}}}},
	"close":       {{"type", "subscription.close"}, {"subscription_id", "sub_1"}, {"reason_code", "subscriber_shutdown"}, {"reason_message", "Good night."}},
}

func event(name, urgency string, payload ...any) object {
	return object{
		{"@context", aaep.CoreContext},
		{"aaep_version", aaep.Version},
		{"type", "aaep:agent." + name},
		{"event_id", "evt_1"},
		{"session_id", "sess_1"},
		{"timestamp", stamp},
		{"producer", object{{"agent_id", "vector-agent"}}},
		{"urgency", urgency},
		{"localization_hints", object{{"primary_language", "en"}}},
	}.with(payload...)
}

// on is a base with changes.
func on(base string, changes ...any) object {
	o, ok := bases[base]
	if !ok {
		panic("no base " + base)
	}
	return o.with(changes...)
}

// others is a second context, of an extension that nobody knows.
const others = "https://example.org/medai/v1"

// foreign is an event of an extension.
func foreign(changes ...any) object {
	return on("state", "@context", list(aaep.CoreContext, others), "type", "medai:patient.seen", "from_state", absent{}, "to_state", absent{}).with(changes...)
}

func many(text string, n int) string { return strings.Repeat(text, n) }
