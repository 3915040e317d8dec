package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// server is the private PostgreSQL that the tests of this package share; it has none where
// PostgreSQL is not installed.
var server = &shared{}

type shared struct{ *cluster.Cluster }

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	c, err := cluster.Start(context.Background())
	if err != nil && (!errors.Is(err, cluster.ErrMissing) || os.Getenv("CI") == "true") {
		fmt.Fprintln(os.Stderr, "error:", err)
		fmt.Fprintln(os.Stderr, "hint: scripts/need postgres installs it where that can be done")
		return 1
	}
	server.Cluster = c
	code := m.Run()
	if c != nil {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	return code
}

// needsServer leaves a test out where there is no PostgreSQL. With CI=true that is a failure
// (see run).
func needsServer(t testing.TB) {
	t.Helper()
	testkit.Slow(t)
	if server.Cluster == nil {
		t.Skip("left out: " + cluster.ErrMissing.Error() + "; scripts/need postgres installs it")
	}
}
