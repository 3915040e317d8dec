// Package standing holds standing permissions: a person's yes to later calls of one tool, within bounds on the
// arguments, for a number of uses and for a time.
//
// A [Permission] is a plain value that a store keeps as JSON. [Make] makes one from an accepted call, and refuses what
// cannot be given. [Permission.Use] uses it for one call, and [Permission.Holds] says whether a call that it has
// allowed may still start. Nothing here reads a clock or does I/O.
//
// # What it never does
//
//   - It is never for an irreversible tool, nor for one that no operator has reviewed, which counts as irreversible:
//     consent to what cannot be undone is bound to one call ([ErrIrreversible]).
//   - It never allows what it does not name. Each argument of a call has to be covered by a bound; an argument that the
//     person has not named has to be the same as in the accepted call, and one that is new or missing never fits.
//   - It is never used more often than its count. The caller compares and sets [Permission.Version], so that one of two
//     kernels gets the last use.
//   - It is never revived: once ended it allows nothing, whatever the clock says later.
//
// # Duties of the caller
//
//   - Make one only in the transaction of a person's accept, after the checks that the accept itself takes.
//   - Ask it only where the policy would ask, never where it denies.
//   - Pass in a time that is never set back.
//   - Pass in arguments in their canonical form (RFC 8785), with secrets as references.
package standing
