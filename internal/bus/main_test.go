package bus_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// TestMain: half of the tests' time is waiting for connections that end or come back, so more of them are under way
// at once than there are cores.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
