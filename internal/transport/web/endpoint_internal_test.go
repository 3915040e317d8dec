package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// TestEndpointsAreTheTables: every row of the table is served, with its own types, and nothing without a row.
func TestEndpointsAreTheTables(t *testing.T) {
	t.Parallel()
	s := &Server{}
	mux := http.NewServeMux()
	if err := s.serveRoutes(mux, s.endpoints()); err != nil {
		t.Fatal(err)
	}
	for _, route := range api.Routes() {
		r, err := http.NewRequestWithContext(t.Context(), route.Method, strings.NewReplacer("{", "", "}", "").Replace(route.Path), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if _, pattern := mux.Handler(r); pattern != route.Pattern() {
			t.Errorf("%s is served by %q", route.Name, pattern)
		}
	}
	for want, change := range map[string]func(map[string]endpoint){
		"nothing serves the route getIdentity":       func(all map[string]endpoint) { all["else"] = all[api.RouteMe]; delete(all, api.RouteMe) },
		"endpoints serve":                            func(all map[string]endpoint) { all["else"] = all[api.RouteMe] },
		"the route getIdentity is served with <nil>": func(all map[string]endpoint) { all[api.RouteMe] = giving(s.healthy) },
		"the route setPreferences is served with":    func(all map[string]endpoint) { all[api.RouteSetPreferences] = giving(s.preferences) },
	} {
		all := s.endpoints()
		change(all)
		if err := s.serveRoutes(http.NewServeMux(), all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
	}
	page := http.NewServeMux()
	s.pageRoutes(page)
	for _, path := range []string{api.Root + "/x", api.AAEPRoot + "/x"} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			r, err := http.NewRequestWithContext(t.Context(), method, path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if _, pattern := page.Handler(r); pattern != "" {
				t.Errorf("the page serves %s %s by %q", method, path, pattern)
			}
		}
	}
}
