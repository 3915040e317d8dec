// Package ledgersql is what the ledgers in SQL databases have in common: the rows, and the
// statements that read and write them, in the part of SQL that both dialects speak. It
// implements [store.Tx] over a [Conn] and knows no driver.
//
// A store owns what depends on its technology: the file or the connections, the schema and its
// migrations, when a transaction begins and ends, what is retried, and what an error of the
// driver means. Its [Dialect] has the SQL that differs between databases, and the locks that
// concurrent writers need; a store with one writer leaves those empty.
//
// # Invariants
//
//   - A turn is compared and set by its version, in the statement that writes it.
//   - That statement also hands out the next numbers of the session, so they have no gap.
//   - What may happen once is a row that may exist once: the database refuses the second.
//   - A tool that was read is compared and set as well: of two who decide on what it was,
//     one reads again.
//   - After a statement has failed nothing more is done in that transaction, and it is not
//     committed, whatever its function makes of the error.
//
// With these, updates are serializable without the database having to check it: each decision
// rests on rows that the update then writes with a condition.
//
// Times are microseconds since 1970 in UTC, JSON is text as it was given. A turn is one JSON
// document with the columns that it is found by; calls, questions and tokens are copied out
// of it, so that they can be found, and stay, after it has forgotten them.
package ledgersql
