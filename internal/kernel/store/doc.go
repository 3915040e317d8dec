// Package store is the port to the ledger: what the kernel and the administration of the ledger
// read and write. Packages sqlite, postgres and memory implement it; package storetest tests all of
// them.
//
// A [Ledger] runs transactions. In a transaction, [Tx] finds rows by filters, and a [Batch] is
// everything that one step writes. Errors are the sentinels of this package; [ProtocolError]
// maps them to the codes that peers see.
package store
