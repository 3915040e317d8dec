// Package access manages principals, their roles and what each role may do. It also manages the tokens, login codes and
// page sessions that authenticate them.
//
// Tokens and page sessions are stored as hashes in one file of the data directory. Each secret is shown once, when it
// is created. Login codes, grants, and the page sessions based on a grant are kept in memory and end with the process.
// A [Store] is safe for concurrent use,
// and several processes may share the file.
package access
