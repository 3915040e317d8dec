// Package chaos is a proof and nothing else: two kernels, two replicas of a tool service, two
// workers, one bus and one PostgreSQL, each a process of its own, of which all but the
// database are killed with SIGKILL again and again while turns run and questions are answered.
//
// When the run is over and everything has come to rest, the ledger, the events and the files
// in which the tools note what they really did are held against each other: nothing that was
// accepted is lost, nothing is applied twice, and nothing irreversible has started twice.
//
// The test of the package is a short run; `make chaos FOR=5m` is the long one. Its figures
// are in docs/performance.md.
package chaos
