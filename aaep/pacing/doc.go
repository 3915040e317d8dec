// Package pacing is what one subscriber and one producer have agreed on, and what
// follows from it for every event: whether it is delivered, and when (chapter 5 of
// AAEP 1.0; rules HS-20 to HS-64, CAP, BP).
//
// [Negotiate] answers a request with [Terms] or with a refusal, and
// [Terms.Renegotiate] changes them. Nothing that is honoured is more permissive than
// what was asked (HS-32), and nothing is honoured that this package does not keep: a
// capability that is not acted on is left out of the answer, whose notes say so.
//
// A [Pacer] keeps one subscription within its terms. Events go in by [Pacer.Offer], in
// the order of each session; what may leave comes out at once, or later by
// [Pacer.Tick], which the shell calls at [Pacer.Wake]. The promises:
//
//   - A critical event leaves in the call that brought it, whatever the filters and the
//     budget say (BP-05, BP-06). What its session still held leaves before it, on
//     credit, and the credit is paid back (C-72).
//   - What waits is joined, so that a subscriber far slower than the stream is not far
//     behind with it: text that goes on becomes one chunk, a state and the next one a
//     change between them, and of progress that is a number only the last is told
//     (BP-03, C-70). A joined event has an id that follows from those it stands for, see
//     [Original], and names the places of the first and the last.
//   - Text waits for a boundary that was agreed (CAP-06), or a stronger one, unless
//     something else of its session follows or it is complete; under a low cognitive load
//     for the end of a paragraph. Then progress is left out too, and of background states
//     that follow directly upon each other only where they lead (C-77, BP-19).
//   - Within a session the order never changes, and nothing is lost that the terms do
//     not filter.
//   - Everything else stays within the budget, a bucket that refills smoothly: in any
//     T seconds at most rate × T + 1 events, above 5 events a second rate × T + rate/5
//     (BP-01, BP-02, C-74).
//   - A subscriber that cannot answer is not asked (CONF-83, CLA-12), unless it said
//     that it wants to look on: the capability earshot {"observe_questions": true}.
//     The capability earshot {"session_ids": […]} narrows a subscription to sessions, and
//     {"numbers": true} has what is sent of each counted ([Trail.Number]).
//
// A pace ([aaep.Capabilities].PaceWPM) merges more where a voice is slower (CAP-12): text waits, ten seconds at most, until
// what left before it can have been read out, unless it is the end of the text, or something of its session waits behind it.
//
// Verbosity and language do not change what is sent: events carry every summary that the
// producer wrote. Tools and lifecycle are never joined: a subscriber that is too slow for
// them falls behind; [Pacer.Queued] tells by how much.
//
// The package is pure. Time is an argument; nothing here may be used by two goroutines
// at once.
package pacing
