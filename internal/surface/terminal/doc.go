// Package terminal is the surface in plain lines: it lets a person hear, at a terminal
// or through a pipe, what an agent does, and answer what it asks.
//
// What is said about events and questions is the announcer's, as on every surface
// ([announce.Announcer]); this package lays it out, in labelled lines and blocks, and
// takes words. [Terminal] is the machine: events, keys or lines, results of requests and
// the time go in; lines to print and requests to make come out. [Run] is the thin
// shell round it, with one goroutine for each source. What a terminal can ask of
// the other side is the [Port], which the caller brings.
//
// # What a person can rely on
//
//   - Every event is one labelled line that is never redrawn; what it means never
//     hangs on a colour or a symbol.
//   - Nothing is printed inside a line that is being typed, where every key comes by
//     itself ([RawKeys]): news waits for the end of the line, at most 20 seconds behind
//     its last key; what is critical comes below it, and what was typed stands there
//     again behind it.
//   - Code, paths and addresses are not broken.
//   - A question stands alone. While it is open other lines are held, except
//     critical ones, and "go on" shows them.
//   - Only a word answers. Enter repeats the question; what was typed before the
//     question was shown is thrown away; a bare word is refused while two
//     questions are open.
//   - What was understood is said at once, and "Recorded" only after the other
//     side has committed it.
//   - No text of an event, a path or an error can move the cursor, hide itself or
//     pass for a line of this package: controls are shown by name, values are
//     isolated, and every line but the first of an entry is indented.
package terminal
