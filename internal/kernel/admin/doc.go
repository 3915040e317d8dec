// Package admin looks after a ledger beside the life of its calls: it lists and shows what is there, reviews
// tools, exports and imports turns, erases what is too old, and hands out the audit chain. Nothing of it
// dispatches or starts a call.
package admin
