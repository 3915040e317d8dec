package utp_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/utp"
)

// TestBoundTracestate: whole members are kept, the first ones, up to the limits of W3C Trace Context.
func TestBoundTracestate(t *testing.T) {
	t.Parallel()
	long := "a=" + strings.Repeat("x", 298)
	many := strings.TrimSuffix(strings.Repeat("k=v,", 40), ",")
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":            {"", ""},
		"one":                {"rojo=00f067aa0ba902b7", "rojo=00f067aa0ba902b7"},
		"empty members":      {" a=1 ,, b=2,", "a=1,b=2"},
		"too many":           {many, strings.TrimSuffix(strings.Repeat("k=v,", 32), ",")},
		"too long":           {long + "," + long + ",b=2", long},
		"one that is larger": {strings.Repeat("x", 513), ""},
		"exactly":            {strings.Repeat("x", 512), strings.Repeat("x", 512)},
		"exactly, of two":    {strings.Repeat("x", 255) + "," + strings.Repeat("y", 256), strings.Repeat("x", 255) + "," + strings.Repeat("y", 256)},
		"one more, of two":   {strings.Repeat("x", 256) + "," + strings.Repeat("y", 256), strings.Repeat("x", 256)},
	} {
		if got := utp.BoundTracestate(tt.in); got != tt.want {
			t.Errorf("%s: %q; want %q", name, got, tt.want)
		}
	}
}
