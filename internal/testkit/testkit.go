// Package testkit is what the tests of several packages share: which of them a short run leaves out, and how much less
// they do under the race detector.
package testkit

import "testing"

// Slow leaves a test that takes more than a second out of a short run.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out in short mode: it takes more than a second")
	}
}
