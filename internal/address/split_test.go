package address_test

import (
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
)

// TestSplit: a flag with an address that has no port, or none that is a number, is named with what was found.
func TestSplit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, host, port, message string }{
		{"127.0.0.1:7411", "127.0.0.1", "7411", ""},
		{"[::1]:0", "::1", "0", ""},
		{"localhost:65535", "localhost", "65535", ""},
		{":80", "", "80", ""},
		{"localhost:x", "", "", `--http "localhost:x" has the port "x"; expected a number from 0 to 65535`},
		{"localhost:http", "", "", `--http "localhost:http" has the port "http"; expected a number from 0 to 65535`},
		{"localhost:", "", "", `--http "localhost:" has the port ""; expected a number from 0 to 65535`},
		{"localhost:65536", "", "", `--http "localhost:65536" has the port "65536"; expected a number from 0 to 65535`},
		{"localhost:-1", "", "", `--http "localhost:-1" has the port "-1"; expected a number from 0 to 65535`},
		{"localhost", "", "", `--http "localhost" is not an address with a port`},
		{"::1:80", "", "", `--http "::1:80" is not an address with a port`},
	} {
		host, port, err := address.Split("--http", row.text, address.Default)
		if host != row.host || port != row.port || cause.Of(err) != row.message {
			t.Errorf("%s: host %q, port %q, %v", row.text, host, port, err)
		}
		if wrong, is := errors.AsType[*cause.Error](err); row.message != "" && (!is || wrong.Kind != cause.Usage || wrong.Hint != "for example --http 127.0.0.1:7411") {
			t.Errorf("%s: the refusal is %#v", row.text, err)
		}
	}
}
