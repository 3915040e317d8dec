// Package audit is the chain that the ledger keeps of what people have answered and of what was
// done: what an entry is made of, and how somebody who does not trust the ledger finds out whether
// it is whole.
//
// Each receipt (who answered what, when, where, on what was shown) has an entry, and so has each
// act: the start and the outcome of a call with an effect, and what operators have changed. The
// entry holds a [Commitment] to the receipt or an [ActCommitment], salted with 128 random bits
// that are kept with it and nowhere else: once it is gone, nobody can tell from the entry what it
// said, nor try out what it may have been. The [Link] of an entry is a digest of the link before
// it and of the entry itself. When retention drops a receipt or an act, an entry of its own says so.
//
// So [Verifier] finds whatever was altered, removed or put in between, unless all that follows
// was made again; against that it takes a [Head] that was noted elsewhere. What it cannot find
// is what was added at the end by somebody who may write to the database.
//
// The package is pure: it reads no clock and no ledger.
package audit
