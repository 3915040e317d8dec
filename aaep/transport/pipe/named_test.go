package pipe_test

import (
	"errors"
	"runtime"
	"strings"
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

// TestNamedElsewhere: on another system the error says what was found and what was expected.
func TestNamedElsewhere(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // TestResumes and TestAnswers of package serve use one there
	}
	_, dialled := pipe.Dial(t.Context(), pipe.NamedPath("tidy"), pipe.Options{Limit: 1})
	_, listened := pipe.ListenNamed(pipe.NamedPath("tidy"))
	for _, err := range []error{dialled, listened} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "a named pipe of Windows, expected the path of a Unix socket") {
			t.Error(err)
		}
	}
}
