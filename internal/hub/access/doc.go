// Package access knows who is who: principals with their roles, the tokens, login codes
// and page sessions by which they show it, and what a role may do.
//
// Tokens and page sessions live in one file of the data directory as hashes; each is
// shown once, when it is made. Login codes, grants, and the page sessions that stand on a
// grant, live in memory and end with the process. A [Store] is safe for concurrent use,
// and several processes may share the file.
package access
