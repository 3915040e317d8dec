package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// crowded is a scene with n sessions, of which the last so many run, each with texts as long
// as the kernel lets them be in a list.
func crowded(t *testing.T, n, running int) *scene {
	t.Helper()
	s := newScene(t)
	long := strings.Repeat("<é\u202e", 170)
	s.room.change(func() {
		for i := range n {
			one := api.Session{
				ID: fmt.Sprintf("sess_%d", i), Turn: fmt.Sprintf("turn_%d", i), Agent: "tidy", Owner: "ada", Request: long, Summary: long,
				Status: "queued", Created: noon, Last: 0,
			}
			if i < n-running {
				one.Status, one.Ended = "ended", true
			}
			s.room.sessions = append(s.room.sessions, one)
		}
	})
	return s
}

// asks counts what is asked of the hub meanwhile.
func (s *scene) asks(what func()) int {
	before := s.room.asked
	what()
	return s.room.asked - before
}

// TestCrowd: with 5,000 sessions, all of them running or none, no page, list or stream is
// longer or asks more than with 150. Nothing is timed: what is bounded is bytes and requests.
func TestCrowd(t *testing.T) {
	for _, running := range []int{0, 60, 5000} {
		t.Run(fmt.Sprint(running, " running"), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				type cost struct{ bytes, asks int }
				measured := func(n int) map[string]cost {
					s := crowded(t, n, min(running, n))
					s.login("ada")
					all := map[string]cost{}
					for _, target := range []string{"/", "/?session=sess_1", "/?session=sess_9999999", "/sessions", "/sessions?limit=100&before=sess_120", "/api/v1/sessions", "/api/v1/sessions?limit=100000", "/readyz"} {
						var body string
						asks := s.asks(func() {
							as, accept := "@ada", "text/html"
							if strings.HasPrefix(target, "/api") || target == "/readyz" {
								as, accept = "ada", "application/json"
							}
							body = s.do("GET", target, as, "", "Accept", accept).Body.String()
						})
						all[target] = cost{len(body), asks}
					}
					var stream *reader
					begun := s.asks(func() { stream = s.stream("/page/events?fresh=true", "@ada") })
					text := stream.text()
					all["stream"] = cost{len(text), begun}
					change := s.asks(func() {
						s.room.tell(fmt.Sprintf("sess_%d", n-1), aaep.SessionCompleted{SummaryNormal: "Done."})
						stream.text()
					})
					all["stream, on a change"] = cost{len(stream.text()) - len(text), change}
					stream.close()
					return all
				}
				few, many := measured(150), measured(5000)
				for what, c := range many {
					t.Logf("%d running, %s: %d bytes, %d requests", running, what, c.bytes, c.asks)
					// The numbers in the ids are longer, and what is chosen may be another.
					if c.bytes > few[what].bytes+few[what].bytes/10+4096 || c.asks > few[what].asks+1 {
						t.Errorf("%s: %+v with 150 sessions, %+v with 5,000", what, few[what], c)
					}
					if c.bytes > 400<<10 || c.asks > 160 {
						t.Errorf("%s has %d bytes and asks %d times", what, c.bytes, c.asks)
					}
				}
			})
		})
	}
}

// TestPagesOfSessions: the list goes on behind its last one, each session once, newest first,
// and says where; a limit is a number, and one that is too large is 100.
func TestPagesOfSessions(t *testing.T) {
	t.Parallel()
	s := crowded(t, 230, 30)
	for query, want := range map[string][]int{
		"": {50, 50, 50, 50, 30}, "limit=100": {100, 100, 30}, "limit=100000": {100, 100, 30}, "limit=115": {100, 100, 30}, "open=true": {30},
		"limit=10&open=true": {10, 10, 10}, "limit=30&open=true": {30},
	} {
		var sizes []int
		var ids []string
		for before := ""; ; {
			var page struct {
				Sessions []api.Session `json:"sessions"`
				Next     *string       `json:"next"`
			}
			w := s.do("GET", "/api/v1/sessions?"+query+"&before="+before, "ada", "")
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: %d %v %s", query, w.Code, err, w.Body)
			}
			sizes = append(sizes, len(page.Sessions))
			for _, one := range page.Sessions {
				ids = append(ids, one.ID)
			}
			if page.Next == nil {
				break
			}
			before = *page.Next
		}
		all := 230
		if strings.Contains(query, "open") {
			all = 30
		}
		var expected []string
		for i := range all {
			expected = append(expected, fmt.Sprintf("sess_%d", 229-i))
		}
		if !slices.Equal(ids, expected) || !slices.Equal(sizes, want) {
			t.Errorf("%s: pages of %v, want %v; sessions %v", query, sizes, want, ids)
		}
	}
	for query, want := range map[string]int{"limit=0": 400, "limit=-1": 400, "limit=many": 400, "before=sess_x": 404} {
		for target, as := range map[string]string{"/api/v1/sessions?": "ada", "/sessions?": "ada"} {
			if w := s.do("GET", target+query, as, ""); w.Code != want {
				t.Errorf("%s%s: %d, want %d", target, query, w.Code, want)
			}
		}
	}
}

// TestMoreSessions: the page lists the newest and leads by plain links to all others, each
// once; each page says in its title and heading what it holds.
func TestMoreSessions(t *testing.T) {
	t.Parallel()
	s := crowded(t, 230, 60)
	s.login("ada")
	found := map[string]int{}
	sessions := regexp.MustCompile(`href="/\?session=(sess_[0-9]+)#session-heading"`)
	read := func(page string) {
		for _, id := range sessions.FindAllStringSubmatch(page, -1) {
			found[id[1]]++
		}
	}
	home := s.page("/", "@ada")
	read(home)
	if len(found) != 60 { // 50 that run, and 10 that have ended
		t.Errorf("the page lists %d sessions", len(found))
	}
	wants(t, home, "More than 50 sessions waiting.", "More running sessions: 30</summary>", ">More running sessions</a>", ">More sessions</a>")
	next := regexp.MustCompile(`href="(/sessions\?[^"]*)"[^>]*>More`)
	for _, link := range next.FindAllStringSubmatch(home, -1) {
		for target := link[1]; target != ""; {
			page := s.page(strings.ReplaceAll(target, "&amp;", "&"), "@ada")
			read(page)
			wants(t, page, "<title>", "sessions from 1 January 2000, 00:00 and before</h1>", `<a href="/">Back to the page</a>`)
			lacks(t, page, "<script", "aria-live", `method="post"`)
			if strings.Count(page, "<h1") != 1 || strings.Count(page, "<main") != 1 {
				t.Errorf("the shape of the page:\n%s", page)
			}
			target = ""
			if more := next.FindStringSubmatch(page); more != nil {
				target = more[1]
			}
		}
	}
	for i := range 230 {
		if n := found[fmt.Sprintf("sess_%d", i)]; n != 1 {
			t.Errorf("session %d is linked %d times", i, n)
		}
	}
	older := s.page("/?session=sess_3", "@ada")
	wants(t, older, `<a href="/?session=sess_3#session-heading" aria-current="page">`, `<h2 id="session-heading" tabindex="-1">`)
	wants(t, s.page("/sessions?open=true&before=sess_170", "@ada"), "There are none that are older.")
	wants(t, s.do("GET", "/sessions?before=sess_x", "@ada", "", "Accept", "text/html").Body.String(), "Not here")
}

// TestAnswersOnly: anyone who may not answer a question is shown it without buttons or token,
// and told why; the API tells them neither the token nor the event that holds it.
func TestAnswersOnly(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.room.change(func() { s.room.questions[1].Owner = "ada" })
	for name, c := range map[string]struct {
		who  web.Principal
		want string // why not; "" is that they may
	}{
		"the owner":                {web.Principal{Name: "ada", Roles: roles("approver")}, ""},
		"an approver for her":      {web.Principal{Name: "bob", Roles: roles("approver"), Owners: []string{"ada"}}, ""},
		"operator and approver":    {web.Principal{Name: "bob", Roles: roles("operator", "approver")}, ""},
		"auditor and approver":     {web.Principal{Name: "bob", Roles: roles("auditor", "approver")}, "it is for ada, or an approver for that person"},
		"an auditor":               {web.Principal{Name: "bob", Roles: roles("auditor")}, "that takes the role approver"},
		"the owner, who listens":   {web.Principal{Name: "ada", Roles: roles("listener")}, "that takes the role approver"},
		"approver, and a tool too": {web.Principal{Name: "ada", Roles: roles("approver", "tool")}, "that takes the role approver"},
	} {
		s.doors.mu.Lock()
		s.doors.who["x"] = c.who
		s.doors.mu.Unlock()
		s.login("x")
		page, list := s.page("/", "@x"), s.do("GET", "/api/v1/questions", "x", "").Body.String()
		wants(t, page, `id="question-2-heading"`)
		if c.want == "" {
			wants(t, page, "accept question 2<", "More time<span class=\"unseen\"> for question 3", tokenA, "waiting for your answer")
			wants(t, list, tokenA, tokenB)
			continue
		}
		t.Log(name)
		wants(t, page, c.want, "waiting for an answer")
		lacks(t, page, "accept question", "More time", "Answer question", tokenA, tokenB, "waiting for your answer")
		wants(t, list, `"number":2`, `"number":3`)
		lacks(t, list, tokenA, tokenB)
	}
}

func roles(names ...access.Role) []access.Role { return names }

// TestStoppedLine: the line of a session that a signal has stopped does not show the signal's name as its summary. The API has it as
// it is stored.
func TestStoppedLine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.change(func() {
			s.room.sessions = append(s.room.sessions, api.Session{
				ID: "sess_lost", Turn: "turn_lost", Agent: "tidy", Owner: "ada", Status: "ended", Ended: true, Summary: "hangup", Created: noon,
			})
		})
		s.login("ada")
		if page := s.page("/sessions", "@ada"); !strings.Contains(page, "sess_lost") || strings.Contains(page, "hangup") {
			t.Errorf("the list says:\n%s", page)
		}
		if raw := s.do("GET", "/api/v1/sessions", "@ada", "").Body.String(); !strings.Contains(raw, `"summary":"hangup"`) {
			t.Errorf("the API says:\n%s", raw)
		}
	})
}
