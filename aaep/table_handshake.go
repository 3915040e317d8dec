package aaep

import "sync"

// This file is the vocabulary of the handshake (§5): the rows of its five messages and
// of the capabilities, which three of them carry.

var (
	loads   = []string{"low", "medium", "high"}
	reasons = []string{
		"version_unsupported", "manifest_signature_required", "capabilities_incompatible", "rate_limit", "authentication_required",
		"authorization_denied", "transport_unavailable", "unknown",
	}
)

// capabilities are the members of CAP-01 to CAP-13. The object is open: other members
// are an extension's (CAP-14).
var capabilities = sync.OnceValue(func() []Field {
	return []Field{
		integer("max_events_per_second", "CAP-01", 1, 100_000).means("How many events a second the subscriber can take, critical ones aside; without it there is no limit."),
		oneOf("preferred_verbosity", "CAP-02", verbosities...).otherwise("normal").means("How wordy the texts should be."),
		array("languages", "CAP-03", 1, 32, languageItem).also("I18N-03").unique().otherwise(`["en-US"]`).means("The wanted languages, most wanted first."),
		boolean("supports_confirmation_reply", "CAP-04").otherwise("false").means("Whether the subscriber can answer confirmations."),
		boolean("supports_clarification_reply", "CAP-05").otherwise("false").means("Whether the subscriber can answer clarifications."),
		array("coalesce_boundaries", "CAP-06", 1, 5, Field{Kind: KindString, Enum: boundaries}).unique().otherwise(`["sentence","completion"]`).means("Where streamed text may be cut."),
		object(
			"event_filters", "CAP-07", "CAP-07",
			patternsRow("include").otherwise(`["aaep:agent.*"]`).means("Types that are wanted: a type, or the beginning of one and an asterisk."),
			patternsRow("exclude").otherwise("[]").means("Types that are not wanted, written in the same way."),
		).means("Which types of events are wanted; exclude beats include, what is critical beats both."),
		array("supported_conformance_levels", "CAP-09", 1, 3, Field{Kind: KindInteger, Low: 1, High: 3, Bounded: true}).unique().otherwise("[1]").means("The conformance levels that the subscriber has."),
		array("supported_extensions", "CAP-10", 0, 64, Field{Kind: KindString, Format: FormatURI}).unique().otherwise("[]").means("The namespaces of the extensions that the subscriber can read."),
		oneOf("cognitive_load", "CAP-11", loads...).otherwise("medium").means("How much the person can take in at the moment."),
		integer("pace_wpm", "CAP-12", 50, 1000).means("How fast text is read out, in words a minute."),
		boolean("accept_signed_manifests_only", "CAP-13").otherwise("false").means("Whether only a producer with a signed manifest will do."),
	}
})

func patternsRow(name string) Field {
	return array(name, "CAP-07", 0, 0, Field{Kind: KindString, MinLen: 1, MaxLen: short, Checks: []Rule{filterPatternRule}}).unique()
}

func capabilitiesRow(name, rule, words string) Field {
	return object(name, rule, "", capabilities()...).required().spec("§5.3").checks(extensionCapabilityRule).means(words)
}

// guarded marks rows, and what is inside them, as unsafe to act on when they are wrong:
// the handshake is read strictly where it says what may be sent to whom.
func guarded(fields ...Field) []Field {
	marked := make([]Field, len(fields))
	for i, f := range fields {
		f.Safety = true
		if f.Members != nil {
			f.Members = guarded(f.Members...)
		}
		marked[i] = f
	}
	return marked
}

func handshake() []Message {
	return []Message{
		{
			Type: TypeSubscriptionRequest, Spec: "§5.2", Closed: "HS-06",
			Description: "A subscriber asks to hear events, and says what it can take in.",
			Example:     exampleSubscriptionRequest,
			Fields: guarded(
				oneOf("type", "HS-01", TypeSubscriptionRequest).required().means("The type of this message."),
				patterned("aaep_version", "HS-02", PatternVersion).required().checks(semVerRule).means("The version of AAEP that the subscriber wants."),
				text("subscriber_id", "HS-03", 1, short).required().means("A name of the subscriber that is the same at every start."),
				text("subscriber_name", "HS-05", 0, short).means("A name of the subscriber for people."),
				text("subscriber_version", "HS-05", 0, word).means("The version of the subscriber."),
				formatted("subscriber_manifest_uri", "HS-05", FormatURI).means("Where a description of the subscriber can be fetched."),
				text("correlation_id", "HS-05", 0, 0).means("A trace id that links the message to logs elsewhere."),
				capabilitiesRow("capabilities", "HS-04", "What the subscriber can take in and wants; {} means the defaults.").checks(extensionCapabilityRule, confirmationReplyRule),
				Field{Name: "extensions", Rule: "HS-05", Kind: KindObject, Each: &Field{Rule: "HS-05", Kind: KindObject}, Description: "The data of extensions: one object under each prefix."},
			),
		},
		{
			Type: TypeSubscriptionAccepted, Spec: "§5.4", Closed: "HS-26",
			Description: "The producer grants a subscription, or new terms of one.",
			Example:     exampleSubscriptionAccepted,
			Fields: []Field{
				oneOf("type", "HS-20", TypeSubscriptionAccepted).required().safety().means("The type of this message."),
				patterned("subscription_id", "HS-21", PatternSubscriptionID).required().safety().means("The identity of the subscription, made by the producer."),
				patterned("aaep_version", "HS-22", PatternVersion).required().safety().checks(semVerRule).means("The version of AAEP that will be used; both sides have it."),
				object("producer", "HS-23", "HS-23", producerMembers()...).required().means("Who will emit."),
				capabilitiesRow("honored_capabilities", "HS-24", "The terms that hold; never more permissive than what was asked."),
				formatted("manifest_uri", "HS-25", FormatURI).means("Where the manifest of the producer can be fetched."),
				patterned("signed_manifest", "HS-25", PatternSignedManifest).safety().means("The manifest, signed: a compact JWS with its payload."),
				text("negotiation_notes", "HS-25", 0, medium).people().means("For people: in what the terms differ from what was asked."),
			},
		},
		{
			Type: TypeSubscriptionRejected, Spec: "§5.5", Closed: "HS-43",
			Description: "The producer refuses a subscription, or ends it because new terms cannot be met.",
			Example:     exampleSubscriptionRejected,
			Fields: []Field{
				oneOf("type", "HS-40", TypeSubscriptionRejected).required().safety().means("The type of this message."),
				oneOf("reason_code", "HS-41", reasons...).required().means("Why there is no subscription, as a code for programs."), // an unknown one is borne (HS-49)
				readable("reason_message", "HS-42", medium).required().means("Why there is no subscription, for people."),
				integer("retry_after_seconds", "HS-43", 0, daySeconds).means("After how many seconds another attempt is worth while."),
				formatted("alternative_manifest_uri", "HS-43", FormatURI).means("The manifest of another producer that may serve."),
			},
		},
		{
			Type: TypeSubscriptionRenegotiate, Spec: "§5.7", Closed: "HS-60",
			Description: "A subscriber asks for other terms.",
			Example:     exampleSubscriptionRenegotiate,
			Fields: guarded(
				oneOf("type", "HS-60", TypeSubscriptionRenegotiate).required().means("The type of this message."),
				patterned("subscription_id", "HS-60", PatternSubscriptionID).required().means("The subscription whose terms should change."),
				capabilitiesRow("capabilities", "HS-60", "What changes; a member that is left out keeps its value.").checks(extensionCapabilityRule, confirmationReplyRule),
			),
		},
		{
			Type: TypeSubscriptionClose, Spec: "§5.8", Closed: "HS-66",
			Description: "Either side ends a subscription.",
			Example:     exampleSubscriptionClose,
			Fields: []Field{
				oneOf("type", "HS-66", TypeSubscriptionClose).required().safety().means("The type of this message."),
				patterned("subscription_id", "HS-66", PatternSubscriptionID).required().safety().means("The subscription that ends."),
				patterned("reason_code", "HS-66", PatternReason).means("Why it ends, as a code for programs."),
				text("reason_message", "HS-66", 0, medium).people().means("Why it ends, for people."),
			},
		},
	}
}
