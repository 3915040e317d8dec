package usage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/usage"
)

// TestUnknownFlag: a flag with a letter missing, added or swapped is recognised, also by the first word of a longer one.
func TestUnknownFlag(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ flags, given, near string }{
		{"token-file,rate,no-input", "tokn", "--token-file"},
		{"token-file,rate,no-input", "token", "--token-file"},
		{"token-file,rate,no-input", "tokken", "--token-file"},
		{"token-file,rate,no-input", "tokne-file", "--token-file"},
		{"token-file,rate,no-input", "noinput", "--no-input"},
		{"token-file,rate,no-input", "raet", "--rate"},
		{"token,token-file", "tokn", "--token"},
		{"token,token-file", "token-fil", "--token-file"},
		{"tls-cert,tls-key,tls-client-ca", "tsl", "--tls-cert, --tls-client-ca or --tls-key"},
		{"max-cards,max-active", "mx", "--max-active or --max-cards"},
		{"token-file,rate,no-input", "n", ""},
		{"token-file,rate,no-input", "volume", ""},
	} {
		c := &cobra.Command{Use: "listen", RunE: func(*cobra.Command, []string) error { return nil }}
		for name := range strings.SplitSeq(row.flags, ",") {
			c.Flags().String(name, "", "")
		}
		err := c.ParseFlags([]string{"--" + row.given, "x"})
		wrong, is := errors.AsType[*cause.Error](usage.UnknownFlag(c, err))
		want := "see `listen --help`"
		if row.near != "" {
			want = "did you mean " + row.near + "? See `listen --help`"
		}
		if !is || wrong.Kind != cause.Usage || wrong.Message != "there is no flag --"+row.given || wrong.Hint != want {
			t.Errorf("--%s of %s: %+v, want the hint %q", row.given, row.flags, wrong, want)
		}
	}
}
