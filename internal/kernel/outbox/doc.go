// Package outbox sends the messages that steps have committed, each session's in the order of its
// steps, and has the ledger know what has left. What another process has left behind it sweeps; what
// can never leave becomes a dead letter and holds nothing up.
package outbox
