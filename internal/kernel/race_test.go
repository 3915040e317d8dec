//go:build race

package kernel_test

// slower says how many times as slow as without it the race detector makes what tests do in
// numbers; they do as much less.
const slower = 10
