// Package hub carries sessions to the people who follow them, and their words back.
//
// A broadcast on the bus is a bell with the event in it: when its sequence number is
// the next one it is delivered as it is, and when there is a gap (a lost message, a
// late or a resuming listener) the range is read from the kernel. Every follower
// therefore gets every event of a session once and in order, whatever the bus loses.
package hub
