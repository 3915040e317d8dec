// Package memory is a ledger that is not durable. The simulation and the tests of other packages use it: it needs no files,
// and a transaction costs a hundredth of one in a database. It behaves as the other ledgers do, and package storetest proves
// that with the same suite. [Ledger.Copy] and [Ledger.Restore] replace backups, and [Ledger.Contents] the queries by which
// tests inspect a database.
package memory
