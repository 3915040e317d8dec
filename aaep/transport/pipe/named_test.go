package pipe_test

import (
	"testing"

	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// TestNamedPaths: which addresses are those of named pipes (TR-NP-01).
func TestNamedPaths(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		pipe.NamedPath("tidy"): true, `\\.\pipe\aaep\tidy`: true, `\\.\PIPE\AAEP\Tidy`: true, `\\.\pipe\docker`: true,
		`\\.\pipe\`: false, `\\server\pipe\aaep\tidy`: false, `//./pipe/aaep/tidy`: false, "/run/user/1000/aaep/tidy.sock": false, "tidy.sock": false, "": false,
	} {
		if got := pipe.IsNamed(address); got != want {
			t.Errorf("%q is a named pipe: %t", address, got)
		}
	}
}
