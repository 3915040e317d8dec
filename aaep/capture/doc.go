// Package capture reads files of messages: events, replies and handshake messages as
// they were recorded, one JSON value a line, spread over lines, or in an array.
//
// A [Reader] gives one message at a time and holds no more than that one, so that a file
// of any length can be read. A message that is broken is handed out as far as it goes,
// with the place and the reason, and reading goes on at the next message: what is wrong
// with one never hides another.
//
// The package only finds where messages begin and end. Whether one is a valid event is
// for [github.com/earshot-dev/earshot/aaep.Validate] to say.
package capture
