// Package wording says in plain English what operators look at: tools, and the audit chain. Every surface uses the same words.
// Nothing here reads or writes anything; texts that services and people have written are made legible.
package wording
