// Package session implements the order in which the events of an AAEP session may come, for both sides.
//
// # Emitting
//
// A [Session] is the producer's side. It builds the next legal event, with an id, a time that never goes back, the
// previous state and the position in the text. It refuses with an [*Error] whatever a [Checker] would object to. Its
// whole memory is a [State], which can be stored as JSON between two steps and passed to [Restore].
//
// An [Emitter] drives a Session for a running program. It reports state changes itself, links a question to the call
// that it is about, accepts text like a file, and closes what is open before a terminal event.
//
// The events of a session contain no errors. Three warnings are the caller's responsibility: changing the state, and
// staying there, while a tool runs (SEQ-21); continuing after a hand-over (SEQ-39); and, with a Session alone, a call
// of high risk without a question (CONF-02).
//
// # Judging
//
// A [Checker] is the listener's side. It reads any stream, of one session or of many that interleave, and names each
// rule that the stream breaks. It trusts nothing: it reads what it can from events that are themselves wrong. A stream
// may omit events by agreement, because it was filtered, merged, joined late or truncated. A [Stream] says so, or the
// subscription.accepted at its beginning. The checker's memory is bounded.
//
// # How a question ends
//
// AAEP has no event for the answer to a confirmation. A Session reports it in the following state.changed, as
// extensions.earshot.resolution (see [aaep.Resolution]) with the token of the question. A Checker relies on the first
// valid reply in the stream, then on that extension. If a stream has neither, it infers: a change from awaiting_input
// to calling_tool was an accept, one to thinking or deciding a refusal, and anything after the deadline not an accept.
//
// An irreversible call relies on one question (see C-45). It is an error if the stream shows that this question was not
// answered with an accept of what it asked: before the call, or later, by a reply after the call or a message that
// withdraws the question. If the stream shows nothing, the call passes.
//
// The package is pure: time and randomness are arguments, or functions that are passed in. Only the hashes inside a
// Checker have their own seed. Nothing here is safe for concurrent use.
package session
