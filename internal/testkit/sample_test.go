package testkit_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestSampleIsRepeatable(t *testing.T) {
	t.Setenv("EARSHOT_TEST_FULL", "")
	all := numbers(20)
	t.Setenv("SEED", "7")
	first := testkit.Sample(t, all, 3)
	if len(first) != 3 || !slices.IsSorted(first) || !slices.Equal(first, slices.Compact(slices.Clone(first))) {
		t.Errorf("the sample is %v, want three different elements in order", first)
	}
	if again := testkit.Sample(t, all, 3); !slices.Equal(first, again) {
		t.Errorf("the same seed chose %v, then %v", first, again)
	}
}

// TestSampleCoversAll: over the seeds each element is chosen.
func TestSampleCoversAll(t *testing.T) {
	t.Setenv("EARSHOT_TEST_FULL", "")
	all := numbers(10)
	chosen := map[int]bool{}
	for seed := range 200 {
		t.Setenv("SEED", fmt.Sprint(seed))
		for _, element := range testkit.Sample(t, all, 1) {
			chosen[element] = true
		}
	}
	if len(chosen) != len(all) {
		t.Errorf("200 seeds chose only %v", chosen)
	}
}

// TestSampleDependsOnTheTest: tests with the same list do not all choose the same element.
func TestSampleDependsOnTheTest(t *testing.T) {
	t.Setenv("EARSHOT_TEST_FULL", "")
	t.Setenv("SEED", "")
	chosen := map[int]bool{}
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) { chosen[testkit.Sample(t, numbers(10), 1)[0]] = true })
	}
	if len(chosen) < 3 {
		t.Errorf("20 tests chose only %v", chosen)
	}
}

func TestSampleWhole(t *testing.T) {
	t.Setenv("EARSHOT_TEST_FULL", "")
	if got := testkit.Sample(t, numbers(3), 5); len(got) != 3 {
		t.Errorf("the sample of a short list is %v, want all", got)
	}
	t.Setenv("EARSHOT_TEST_FULL", "1")
	if got := testkit.Sample(t, numbers(20), 1); len(got) != 20 || !testkit.Full() {
		t.Errorf("the full run has %d elements, want 20", len(got))
	}
}

func TestSeed(t *testing.T) {
	for text, want := range map[string]uint64{"": 1, "0": 0, "42": 42, "18446744073709551615": 1<<64 - 1} {
		t.Setenv("SEED", text)
		if got := testkit.Seed(); got != want {
			t.Errorf("SEED=%s is %d, want %d", text, got, want)
		}
	}
	t.Setenv("SEED", "x")
	defer func() {
		if recover() == nil {
			t.Error("a seed that is no number was taken")
		}
	}()
	testkit.Seed()
}
