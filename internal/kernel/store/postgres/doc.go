// Package postgres keeps the ledger in a PostgreSQL database, for several kernels that share
// it. Its rows and statements are those of package ledgersql, as in SQLite.
//
// # Many writers
//
// An update reads what is committed at each of its statements, and what it decides is
// compared and set: the turn by its version, a session's numbers by the last of them, what
// may exist once by a constraint. So its reads need no transaction: those of many updates go
// to the server together (crew.go, reader.go), and so does what they write (group.go): it is
// put off to the end of the function, and whatever waits while the hands that commit are busy
// is one transaction, sent at once, in which the rows of all that are added and no more are
// added together. Each statement says how many rows it should touch, and
// the answers are read before the commit is sent. Where one fails or comes out otherwise, the
// transaction is undone and sent again without that update, whose function is then run again
// in a transaction of its own, statement by statement: there it finds what has changed, or
// hears exactly what is wrong ([store.ErrConflict]).
//
// An update that needs an answer in between (a counter's next number, a lock, what it has
// itself written) begins a transaction of its own there and keeps its connection. Where two
// wait for each other the server undoes one, and its function is run again.
// [store.TurnFilter.Claim] gives each kernel other turns, without waiting (FOR NO KEY UPDATE
// SKIP LOCKED).
//
// Views read one snapshot each and wait for nobody.
//
// # The order of events
//
// Numbers of rows are given in one order and committed in another, so the newest row may
// still be overtaken. A transaction that writes events says so by a shared advisory lock,
// which nobody waits for; anyone who asks what has gone on sees where the first of those under
// way began, and is told up to there. Nothing is missed, and nobody waits.
//
// # What is durable
//
// Update returns when the server has flushed the commit: synchronous_commit is never off in
// our sessions. A connection that is lost before the commit is [ledgersql.ErrUnreachable],
// and nothing was written. Lost during the commit it is [ledgersql.ErrIO], and it is not
// known. The end of a context takes an update out as long as it waits for a connection, or
// for the others that it would be committed with; after that its answer is waited for, up to
// [Options.Timeout].
//
// # What time it is
//
// Kernels on several machines judge deadlines and leases by the time of the database
// ([Store.Now]), which each measures: their own clocks need not agree.
//
// # What it needs
//
// A database in UTF-8, or a schema of its own in one (search_path in the DSN), and a role
// that owns it: no superuser, no extension. A connection pooler has to keep a session for a
// client; those that share one between transactions do not. A text with a NUL or with
// broken UTF-8, which PostgreSQL cannot keep, is repaired when it is written, and found by
// nobody when it is asked for.
package postgres
