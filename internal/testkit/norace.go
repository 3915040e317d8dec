//go:build !race

package testkit

// Slowdown is how many times as slow as without it the race detector makes what tests do in numbers: they do as much
// less. Raced is whether it watches.
const (
	Slowdown = 1
	Raced    = false
)
