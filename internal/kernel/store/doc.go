// Package store is the port to the ledger: what the kernel, and what looks after the ledger
// beside it, read and write. Packages sqlite and postgres implement it, package storetest
// proves both.
//
// A [Ledger] runs transactions. In one, [Tx] finds rows by filters, and a [Batch] is all that
// one step writes. Errors are the sentinels of this package; [ProtocolError] gives them the
// codes that peers see.
package store
