package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// TestNewest: a list is read page by page, no more of it than is wanted, and a server that
// leads in circles is not followed for ever.
func TestNewest(t *testing.T) {
	t.Parallel()
	const all = 230
	circles := false
	var limits []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/sessions" {
			_, _ = w.Write([]byte(`{"name":"ann"}`))
			return
		}
		limits = append(limits, r.URL.Query().Get("limit"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		from := all
		if before := r.URL.Query().Get("before"); before != "" {
			_, _ = fmt.Sscanf(before, "sess_%d", &from)
			from--
		}
		page := map[string]any{}
		var rows []api.Session
		for n := from; n > 0 && len(rows) < limit; n-- {
			rows = append(rows, api.Session{ID: fmt.Sprintf("sess_%d", n)})
		}
		page["sessions"] = rows
		if from > limit {
			page["next"] = rows[len(rows)-1].ID
		}
		if circles {
			page["next"] = "sess_100"
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(s.Close)
	c, err := client.Dial(t.Context(), client.Options{URL: s.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		n, want int
		more    bool
		limits  []string
	}{
		{0, 230, false, []string{"100", "100", "100"}},
		{1, 1, true, []string{"1"}},
		{150, 150, true, []string{"100", "50"}},
		{230, 230, false, []string{"100", "100", "30"}},
		{500, 230, false, []string{"100", "100", "100"}},
	} {
		limits = nil
		got, more, err := c.NewestSessions(t.Context(), false, test.n)
		if err != nil || len(got) != test.want || more != test.more || got[0].ID != "sess_230" || !slices.Equal(limits, test.limits) {
			t.Errorf("of %d: %d sessions, more %v, %v, asked for %v; want %+v", test.n, len(got), more, err, limits, test)
		}
	}
	oldest, err := c.Sessions(t.Context(), false)
	if err != nil || len(oldest) != all || oldest[0].ID != "sess_1" {
		t.Errorf("oldest first: %d of them, %v", len(oldest), err)
	}
	circles = true
	if got, _, err := c.NewestSessions(t.Context(), false, 0); err != nil || len(got) > 3*all {
		t.Errorf("in circles: %d sessions, %v", len(got), err)
	}
}
