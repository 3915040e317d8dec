// Package hub carries sessions to the people who follow them, and their words back.
//
// A broadcast on the bus is a bell with the event in it: when its sequence number is
// the next one it is delivered as it is, and when there is a gap (a lost message, a
// late or a resuming listener) the range is read from the kernel. Every follower
// therefore gets every event of a session once and in order, whatever the bus loses.
//
// [Hub.Follow] follows one session. A [Subscription] hears all that its principal may
// hear: [Hub.Run] keeps one feed, which knows how far each open session has got, and each
// stream reads from it, or from the kernel, at its own pace. Nothing is queued for a
// stream, so that a slow one costs nothing and holds nobody up. [Person] is the hub as a
// principal may use it otherwise. Rights are looked up at every delivery and every word.
package hub
