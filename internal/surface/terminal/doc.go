// Package terminal is the surface in plain lines: it lets a person hear, at a terminal or through a pipe, what an agent
// does, and answer what it asks.
//
// The texts about events and questions come from the announcer, as on every surface ([announce.Announcer]). This
// package lays them out, in labelled lines and blocks, and takes commands. [Terminal] is the state machine: its inputs
// are events, keys or lines, results of requests and the time; its outputs are lines to print and requests to make.
// [Run] is the thin shell around it, with one goroutine for each source. The caller provides the [Port], which carries
// the terminal's requests to the other side.
//
// # What a person can rely on
//
//   - Every event is one labelled line that is never redrawn; its meaning never
//     depends on a colour or a symbol.
//   - Nothing is printed inside a line that is being typed, if the terminal sends
//     every key ([RawKeys]): news waits for the end of the line, at most 20 seconds
//     after its last key. Critical text is printed below the line, and the typed
//     text is then shown again after it.
//   - Code, paths and addresses are not broken.
//   - A question stands alone. While it is open other lines are held, except
//     critical ones, and "go on" shows them.
//   - Only a word answers. Enter repeats the question; what was typed before the
//     question was shown is discarded; a bare word is refused while two questions
//     are open.
//   - A line that is not a command goes to the agent only if that takes requests
//     ([Prompter]), no question is open, and the agent is not at work.
//   - What was understood is confirmed at once, and "Recorded" appears only after
//     the other side has committed it.
//   - No text of an event, a path or an error can move the cursor, hide itself or
//     pass for a line of this package: control characters are shown by name, values
//     are isolated, and every line but the first of an entry is indented.
package terminal
