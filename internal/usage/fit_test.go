package usage_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/internal/usage"
)

const help = `Run everything in one process: the ledger, the agents, and
their tools.

  earshot up --root /a/long/path/that/is/copied/and/not/broken

  foreign   speaks the protocol as it is written
  named     one of ours

Exit codes: 0 ended when it was told to; 2 usage.

Usage:
  earshot up [--root DIR] [--tools FILE] [flags]

Examples:
  earshot up --root ~/Pictures --root ~/Downloads

Available Commands:
  list        List what there is, and what has become of it since then
  revoke-them Take back

Flags:
      --data string   folder of the ledger, which is made if it is not there
  -h, --help          help for up

Use "earshot [command] --help" for more information about a command.
`

// TestFit: lines are broken between words, descriptions stand below each other, and what is copied stays whole.
func TestFit(t *testing.T) {
	t.Parallel()
	if fit := usage.Fit(help, 0); fit != help {
		t.Errorf("with 100 columns it is\n%s", fit)
	}
	want := `Run everything in one process: the
ledger, the agents, and their tools.

  earshot up --root /a/long/path/that/is/copied/and/not/broken

  foreign   speaks the protocol as it is
            written
  named     one of ours

Exit codes: 0 ended when it was told to;
2 usage.

Usage:
  earshot up [--root DIR] [--tools FILE] [flags]

Examples:
  earshot up --root ~/Pictures --root ~/Downloads

Available Commands:
  list        List what there is, and
              what has become of it
              since then
  revoke-them Take back

Flags:
      --data string
        folder of the ledger, which is
        made if it is not there
  -h, --help          help for up

Use "earshot [command] --help" for more
information about a command.
`
	if fit := usage.Fit(help, 40); fit != want {
		t.Errorf("with 40 columns it is\n%s", fit)
	}
	for columns := range 120 {
		fit := usage.Fit(help, columns)
		if strings.Join(strings.Fields(fit), " ") != strings.Join(strings.Fields(help), " ") {
			t.Fatalf("with %d columns there are other words:\n%s", columns, fit)
		}
		for line := range strings.Lines(fit) {
			copied := strings.Contains(line, "earshot up")
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > max(columns, 21) && columns > 0 && !copied {
				t.Errorf("with %d columns there are %d: %s", columns, n, line)
			}
		}
	}
}
