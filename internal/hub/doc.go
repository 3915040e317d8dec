// Package hub carries sessions to the people who follow them, and carries their replies back.
//
// A broadcast on the bus is a wakeup that contains the event. If its sequence number is the next one, the event is
// delivered directly. If there is a gap (a lost message, a late or resuming listener), the range is read from the
// kernel. Every follower therefore gets every event of a session once and in order, whatever the bus loses.
//
// [Hub.Follow] follows one session. A [Subscription] delivers all sessions that its principal may follow. [Hub.Run]
// keeps one feed, which knows the progress of each open session. Each stream reads from it, or from the kernel, at its
// own pace. Nothing is queued per stream, so a slow one costs nothing and delays nobody. [Person] is the hub's
// interface for the other requests of a principal. Rights are checked at every delivery, and at every request of a Person.
// The methods of [Hub] that pass a command on check none: they are for the program whose own terminal answers.
package hub
