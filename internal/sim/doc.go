// Package sim plays the whole loop in one process, from a seed: the real kernels, turn machine,
// tool services and workers, several of each, over a simulated bus, ledger, clock and machine.
//
// One seed is one run, and the same seed is the same run: [Run] takes a bubble of virtual time
// (testing/synctest) in which everything that waits for anything but a timer is parked. When
// nobody can go on, the seed lets one of them go: a message arrives, a transaction is
// committed, an answer is lost. So the order in which goroutines happen to run decides nothing.
//
// Agents make several steps of calls side by side, ask the person, write while they plan, the same
// again after a crash or something else, let go of a turn that waits, give answers without a
// required field, hand over, and end with the result of a call that ends its turn. In each third run
// they have other agents do some of it, alone or several at once, waiting or not, for as long as they
// may or less, and some chains of agents go deeper than they may; there they also begin turns beside their calls, for which
// nobody waits. Tools take their time; some hang past
// the time they have, and of those some do not heed that they are called off.
//
// # What goes wrong
//
// Messages are lost, doubled, late and out of order; requests and their answers alike. A
// process dies in any of its waits, before a commit or between the commit and its answer, and
// is started again soon or after minutes. Processes are paused past their leases and wake as if
// nothing had been, or are cut off. The database fails before and after a commit, or is slow. The
// time of day is set wrong by an hour, the machine is suspended for up to two days, or boots again.
// An operator puts a backup in the place of the ledger; the count that is kept outside stays. A
// service comes back with other definitions of its tools. Commands come that no kernel has sent.
// People say yes, no, nothing, more time, stop, and take a yes back; and, where agents ask each other,
// stop what they have begun.
//
// # What has to hold
//
// A judge looks on from outside. It keeps a log of its own that no crash and no backup touches: what
// was committed, what has left, what the tools did to the world. While a run goes on, and at its
// end, when the weather has cleared up and everything has had time to end, it asks:
//
//   - Every turn has ended, within three hours of virtual time after the faults. Every call has one
//     outcome, which is in the inbox and never changes. A turn that was begun is there.
//   - No call is started without a yes of a person to its question and a consent that was used up
//     for that very call and digest, within its time, with the definition that was agreed to and the
//     very arguments; none in a turn that is stopped. What a kernel records as a yes, a person has
//     said, and what a person is told to be taken, is recorded.
//   - Where nobody was asked, a standing permission allows it that a person has given: never what cannot be undone, never
//     more calls than it is for, and none once somebody was told that it is revoked.
//   - What must not be repeated is started once and done once, also by a ledger that has gone back in
//     time; once more only if the service itself says that it had not begun.
//   - Nothing is done after its time to start.
//   - Of what is told to be done something was done, and of what is told not to be done nothing.
//   - A fate that nobody knows is put to a person.
//   - No result is applied twice, no worker's word counts under another epoch than the present one, no
//     service's under another fence.
//   - What an agent writes is told once and in its order, from its beginning only where it is another
//     text. What it was told of a call stays as it is; an answer that somebody was told to be taken
//     is the one that it hears.
//   - A call that is to end its turn does. No call runs on for long after its time for a result.
//   - Nobody asks without a pause for what does not change, and nothing is published inside a
//     transaction.
//   - A time to start never moves nearer. A turn that somebody was told to be stopped is stopped.
//   - Each task of a call that other agents do is begun once at most, and its turn goes on only for as long as it is
//     wanted: not when the turn above is stopped, and not when a call that waits has ended. What a turn ends with is
//     known to the call in the same transaction, and the agent hears of each task once, in its place, what its own
//     turn did. No turn is nested 20 deep. A yes, and a standing permission, count for the agent that they were given to.
//   - A turn that an agent begins beside its calls is begun once, however often it asks and whatever crashes, is the one that it
//     was told of, does what it was begun for, is refused only for a reason that there is, and is stopped with the turn above.
//   - Every message that was written has left. Events are numbered without gaps, a session passes its
//     checker and has one end. A result has the fields that the turn requires, and no turn ends as
//     an internal error.
//
// # That it would see it
//
// [Bugs] are twenty-five mistakes, put in through the step of the machine or around a transaction. A test
// switches each on and says at which seed it is found.
package sim
