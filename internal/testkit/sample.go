package testkit

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Full reports whether tests run at full size: EARSHOT_TEST_FULL=1.
func Full() bool { return os.Getenv("EARSHOT_TEST_FULL") == "1" }

// Seed returns the number that chooses samples: SEED, a decimal number, or 1 if it is not set. It panics if SEED is not
// a number.
func Seed() uint64 {
	text := os.Getenv("SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("SEED is %q, want a decimal number", text))
	}
	return seed
}

// Sample returns n elements of all, in their order, and logs which. With [Full], or if there are no more than n, it
// returns all. [Seed] and the test's name choose, so that a failure can be repeated and tests choose differently.
func Sample[T any](t testing.TB, all []T, n int) []T {
	t.Helper()
	if Full() || n >= len(all) {
		return all
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name()))                                      // a hash never fails
	chosen := rand.New(rand.NewPCG(Seed(), name.Sum64())).Perm(len(all))[:n] //nolint:gosec // chance is not to be a secret here
	slices.Sort(chosen)
	sample := make([]T, 0, n)
	for _, i := range chosen {
		sample = append(sample, all[i])
	}
	t.Logf("SEED=%d chose %d of %d: %v (EARSHOT_TEST_FULL=1 runs all)", Seed(), n, len(all), sample)
	return sample
}
