// Package aaep speaks the Agent Accessibility Event Protocol, version 1.0.0: the
// envelope, the twelve events that tell people what an agent is doing, and the
// replies with which they answer.
//
// # Writing and reading
//
// An [Event] is an envelope and one [Payload], such as [ToolInvoked] or
// [AwaitingConfirmation]. [Event.Encode] writes it in the recommended key order,
// fills what may be filled (version, verbosity, urgency) and refuses an event that
// breaks a rule, so that what leaves is well formed. [DecodeEvent] reads leniently
// what others wrote: unknown types, members and words pass, but nothing that would
// be unsafe to act on. Replies are read strictly by [DecodeConfirmationReply],
// [DecodeClarificationReply] and [DecodeQuestionExtend], because a reply can say
// yes on behalf of a person.
//
// # One table
//
// Every field of every message is a row of data (see [Messages]): its kind, limits,
// pattern, words, the rule that it obeys and where that rule is written. [Validate]
// walks the table and names the broken rule in each [Violation]. Rules that span
// fields are functions which the table refers to by name. To teach the package a
// new message is to add rows.
//
// The package is pure: it reads no clock, draws no randomness of its own and does
// no I/O.
package aaep
