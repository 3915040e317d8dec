// Package turn holds the two machines that decide what a tool call may do: the
// turn (one piece of work of one agent) and, inside it, the call.
//
// The package is pure. [Step] takes a [State], the current [Timestamp] and an [Input], and
// returns the next State with its [Effect]s. The caller applies the effects in their order, in
// the transaction that saves the State. Nothing here reads a clock, makes an id or does I/O,
// so that a test can reach every rule of the gate.
//
// # The life of a call
//
//	Asked ─▶ Accepted ─▶ Dispatched ─▶ Started ─▶ Finished
//	  │         │            │            └─▶ LeaseExpired ─▶ Unknown ─▶ Resolved
//	  └─────────┴────────────┴─▶ Closed (declined, expired, withdrawn, stale, stopped, denied)
//
// A call that needs no consent begins at Dispatched. Three rules hold on every path,
// and the tests try all short input sequences to show it:
//
//   - an effectful call that needs consent is never Dispatched without a consent
//     that was given to that very call, is unused, is fresh, and is bound to the
//     digest that the caller recomputes at that moment;
//   - a call is granted once: a second owner is refused. Only a repeatable call (read,
//     idempotent), or one that its own service reports as not begun, is granted again,
//     with a higher fence;
//   - a call whose outcome is unknown is put to a person, never retried silently.
package turn
