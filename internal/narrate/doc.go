// Package narrate turns the steps of the kernel into the events that people hear: it
// implements [kernel.Narrator] with the Agent Accessibility Event Protocol.
//
// It is the bridge between the two protocols and knows no more than that. It is pure:
// the same saved state, telling and randomness give the same rows. Order is kept by
// package session, which refuses what a session may not say, and every event is held
// against the rules of package aaep before it becomes a row.
//
// # What is told
//
// A call that was never dispatched has no tool events, only a state.changed with the
// reason (C-41). A question is always put in the words of the tool's definition and
// the arguments, never in the agent's; those are quoted at length only. How a question
// ended rides on the state.changed behind it as extensions.earshot.resolution. The
// exact UTP status and code are in extensions.utp. The last event says what was done,
// what may have been, and what was not. While a question is open its state is not left
// for anything else; what has to be said meanwhile is a progress.updated with a
// description.
//
// # Words
//
// All words are in catalogues, a file for each language, by key. Rows are written with
// that of [English]; a row keeps the key and the parameters, so that a [Translation]
// says its event in another language. Messages are written in a small part of ICU's message format: {name},
// {name, plural, =0 {…} one {# file} other {# files}}, {name, select, yes {…} other
// {…}}; braces and hashes are quoted as '{' and '#'. A message that fails is replaced by
// a fixed English sentence and never stops a step.
//
// A tool's definition may bring words of its own for asking, for what it does and for
// its result (see [Wording]), with numbers and texts found in its arguments and its
// result (see [Fact]). They are said as they are once an operator has reviewed the
// definition, and quoted as the tool's claim until then. Where they fail, a plainer
// sentence names the tool, its arguments and its class.
//
// # Foreign text
//
// Arguments, paths and names are shown exactly: inside a bidirectional isolate, with
// every character that does not show itself named, as <U+202E>, and never normalised;
// where the normal form would differ, the characters that make the difference are
// named. Two arguments that differ therefore sound different. Secrets are "a secret".
// Words that somebody has said are composed, quoted, and stripped of what looks like a
// credential. Every text is shorter than the protocol's limits, and says how much was
// left out.
package narrate
