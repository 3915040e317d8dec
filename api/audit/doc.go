// Package audit defines the chain in which the ledger records what people have answered and what was done. It defines
// the entries, and how someone who does not trust the ledger can verify that it is complete.
//
// Each receipt (who answered what, when, where, and what they were shown) has an entry. So has each act: the start and
// the outcome of a call with an effect, and what operators have changed. The entry holds a [Commitment] to the receipt,
// or an [ActCommitment]. It is salted with 128 random bits, which are stored with the receipt or act only. Once those
// are deleted, nobody can tell from the entry what it said, or test a guess. The [Link] of an entry is a digest of the
// previous link and of the entry itself. When retention deletes a receipt or an act, a separate entry records that.
//
// So [Verifier] finds whatever was altered, removed or inserted, unless everything after it was recomputed too; a
// [Head] that was noted elsewhere reveals that. It cannot find entries that someone with write access to the database
// has appended.
//
// The package is pure: it reads no clock and no ledger.
package audit
