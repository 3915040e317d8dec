package aaep

import (
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"
)

// This file is the vocabulary of the namespaces that are known here: what stands under
// extensions.earshot and extensions.utp. Both are open: what no row names passes.

var (
	resolutions = []string{
		string(ResolutionAccepted), string(ResolutionRejected), string(ResolutionAnswered), string(ResolutionExpired),
		string(ResolutionWithdrawn), string(ResolutionExtended), string(ResolutionStopped),
	}
	effects     = []string{"read", "idempotent", "reversible", "irreversible"}
	utpStatuses = []string{"success", "failed", "canceled", "timeout", "partial"}
)

// namespaces are the objects under the registered prefixes (EXT-18).
var namespaces = sync.OnceValue(func() []Field {
	return []Field{
		object(
			PrefixEarshot, "EXT-18", "",
			integer("question", "EXT-18", 0, maxSafeInteger).means("The number of the question that the event is about, small enough to say."),
			patterned("tool_call_id", "EXT-18", PatternCallID).means("The call that the event is about."),
			text("tool", "EXT-18", 1, short).means("The tool of that call."),
			oneOf("class", "EXT-18", effects...).means("What the call may do to the world."),
			formatted("deadline", "EXT-18", FormatTimestamp).means("Until when the question can be answered."),
			integer("left_seconds", "EXT-18", 0, maxSafeInteger).means("How many seconds are left to answer the question."),
			integer("items", "EXT-18", 0, maxSafeInteger).means("How many things the call is about."),
			integer("bytes", "EXT-18", 0, maxSafeInteger).means("How large they are together, in bytes."),
			integer("undo_seconds", "EXT-18", 0, daySeconds).means("How long an accepted call still waits and can be taken back, in seconds."),
			formatted("starts_at", "EXT-18", FormatTimestamp).means("When an accepted call will start at the earliest; the time to take it back begins once its surface has been notified."),
			patterned("replaces", "EXT-18", PatternCallID).means("The earlier attempt that the call repeats."),
			oneOf("enforcement", "EXT-18", "broker-only", "advisory").means("How far the gate reaches a service that it does not enforce: broker-only or advisory."),
			text("earlier", "EXT-18", 0, 0).means("What is known of that attempt, for people."),
			text("hint", "EXT-18", 0, 0).means("What else one can do, for people."),
			patterned("agent_language", "EXT-18", PatternLanguage).means("The language of the agent's own words in the event: between quotation marks, and the labels of choices."),
			boolean("passkey", "EXT-18").means("Whether a yes takes a passkey, which is used on the page."),
			boolean("unreviewed", "EXT-18").means("Whether nobody has looked at the definition of the tool yet."),
			oneOf("resolution", "EXT-18", resolutions...).means("How the question has ended."),
			patterned("reply_token", "EXT-18", PatternReplyToken).means("The token of the question that has ended."),
			text("by", "EXT-18", 0, 0).means("Who said so."),
			text("surface", "EXT-18", 0, 0).means("Where they said it."),
			text("reason", "EXT-18", 0, 0).means("The reason, as a code."),
			patterned("parent_session_id", "EXT-18", PatternSessionID).means("The session whose work this one is a part of."),
			boolean("resync", "EXT-18").means("Whether the event only says where the session is, to one subscriber that came late."),
			array("span", "EXT-18", 2, 2, Field{Kind: KindInteger, Low: 0, High: maxSafeInteger, Bounded: true}).means("The first and the last of the session's numbered events that this delivery stands for."),
			text(ManifestPathPrefix, "EXT-18", 1, 0).means("Of a manifest: under which path the HTTP transports live."),
			text(ManifestFraming, "EXT-18", 1, 0).means("Of a manifest: how messages are told apart on a Unix socket."),
			text(ManifestPattern, "EXT-18", 1, 0).means("Of a manifest: how several agents share sessions."),
			array(ManifestStates, "EXT-18", 0, 0, Field{Kind: KindString, MinLen: 1, MaxLen: word}).unique().means("Of a manifest: the states beyond the standard ones."),
		).means("Data of Earshot."),
		object(
			PrefixUTP, "EXT-18", "",
			oneOf("status", "EXT-18", utpStatuses...).means("How the call ended, in UTP's words."),
			text("code", "EXT-18", 0, 0).means("UTP's code of the failure."),
			oneOf("class", "EXT-18", effects...).means("What the call may do to the world."),
		).means("Data of UTP, the protocol of the tools."),
	}
})

// Namespaces returns the description of the extension data that this package knows, an
// object for each prefix.
func Namespaces() []Field { return slices.Clone(namespaces()) }

// namespaceRows are the namespaces, ready to be judged.
var namespaceRows = sync.OnceValue(func() *rows {
	compiled := compileRows(namespaces(), "", "§3.9")
	return &compiled
})

// extensionData judges what stands under a prefix, where its namespace is known
// (EXT-18). A reader never refuses an event for it (ENV-43).
func (in *inspection) extensionData(n uint32) {
	known := namespaceRows().find(in.name(n))
	if known != nil && in.mode != ModeConsumer && in.is(n, kindObject) && in.nodes[n].flags&flagRepeated == 0 {
		in.value(known, n)
	}
}

// prefixShape judges the spelling of a prefix (EXT-09).
func (in *inspection) prefixShape(prefix []byte, n uint32) {
	switch size := utf8.RuneCount(prefix); {
	case size == 1:
		in.warn(n, "§7.3", fmt.Sprintf("found the prefix %s of a single letter, expected 3 to 12", quoted(prefix)), "EXT-09")
	case size < 3 || size > 12:
		in.note(SeverityInfo, in.path(n), "§7.3", fmt.Sprintf("found the prefix %s, usual are 3 to 12 letters", quoted(prefix)), "EXT-09")
	}
}
