//go:build !race

package bus_test

// watched says that the race detector is on.
const watched = false
