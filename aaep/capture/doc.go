// Package capture reads files of recorded messages: events, replies and handshake messages. The messages are JSON
// values, one per line, spread over lines, or in an array.
//
// A [Reader] returns one message at a time and stores no more than that, so it can read files of any length. It returns
// the readable part of a broken message, with the place and the reason, and continues at the next message: an error in
// one message never hides another.
//
// The package only finds where messages begin and end. Use [github.com/earshot-dev/earshot/aaep.Validate] to check
// whether a message is a valid event.
package capture
