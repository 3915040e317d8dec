// Package turn holds the two machines that decide what a tool call may do: the
// turn (one piece of work of one agent) and, inside it, the call.
//
// It is pure. [Step] takes a [State], the present [Timestamp] and an [Input], and
// returns the next State with the [Effect]s that the caller must make true, in
// their order, in the same transaction that saves the State. Nothing here reads a
// clock, makes an id or touches a wire, so every rule of the gate can be walked
// through in a test.
//
// # The life of a call
//
//	Asked ─▶ Accepted ─▶ Dispatched ─▶ Started ─▶ Finished
//	  │         │            │            └─▶ Lapsed ─▶ Unknown ─▶ Resolved
//	  └─────────┴────────────┴─▶ Ended (declined, expired, withdrawn, stale, stopped, denied)
//
// A call that nobody has to be asked about begins at Dispatched. Three rules hold
// on every path, and the tests walk all short input sequences to show it:
//
//   - an effectful call that needed consent is never Dispatched without a consent
//     that was given to that very call, is unused, fresh, and bound to the digest
//     that the caller has recomputed at that moment;
//   - a call is granted once: a second owner is refused, and only calls that may be
//     repeated (read, idempotent), or that their own service has shown not to have
//     begun, are granted again, with a higher fence;
//   - a call whose fate is not known is put to a person, never quietly retried.
package turn
