package hosts_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// hostsVariable names the hosts that take part in this run, separated by commas. Without it all do.
const hostsVariable = "EARSHOT_TEST_HOSTS"

// sampled returns those of a test's hosts that take part. A test with none of them is left out.
func sampled[T any](t *testing.T, all []T, name func(T) string) []T {
	t.Helper()
	chosen := os.Getenv(hostsVariable)
	if chosen == "" {
		return all
	}
	part := slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !slices.Contains(strings.Split(chosen, ","), name(one)) })
	if len(part) == 0 {
		t.Skip("sampled: only " + chosen + " takes part in this run (" + hostsVariable + ")")
	}
	return part
}

// needs leaves a test out unless its host takes part.
func needs(t *testing.T, host string) {
	t.Helper()
	sampled(t, []string{host}, func(name string) string { return name })
}
