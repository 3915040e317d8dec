// Package outbox sends the messages that steps have committed, each session's in the order of its steps, and
// records in the ledger what was sent. It sweeps messages that another process has left unsent. A message that
// can never be sent becomes a dead letter and blocks nothing.
package outbox
