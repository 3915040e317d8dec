package subscribe_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep/subscribe"
)

// TestBelowLocalhost: a name below localhost leads to this machine without a resolver, and not to a proxy; the server still sees the name.
func TestBelowLocalhost(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:9") // nobody is there
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	host := "Billing.localhost:" + port
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: subscribe.NewTransport(time.Minute)}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if got, err := io.ReadAll(answer.Body); err != nil || string(got) != host {
		t.Errorf("the server was asked for %q, %v", got, err)
	}
	for name, want := range map[string]bool{
		"localhost": true, "a.localhost": true, "A.LOCALHOST.": true, "127.0.0.1": true, "::1": true,
		"localhost.example.org": false, "alocalhost": false, "192.0.2.1": false, "": false,
	} {
		if got := subscribe.IsLocal(name); got != want {
			t.Errorf("%q is local: %v", name, got)
		}
	}
}
