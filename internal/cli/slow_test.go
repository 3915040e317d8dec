package cli_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/cli"
)

// TestSlow: of a request that is not answered for a while it is said once that it waits; of a fast one, and of one that may wait, never.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		address string
		takes   time.Duration
		says    int
	}{
		{"http://localhost:7411/a", 6 * time.Second, 1},
		{"http://localhost:7411/a", 4 * time.Second, 0},
		{"http://localhost:7411/a?wait=30", 30 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			says := 0
			s := &cli.Slow{By: late(tt.takes), After: 5 * time.Second, Say: func(host string) {
				if says++; host != "localhost:7411" {
					t.Errorf("it is said of %s", host)
				}
			}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.address, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.RoundTrip(r); err == nil || says != tt.says { //nolint:bodyclose // there is no answer
				t.Errorf("%s after %v: %v, said %d times", tt.address, tt.takes, err, says)
			}
		})
	}
}

// late is a transport that fails after a time.
type late time.Duration

func (l late) RoundTrip(*http.Request) (*http.Response, error) {
	<-time.After(time.Duration(l))
	return nil, http.ErrHandlerTimeout
}
