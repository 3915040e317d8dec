// Package consent is the state of one question put to a person: who may
// answer it, until when, what counts as an answer, and what happens when none
// comes. It follows chapter 6 of AAEP 1.0 (rules CONF-05…83 and CLA-03…15).
//
// What "no answer" means is the reason for this package. A question about an
// irreversible or high-risk action ends in [Accepted] in one way only: an
// authenticated sender echoes the live token, before the deadline, with the
// decision "accept" and nothing changed in the action. A timeout, an empty
// room, a restart, a clock that was set back, a row with a damaged default:
// each of them ends in a refusal.
//
// The package is pure. A [Question] is a plain value that a store may keep as
// JSON; every method takes the time as an argument, returns a new value and an
// [Outcome], and leaves the receiver alone. It draws no tokens and keeps no
// index: the caller brings fresh tokens (128 random bits) and finds the
// question that a token belongs to.
//
// # Duties of the caller
//
//   - Authenticate before looking anything up, and put the result in
//     [Reply.Authenticated] (CONF-54): it must also cover whether that principal
//     may answer this question at all.
//   - Give every sender the same reply, whatever the [Outcome] says (CONF-56);
//     its reason is for the log, where every attempt belongs (CONF-62).
//   - Emit the asking event with the timestamp [Question.AskedAt] and the
//     timeout_seconds [Question.Timeout], so that both sides compute one deadline.
//   - Compare and set on the stored question, so that the first valid reply wins
//     among several processes too (CONF-58).
//   - Check [Question.Authorizes] with the digest of what is about to run.
package consent
