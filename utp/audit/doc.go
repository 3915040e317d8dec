// Package audit is the chain that the ledger keeps of what people have answered: what an entry
// is made of, and how somebody who does not trust the ledger finds out whether it is whole.
//
// Each receipt (who answered what, when, where, on what was shown) has an entry. The entry
// holds a [Commitment] to the receipt, salted with 128 random bits that are kept with the
// receipt and nowhere else: once the receipt is gone, nobody can tell from the entry what was
// answered, nor try out what it may have been. Its [Link] is a digest of the link before it and
// of the entry itself. When retention drops a receipt, an entry of its own says so.
//
// So [Verifier] finds whatever was altered, removed or put in between, unless all that follows
// was made anew; against that it takes a [Head] that was noted elsewhere. What it cannot find
// is what was added at the end by somebody who may write to the database.
//
// The package is pure: it reads no clock and no ledger.
package audit
