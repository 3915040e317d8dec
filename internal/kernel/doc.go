// Package kernel runs the life of every tool call. It owns dispatch and start: an
// agent asks it for calls and never publishes a command; a tool service runs nothing
// until the kernel's start has granted it and handed out the very bytes that were
// consented to.
//
// # One call
//
// A worker asks for the calls of a step. The kernel resolves and validates the
// arguments before anyone is asked, mints the id, and asks the policy. A question is
// saved with its events in one transaction. Package consent judges the answer, and the
// turn machine ([turn.Step]) applies it. The dispatch re-checks everything and uses the
// consent up; the start re-checks it again. Every step is one transaction of the
// ledger: state, events, cards and outgoing messages together. Messages leave only after
// the commit. Losing one costs only time: the ledger is the truth, and the kernel sends
// again.
//
// # Leases and fences
//
// A worker claims a turn, and a service starts a call, under a lease that it renews at
// a third of its length. The turn's epoch and the call's fence grow with each new owner;
// a request under an older one is refused. When a lease expires, a repeatable call is
// started again under the next fence. The outcome of any other call is reconciled with
// its service and, if that does not know it, put to a person.
//
// # Goroutines
//
// [Kernel.Run] owns three: that of package outbox, which sends messages that were not sent by
// their own step; that of package ticker, which ticks the turns that are due; and that of
// package admin, which erases old content once an hour. All end with its context, and Run waits for them. Everything else runs on the caller's
// goroutine, including the publishing of what it has committed.
//
// # Several kernels
//
// No kernel owns a turn: any kernel of a ledger serves any request, and the compare-and-set of
// the turn decides races. The ledger records what is due, what can be claimed and what has not
// been sent, so that another kernel finds it when the one that wrote it is gone. Kernels on one
// ledger need one time: give each the database's (Now of the store in package postgres, as
// [Options].Clock) instead of its machine's.
package kernel
