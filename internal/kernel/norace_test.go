//go:build !race

package kernel_test

// slower is 1 without the race detector.
const slower = 1
