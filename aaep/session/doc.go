// Package session knows the order in which the events of an AAEP session may come,
// from both sides.
//
// # Emitting
//
// A [Session] is the producer's side. It builds the next legal event, stamped with an
// id, a time that never goes back, the state that is left and the position in the
// text, and it refuses with an [*Error] what a [Checker] would object to. Its whole
// memory is a [State], which can be stored as JSON between two steps and given to
// [Restore].
//
// An [Emitter] drives a Session for a program that runs. It tells the moves between
// states by itself, links a question to the call that it is about, is written text to
// like a file, and closes what is open before a terminal event.
//
// What a session emits has no error. Three warnings are its caller's own doing: moving
// on, and staying there, while a tool runs (SEQ-21); going on behind a hand-over
// (SEQ-39); and, with a Session alone, a call of high risk that nobody was asked about
// (CONF-02).
//
// # Judging
//
// A [Checker] is the listener's side. It reads any stream, of one session or of many
// that interleave, and names each rule that the stream breaks. It trusts nothing: it
// reads what it can from events that are themselves wrong. What the stream leaves out
// by agreement, because it was filtered, merged, joined late or cut short, it is told
// with [Stream], or by the subscription.accepted that the stream begins with. Its memory
// is bounded.
//
// # How a question ends
//
// AAEP has no event that says how a confirmation was answered. A Session says it on
// the state.changed that follows, as extensions.earshot.resolution (see
// [aaep.Resolution]) with the token of the question. A Checker believes the first valid
// reply that it has seen in the stream, then that extension; where a stream has neither,
// it infers: a move from awaiting_input to calling_tool was an accept, one to thinking
// or deciding a refusal, and what was told behind the deadline no accept at all.
//
// An irreversible call rests on one question (see C-45). It is an error when the stream
// shows that this question was not answered with an accept of what it asked: before the
// call, or later, by a reply that comes behind the call or a word that takes the question
// back. Where the stream shows nothing, the call passes.
//
// All of it is pure: time and randomness are arguments, or functions that are given.
// Only the hashes inside of a Checker have a seed of their own. Nothing here may be
// used from several goroutines at once.
package session
