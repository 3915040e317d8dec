//go:build !race

package sim_test

// How many seeds are run, and how many twice.
const manySeeds, fewSeeds = 500, 20
