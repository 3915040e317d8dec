// Package external is about third-party peers: workers and services that speak CommonGround's wire and do not ask the
// kernel for their starts. It reads what they send, says what is wrong with it, and makes the cards that answer them. It
// writes no ledger: the kernel saves what it returns.
package external
