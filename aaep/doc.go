// Package aaep speaks the Agent Accessibility Event Protocol, version 1.0.0: the
// envelope, the twelve events that tell people what an agent is doing, the handshake
// that opens a subscription to them, and the replies with which people answer.
//
// # Writing and reading
//
// An [Event] is an envelope and one [Payload], such as [ToolInvoked] or
// [AwaitingConfirmation]. [Event.Encode] writes it in the recommended key order,
// fills what may be filled (version, verbosity, urgency) and refuses an event that
// breaks a rule, so that what leaves is well formed. [DecodeEvent] reads leniently
// what others wrote: unknown types, members and words pass, but nothing that would
// be unsafe to act on; [Event.Forward] passes such an event on as it was. Replies are read strictly by [DecodeConfirmationReply],
// [DecodeClarificationReply] and [DecodeQuestionExtend], because a reply can say
// yes on behalf of a person. The five messages of the handshake, such as
// [SubscriptionRequest], are read as strictly where they say what may be sent to whom,
// and bear members that a later version may have.
//
// # One table
//
// Every field of every message is a row of data (see [Messages]): its kind, limits,
// pattern, words, the rule that it obeys and where that rule is written. [Validate],
// and for many messages a [Validator], walk the table, compiled once, over the text and
// name the broken rule in each [Violation]. Rules that span
// fields are functions which the table refers to by name. To teach the package a
// new message is to add rows.
//
// The package is pure: it reads no clock, draws no randomness of its own and does
// no I/O.
package aaep
