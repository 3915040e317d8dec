// Package kernel runs the life of every tool call. It owns dispatch and start: an
// agent asks it for calls and never publishes a command; a tool service runs nothing
// until the kernel's start has granted it and handed out the very bytes that were
// consented to.
//
// # One call
//
// A worker asks for the calls of a step. The kernel resolves and validates the
// arguments before anyone is asked, mints the id, and asks the policy. What has to be
// asked is saved as a question with its events in one transaction; the answer is
// judged by package consent and fed to the turn machine ([turn.Step]); the dispatch
// re-checks everything and uses the consent up; the start re-checks it again. Every
// step is one transaction of the [Store]: state, events, cards and outgoing messages
// together. Only after the commit do messages leave, and losing any of them costs
// time and nothing else, for the ledger is the truth and the kernel rings again.
//
// # Leases and fences
//
// A worker holds a turn, and a service a call, by a lease that it renews at a third
// of its length. The turn's epoch and the call's fence grow with each new holder;
// anyone who speaks under an older one is refused. A lease that ends means: repeatable
// calls are started again under the next fence, all others are looked into and, where
// nobody can tell, put to a person.
//
// # Goroutines
//
// [Kernel.Run] owns three: that of package outbox, which sends messages that have not left by themselves;
// the ticker, which gives the passing of time to the turns that are due and owns a goroutine
// for each turn that it ticks, 16 at a time; and that of package admin, which erases what is too old,
// once an hour. All end with its context, and Run waits for them. Everything else runs on
// the caller's goroutine, including the publishing of what it has committed.
//
// # Several kernels
//
// Every open turn is everybody's: any kernel of a ledger serves any request, and the
// compare-and-set of the turn decides races. What is due, what can be claimed and what has
// not left stand in the ledger, so that another finds it when the one that wrote it is gone.
// Kernels on one ledger need one time: give each the database's (Now of the store in package
// postgres, as [Options].Clock) instead of its machine's.
package kernel
