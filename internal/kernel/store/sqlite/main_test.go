package sqlite_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the program that a crash test starts and kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(liveUntilKilled(dir))
	}
	goleak.VerifyTestMain(m)
}
