// Package fault kills or holds this process at named points, for the tests that show what a crash leaves behind. Only a
// binary with the build tag faults does so; the product has no points.
package fault

// Variable is the variable that names the points.
const Variable = "EARSHOT_FAULT"
