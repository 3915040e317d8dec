// Package utp is the tool side of the wire: the subjects, headers, payloads and cards of
// CommonGround v1r4, the protocol by which an agent's turn reaches tool services over
// NATS, and the digest of a definition.
//
// The package is stateless and pure. It parses, formats and validates; it never reads a
// clock, draws a random number or opens a connection. It is shared with third-party
// workers and tool services; what Earshot's own peers ask of the kernel is in package api.
//
// # Emitting and accepting
//
// What goes out is the strict form that every known peer accepts: control fields in the
// headers only, with the exact case of their names, and payloads of exactly three keys.
// What comes in may also be the older form, in which control fields travel in the
// payload: a header wins, an equal payload value is fine, a different one is refused
// with bad_request. Unknown payload keys are ignored; inlined arguments and results are
// refused by name.
//
// # Arguments
//
// The bytes of arguments are never changed by [Canonical]; it only decides whether they
// have one meaning, and returns the RFC 8785 form that is hashed. [Resolve] and
// [SetMember] edit single members and leave the literal bytes of all others alone.
//
// # Errors
//
// Each border has its own type: [*SubjectError], [*HeaderError], [*PayloadError],
// [*CardError], [*ArgumentError] and [*DefinitionError]. Every one says where, what was
// found and what was expected. Decoding and validating have no effects, so that trying
// again is always safe, and with the same input always fails.
package utp
