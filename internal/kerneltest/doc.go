// Package kerneltest holds cases of the kernel that every ledger has to pass: turns that have others do something, and what
// stops, crashes and late answers do to them. A store's tests run them with [Exercise]. Time is virtual, and every step is
// taken by the case itself, so nothing depends on how fast a machine is.
package kerneltest
