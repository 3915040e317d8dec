package agenthost

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// blockOutside is the environment of a host that reaches nothing but the loopback: everything else goes to a proxy that
// refuses it. The test fails with what the host has asked for.
func blockOutside(t testing.TB, host Host) []string {
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(asked, r.Host) {
			asked = append(asked, r.Host)
		}
		http.Error(w, "tests reach nothing outside", http.StatusForbidden)
	}))
	t.Cleanup(func() {
		proxy.Close()
		if len(asked) > 0 {
			t.Errorf("%s tried to reach %s, expected it to talk to its model alone", host, strings.Join(asked, ", "))
		}
	})
	const inside = "127.0.0.1,localhost,::1"
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+proxy.URL, strings.ToLower(name)+"="+proxy.URL)
	}
	return append(env, "NO_PROXY="+inside, "no_proxy="+inside)
}
