// Package admin maintains a ledger: it lists and shows its content, reviews tools, exports and imports turns,
// erases old content, and returns the audit chain. Nothing in it dispatches or starts a call.
package admin
