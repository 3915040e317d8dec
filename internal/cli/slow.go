package cli

import (
	"net/http"
	"sync"
	"time"
)

// slowAfter is how long an answer may take before that is said.
const slowAfter = 5 * time.Second

// Slow is a transport that says of a request that it has not been answered for a while; of those that may wait, which say so, it says nothing.
type Slow struct {
	By    http.RoundTripper
	After time.Duration
	Say   func(host string)
}

// RoundTrip implements [http.RoundTripper].
func (s *Slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Has("wait") {
		return s.By.RoundTrip(r) //nolint:wrapcheck // this says nothing of the request
	}
	timer := time.NewTimer(s.After)
	defer timer.Stop()
	answered := make(chan struct{})
	var owned sync.WaitGroup
	defer owned.Wait()
	defer close(answered)
	owned.Go(func() {
		select {
		case <-answered:
		case <-timer.C:
			s.Say(r.URL.Host)
		}
	})
	return s.By.RoundTrip(r) //nolint:wrapcheck // this says nothing of the request
}
