package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
)

// TestSearchSessions: the list shows those that hold what is searched for, in every page of it, and says so where none does. One page
// looks at 2,000 sessions, and then leads on.
func TestSearchSessions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.room.change(func() {
		s.room.sessions = nil
		for i := range 4500 {
			one := api.Session{
				ID: fmt.Sprintf("sess_%d", i), Turn: fmt.Sprintf("turn_%d", i), Agent: "tidy", Name: "tidy", Owner: "ada", Request: "Tidy up.",
				Status: "ended", Created: noon, Ended: true, Summary: "Done.",
			}
			switch i {
			case 3, 2300:
				one.Request = "Write to Åsa."
			case 4400:
				one.Summary = "Wrote to ÅSA & 2 others."
			case 4450:
				one.Agent, one.Status, one.Ended = "åsa-bot", "queued", false
			}
			s.room.sessions = append(s.room.sessions, one)
		}
	})
	s.login("ada")
	for query, want := range map[string]string{
		"q=åsa":                          "4450 4400 | 2300 | 3 |",
		"q=åsa&limit=1":                  "4450 | 4400 | | 2300 | | 3 | |", // it stops at the first that it has, and does not look whether there is another
		"q=%20åsa%20&limit=3&open=false": "4450 4400 | 2300 | 3 |",
		"q=åsa&open=true":                "4450 |",
		"q=nobody":                       "| | |",
	} {
		var got strings.Builder
		for next := ""; ; {
			var l struct {
				Sessions []api.Session `json:"sessions"`
				Next     *string       `json:"next"`
			}
			w := s.do("GET", "/api/v1/sessions?"+query+"&before="+next, "ada", "")
			if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: %d %v %s", query, w.Code, err, w.Body)
			}
			for _, one := range l.Sessions {
				got.WriteString(strings.TrimPrefix(one.ID, "sess_") + " ")
			}
			got.WriteString("| ")
			if l.Next == nil {
				break
			}
			next = *l.Next
		}
		if got := strings.TrimSpace(got.String()); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}

	shown := func(target string) string {
		return s.do("GET", target, "@ada", "", "Accept", "text/html").Body.String()
	}
	first := shown("/sessions?q=" + url.QueryEscape("Åsa"))
	wants(t, first, `value="Åsa"`, "sess_4450", "sess_4400", "Search in older sessions")
	on := regexp.MustCompile(`href="(/sessions\?before=[^"]+)" rel="next"`).FindStringSubmatch(first)
	if on == nil {
		t.Fatal("nothing leads on")
	}
	wants(t, shown(strings.ReplaceAll(on[1], "&amp;", "&")), `value="Åsa"`, "sess_2300")
	wants(t, shown("/sessions?q=%3Cnobody%3E"), `No session has “<bdi lang="">&lt;nobody&gt;</bdi>”`, "Older ones were not searched.", "Search in older sessions", "Show all sessions")
	if w := s.do("GET", "/sessions?q="+strings.Repeat("x", 201), "@ada", "", "Accept", "text/html"); w.Code != http.StatusBadRequest {
		t.Errorf("a long search: %d", w.Code)
	}
}
