package command_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain: the tests mostly wait, for processes and for real limits of time, so more of them are under way at once
// than there are cores.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
