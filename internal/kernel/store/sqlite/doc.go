// Package sqlite keeps the ledger in one SQLite file. It is the default [store.Ledger]
// and needs no C compiler.
//
// # One writer, many per commit
//
// A durable commit costs one flush of the disk, whatever it holds. One goroutine owns
// the only connection that writes. It takes all updates that wait, runs one after the
// other, each behind a savepoint of its own, and commits them together; then all of
// them are answered at once. While it waits for the disk the next ones gather. An
// update that fails undoes its own writes and nothing else, and hears of it after the
// commit too: what it has seen of its neighbours may not be told before it is durable.
//
// When the commit itself fails because there is no room, each update is tried alone,
// so that a large one does not take small ones down. When it fails otherwise, all of
// them fail and it is not known whether they were written ([ledgersql.ErrIO]).
//
// Views read consistent snapshots on a few connections of their own and wait for nobody.
//
// # The file
//
// ledger.db, with ledger.db-wal and ledger.db-shm beside it while it is open: write-ahead
// log, synchronous=FULL, so what was answered survives a loss of power. All three are
// readable by their owner only. What the rows are and how they are written is said in
// package ledgersql.
//
// Memory is bounded by the page caches (8 MiB in all) and by what a caller asks for at
// once; nothing grows with the ledger.
package sqlite
