// Package ledgersql is what the ledgers in SQL databases have in common: the rows, and the
// statements that read and write them, in the part of SQL that both dialects speak. It
// implements [store.Tx] over a [Conn] and knows no driver.
//
// A store owns what is its technology's: the file or the connections, the schema and its
// migrations, when a transaction begins and ends, what is repeated, and what an error of the
// driver means. It says with a [Dialect] what its database calls differently, and what has
// to be held where several write at once; one writer leaves those empty.
//
// # What may not be lost in the translation
//
//   - A turn is compared and set by its version, in the statement that writes it.
//   - That statement also hands out the next numbers of the session, so they have no gap.
//   - What may happen once is a row that may exist once: the database refuses the second.
//   - A tool that was read is compared and set as well: of two who decide on what it was,
//     one reads again.
//   - After a statement has failed nothing more is done in that transaction, and it is not
//     committed, whatever its function makes of the error.
//
// With these every update is as if it were alone, without the database having to prove
// it: each decision rests on rows that it then writes with a condition.
//
// Times are microseconds since 1970 in UTC, JSON is text as it was given. A turn is one JSON
// document with the columns that it is found by; calls, questions and tokens are copied out
// of it, so that they can be found, and stay, after it has forgotten them.
package ledgersql
