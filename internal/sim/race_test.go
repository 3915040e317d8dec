//go:build race

package sim_test

// The race detector makes a run ten times as slow.
const manySeeds, fewSeeds = 40, 2
