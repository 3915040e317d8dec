// Package session knows the order in which the events of an AAEP session may come,
// from both sides.
//
// A [Session] is the producer's side. It builds the next legal event, stamped with an
// id, a time that never goes back, the state that is left and the position in the
// text, and it refuses with an [*Error] what a [Checker] would object to. Its whole
// memory is a [State], which can be stored as JSON between two steps and given to
// [Restore].
//
// A [Checker] is the listener's side. It reads any stream, of one session or of many
// that interleave, and names each rule that the stream breaks. It trusts nothing: it
// reads what it can from events that are themselves wrong.
//
// # How a question ends
//
// AAEP has no event that says how a confirmation was answered. A Session says it on
// the state.changed that follows, as extensions.earshot.resolution (see
// [aaep.Resolution]) with the token of the question. A Checker believes replies that
// it has seen in the stream, then that extension; where a stream has neither, it
// infers: a move from awaiting_input to calling_tool was an accept, one to thinking
// or deciding a refusal.
//
// Both are pure: time and randomness are arguments. Neither may be used from several
// goroutines at once.
package session
