// Package utp is the tool side of the wire: the subjects, headers, payloads and cards of CommonGround v1r4, the
// protocol by which an agent's turn reaches tool services over NATS, and the digest of a definition.
//
// The package is stateless and pure. It parses, formats and validates; it never reads a clock, draws a random number or
// opens a connection. It is shared with third-party workers and tool services; package api holds what Earshot's own
// peers request from the kernel.
//
// # Emitting and accepting
//
// Output has the strict form that every known peer accepts: control fields in the headers only, with the exact case of
// their names, and payloads of exactly three keys. Input may also have the older form, in which control fields travel
// in the payload: a header takes precedence, an equal payload value is accepted, and a different one is refused with
// bad_request. Unknown payload keys are ignored; inlined arguments and results are refused by name.
//
// # Arguments
//
// [Canonical] never changes the bytes of arguments; it only decides whether they are unambiguous, and returns the RFC
// 8785 form that is hashed. [Resolve] and [SetMember] edit single members and leave the literal bytes of all others
// alone.
//
// # Errors
//
// Each kind of input has its own error type: [*SubjectError], [*HeaderError], [*PayloadError], [*CardError],
// [*ArgumentError] and [*DefinitionError]. Each says where the error is, what was found and what was expected. Decoding
// and validating have no side effects: repeating them is safe, and fails again for the same input.
package utp
