//go:build !windows

package pipe_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// TestNamedElsewhere: on another system the error says what was found and what was expected.
func TestNamedElsewhere(t *testing.T) {
	t.Parallel()
	_, dialled := pipe.Dial(t.Context(), pipe.NamedPath("tidy"), pipe.Options{Limit: 1})
	_, listened := pipe.ListenNamed(pipe.NamedPath("tidy"))
	for _, err := range []error{dialled, listened} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "a named pipe of Windows, expected the path of a Unix socket") {
			t.Error(err)
		}
	}
}
