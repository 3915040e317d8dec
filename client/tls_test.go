package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/client"
)

// TestUntrusted: where the certificate or the kind of the address is the reason, the hint says what to do about that.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	secure, plain := httptest.NewUnstartedServer(http.NotFoundHandler()), httptest.NewServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	trusting := secure.Client().Transport
	for name, row := range map[string]struct {
		url       string
		transport http.RoundTripper
		hint      string
	}{
		"unknown authority": {secure.URL, nil, "name a file with its certificate in SSL_CERT_FILE"},
		"another name":      {strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), trusting, "use the name that the certificate is for"},
		"no TLS":            {strings.Replace(plain.URL, "http", "https", 1), nil, "begin the address with http"},
		"nobody":            {"http://127.0.0.1:1", nil, "see that `earshot up` runs there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.Dial(t.Context(), client.Options{URL: row.url, Token: "t", Transport: row.transport})
			e, is := errors.AsType[*client.Error](err)
			if !is || e.Code != client.CodeUnreachable || !strings.Contains(e.Hint, row.hint) {
				t.Errorf("found %v, expected a hint with %q", err, row.hint)
			}
		})
	}
}
