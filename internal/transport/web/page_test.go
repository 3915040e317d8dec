package web_test

import (
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

var update = flag.Bool("update", false, "write the golden files again")

// styles are what a page looks like, which stands in its head.
var styles = regexp.MustCompile(`(?s)<style>(.*?)</style>`)

func golden(t *testing.T, name, got string) {
	t.Helper()
	got = styles.ReplaceAllString(got, "<style></style>")
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it again); found:\n%s", name, got)
	}
}

// played is a scene with a session that has ended and one that asks two questions.
func played(t *testing.T, change ...func(*web.Options)) *scene {
	t.Helper()
	s := newScene(t, change...)
	s.room.begin("sess_1", "tidy Documents")
	s.room.tell("sess_1", aaep.OutputStreaming{Chunk: "First line.\n", CoalesceHint: aaep.BoundarySentence})
	s.room.tell("sess_1", aaep.OutputStreaming{Chunk: "<b>Second</b> line.", Position: 12, Complete: true})
	s.room.tell("sess_1", aaep.SessionCompleted{SummaryNormal: "Done."})
	s.room.begin("sess_2", "tidy <Downloads>")
	s.room.tell("sess_2", aaep.StateChanged{FromState: "idle", ToState: "thinking", SummaryNormal: "Working out what to do next."})
	s.room.ask("sess_2", 2, tokenA)
	s.room.extended("sess_2", aaep.AwaitingClarification{
		Question: "What now?", ReplyToken: tokenB, TimeoutSeconds: 60, DefaultResponse: "leave", AcceptedResponseKinds: []aaep.ResponseKind{aaep.ResponseMultipleChoice},
		Choices: []aaep.Choice{{Value: "leave", Label: "Leave it"}, {Value: "ask again", Label: "Ask again"}},
	}, map[string]any{"question": 3, "tool": "files.delete"})
	s.room.change(func() {
		s.room.questions = append(s.room.questions, api.OpenQuestion{
			Number: 3, Session: "sess_2", Token: tokenB, Kind: "clarification", Title: "What now?", Deadline: noon.Add(time.Minute), Event: s.room.log[len(s.room.log)-1].raw,
		})
	})
	return s
}

// page is a document without its styles.
func (s *scene) page(target, as string) string {
	s.Helper()
	w := s.do("GET", target, as, "", "Accept", "text/html")
	if w.Code != 200 {
		s.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
	return styles.ReplaceAllString(w.Body.String(), "<style></style>")
}

// TestHome is the page with two questions open, and the one of a session that has ended.
func TestHome(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	golden(t, "home.html", s.page("/", "@ada"))
	golden(t, "ended.html", s.page("/?session=sess_1", "@ada"))
}

// TestEmptyHome: a page before anything was started is whole too.
func TestEmptyHome(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	golden(t, "empty.html", s.page("/", "@ada"))
}

// TestEveryPage: each page can be read by a program that knows HTML and nothing of us.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.room.arguments[2] = `{"root":"/home/ada"}`
	s.login("ada")
	pages := map[string]string{
		"home": s.page("/", "@ada"), "arguments": s.page("/questions/2/arguments", "@ada"), "login": s.page("/login", ""),
		"session":  s.page("/sessions/sess_2", "@ada"),
		"settings": s.page("/settings", "@ada"), "audit": s.page("/audit", "@ada"), "trouble": s.do("GET", "/nothing", "@ada", "", "Accept", "text/html").Body.String(),
	}
	ids, links := regexp.MustCompile(` id="([^"]+)"`), regexp.MustCompile(` (?:href="#|aria-labelledby="|for="|aria-describedby=")([^"]+)"`)
	for name, page := range pages {
		if !strings.HasPrefix(page, "<!DOCTYPE html>\n<html lang=\"en\"") || strings.Count(page, "<h1") != 1 || strings.Count(page, "<main") != 1 || !strings.Contains(page, "<title>") {
			t.Errorf("%s: no language, title, main or one first heading:\n%s", name, page)
		}
		lacks(t, page, "style=", "onclick", "<script>", "javascript:", "tabindex=\"1", "autofocus", "http-equiv")
		has := map[string]bool{}
		for _, id := range ids.FindAllStringSubmatch(page, -1) {
			if has[id[1]] {
				t.Errorf("%s: the id %s stands twice", name, id[1])
			}
			has[id[1]] = true
		}
		for _, link := range links.FindAllStringSubmatch(page, -1) {
			for id := range strings.FieldsSeq(link[1]) {
				if !has[id] {
					t.Errorf("%s: nothing has the id %s", name, id)
				}
			}
		}
		if opened, closed := strings.Count(page, "<section"), strings.Count(page, "</section>"); opened != closed {
			t.Errorf("%s: %d sections open, %d close", name, opened, closed)
		}
	}
}

// TestNoRight: who may only listen sees the question, and nothing that answers it.
func TestNoRight(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("lis")
	page := s.page("/", "@lis")
	wants(t, page, "Question 2:", "that takes the role approver")
	lacks(t, page, tokenA, tokenB, "accept question", "/questions/2/accept")
	list := s.do("GET", "/api/v1/questions", "lis", "").Body.String()
	wants(t, list, `"number":2`)
	lacks(t, list, tokenA, "reply_token")
	wants(t, s.do("GET", "/api/v1/questions", "ada", "").Body.String(), tokenA)
}

// TestSmallPages: what is neither asked about nor listed is a page like the others.
func TestSmallPages(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	for name, address := range map[string]string{
		"sessions": "/sessions", "questions": "/questions", "alerts": "/alerts", "offline": "/page/offline", "trouble": "/questions/99/arguments", "login": "/login",
	} {
		golden(t, name+".html", s.do("GET", address, "@ada", "", "Accept", "text/html").Body.String())
	}
}

// TestLogin: a code opens the page once; the cookie is kept from scripts and other sites.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if w := s.do("GET", "/", "", "", "Accept", "text/html"); w.Code != 303 || w.Header().Get("Location") != "/login" {
		t.Errorf("without a login: %d %v", w.Code, w.Header())
	}
	wrong := s.submit("/login", "", "code=BBBB-2222")
	if wrong.Code != 401 || len(wrong.Result().Cookies()) != 0 {
		t.Errorf("a wrong code: %d", wrong.Code)
	}
	wants(t, wrong.Body.String(), `role="alert"`, `aria-invalid="true"`)
	lacks(t, wrong.Body.String(), "BBBB")
	w := s.submit("/login", "", "code=+AAAA-1111+")
	if w.Code != 303 || w.Header().Get("Location") != "/" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	c := w.Result().Cookies()[0]
	if c.Value != "cookie-of-ada" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || !c.Expires.Equal(noon.Add(12*time.Hour)) || c.Domain != "" {
		t.Errorf("the cookie is %+v", c)
	}
	if again := s.submit("/login", "", "code=AAAA-1111"); again.Code != 401 {
		t.Errorf("a code opens twice: %d", again.Code)
	}
	if other := s.submit("/login", "", "code=AAAA-1111", "Origin", "https://evil.example"); other.Code != 403 {
		t.Errorf("another site may log in: %d", other.Code)
	}
	wants(t, s.do("GET", "/metrics", "ada", "").Body.String(), "earshot_logins_total 1\n", "earshot_logins_failed_total 2\n")
}

// TestSecurePage: by HTTPS, browsers take the cookie from this very host only, and come back without TLS no more.
func TestSecurePage(t *testing.T) {
	t.Parallel()
	const host, secure = "earshot.example.org", "__Host-earshot_page"
	s := newScene(t, func(o *web.Options) { o.PageURL = "https://" + host })
	w := s.submit("/login", "", "code=AAAA-1111", "Host", host, "Origin", "https://"+host)
	if w.Code != 303 {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	if c := w.Result().Cookies()[0]; c.Name != secure || !c.Secure || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie is %+v", c)
	}
	if got := w.Header().Get("Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("Strict-Transport-Security: %q", got)
	}
	for name, want := range map[string]int{secure: 200, "earshot_page": 401} {
		if w := s.do("GET", "/api/v1/me", "", "", "Host", host, "Cookie", name+"=cookie-of-ada"); w.Code != want {
			t.Errorf("with the cookie %s: %d, want %d", name, w.Code, want)
		}
	}
	for _, elsewhere := range []string{"127.0.0.1:7411", "localhost:7411", "evil.example"} {
		if got := s.do("GET", "/login", "", "", "Host", elsewhere).Header().Get("Strict-Transport-Security"); got != "" {
			t.Errorf("%s is kept to TLS: %q", elsewhere, got)
		}
	}
	if got := newScene(t).do("GET", "/login", "", "").Header().Get("Strict-Transport-Security"); got != "" {
		t.Errorf("without HTTPS: %q", got)
	}
}

// TestLoginAgain: a new login in a browser ends the one that it had, once it is there.
func TestLoginAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("lis")
	if w := s.submit("/login", "@lis", "code=9"); w.Code != 401 {
		t.Errorf("a wrong code: %d", w.Code)
	}
	if w := s.do("GET", "/api/v1/me", "@lis", ""); w.Code != 200 {
		t.Errorf("after a wrong code the old login is gone: %d", w.Code)
	}
	if w := s.submit("/login", "@lis", "code=AAAA-1111", "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"); w.Code != 303 {
		t.Errorf("the new login: %d", w.Code)
	}
	if w := s.do("GET", "/api/v1/me", "@lis", ""); w.Code != 401 {
		t.Errorf("after the new login the old one counts: %d", w.Code)
	}
	if w := s.do("GET", "/api/v1/me", "@ada", ""); w.Code != 200 {
		t.Errorf("the new login does not count: %d", w.Code)
	}
	if got := s.doors.browsers; len(got) != 1 || got[0] != "Firefox 140 on Linux" {
		t.Errorf("the browsers are %q", got)
	}
}

// TestWrongCodes: many wrong codes are told so shortly, and a right one among them counts.
func TestWrongCodes(t *testing.T) {
	t.Parallel()
	now := noon
	var log strings.Builder
	s := newScene(t, func(o *web.Options) {
		o.Now = func() time.Time { return now }
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	try := func() int { return s.submit("/login", "", "code=9").Code }
	for i := range 1000 {
		want := 429
		if i < 5 {
			want = 401
		}
		if got := try(); got != want {
			t.Fatalf("wrong code %d: %d, want %d", i+1, got, want)
		}
	}
	if w := s.submit("/login", "", "code=9"); w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "A right code is taken all the same") {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	if lines := strings.Count(log.String(), "login refused"); lines != 5 {
		t.Errorf("%d lines were logged", lines)
	}
	if w := s.submit("/login", "", "code=AAAA-1111"); w.Code != 303 {
		t.Errorf("the right code: %d", w.Code)
	}
	now = now.Add(2 * time.Second)
	for i, want := range []int{401, 401, 429} {
		if got := try(); got != want {
			t.Errorf("two seconds later, wrong code %d: %d, want %d", i+1, got, want)
		}
	}
	wants(t, s.do("GET", "/metrics", "ada", "").Body.String(), "earshot_logins_failed_total 1004\n")
}

// TestLogout ends the login; it needs a form of this very page.
func TestLogout(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	if w := s.submit("/logout", "@ada", "form=0"); w.Code != 403 {
		t.Errorf("without the form's token: %d", w.Code)
	}
	w := s.submit("/logout", "@ada", "form="+s.form)
	if w.Code != 303 || w.Header().Get("Location") != "/login" || w.Result().Cookies()[0].Expires.After(noon) {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := s.do("GET", "/api/v1/me", "@ada", ""); w.Code != 401 {
		t.Errorf("the cookie still counts: %d", w.Code)
	}
}

// TestSecureCookie: behind TLS the cookie never goes out without it.
func TestSecureCookie(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) { o.PageURL = "https://earshot.example.org" })
	w := s.submit("/login", "", "code=AAAA-1111", "Host", "earshot.example.org", "Origin", "https://earshot.example.org")
	if w.Code != 303 || !w.Result().Cookies()[0].Secure {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestForms: each button works without scripts: the word goes in, and the page that
// follows says once what became of it.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		target, fields string
		want           web.Reply
		said           string
	}{
		{"/questions/2/accept", "token=" + tokenA, web.Reply{Verb: web.VerbAnswer, Question: 2, Token: tokenA, Decision: "accept"}, "Recorded: question 2 is accepted."},
		{"/questions/2/reject", "token=" + tokenA, web.Reply{Verb: web.VerbAnswer, Question: 2, Token: tokenA, Decision: "reject"}, "Recorded: question 2 is rejected."},
		{"/questions/2/more-time", "token=" + tokenA, web.Reply{Verb: web.VerbExtend, Question: 2, Token: tokenA}, "Recorded: question 2 has more time."},
		{"/questions/3/reply", "response=ask+again&token=" + tokenB, web.Reply{Verb: web.VerbAnswer, Question: 3, Token: tokenB, Response: api.Response{Text: "ask again"}}, "Recorded: question 3 is answered."},
		{"/questions/2/undo", "", web.Reply{Verb: web.VerbUndo, Question: 2, Language: "en"}, "Recorded: the yes to question 2 is taken back. Nothing was done."},
		{"/sessions/sess_2/stop", "", web.Reply{Verb: web.VerbStop, Session: "sess_2"}, "Stopping."},
		{"/questions/2/accept", "token=" + tokenC, web.Reply{Verb: web.VerbAnswer, Question: 2, Token: tokenC, Decision: "accept"}, "Question 2 is not open any more, or has been asked again."},
	} {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			s := played(t)
			s.login("ada")
			w := s.submit(tt.target, "@ada", "form="+s.form+"&session=sess_2&"+tt.fields)
			if w.Code != 303 || w.Header().Get("Location") != "/?session=sess_2#notice" {
				t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
			}
			tt.want.At = noon
			if len(s.room.words) != 1 || s.room.words[0] != tt.want || s.room.who[0].Name != "ada" || s.room.who[0].Surface != "page" {
				t.Errorf("the hub got %+v from %+v", s.room.words, s.room.who)
			}
			wants(t, s.page("/?session=sess_2", "@ada"), `<span id="notice-text" tabindex="-1">`+tt.said)
			lacks(t, s.page("/?session=sess_2", "@ada"), tt.said)
		})
	}
}

// TestNoticeForScripts: a script is told whether the question is open as before, and whether another
// answer is taken.
func TestNoticeForScripts(t *testing.T) {
	t.Parallel()
	const wrong = "question 3 is still open; it expects one of its choices (leave, ask again); nothing was recorded"
	for _, tt := range []struct {
		target, fields string
		fail           error
		want           string
	}{
		{"/questions/2/more-time", "token=" + tokenA, nil, `{"text":"Recorded: question 2 has more time.","open":true}`},
		{"/questions/2/accept", "token=" + tokenA, nil, `{"text":"Recorded: question 2 is accepted.","undo":2}`},
		{"/questions/2/accept", "token=" + tokenB, nil, `{"text":"Question 2: the reply token does not belong to question 2. Nothing was changed.","refused":true}`},
		{"/questions/3/reply", "response=&token=" + tokenB, nil, `{"text":"Question 3: there was no answer in the form. Nothing was sent.","refused":true,"wrong":true}`},
		{
			"/questions/3/reply", "response=x&token=" + tokenB, &web.Refusal{Kind: api.KindInvalid, Message: wrong},
			`{"text":"Q` + wrong[1:] + `.","refused":true,"wrong":true}`,
		},
	} {
		s := played(t)
		s.login("ada")
		s.room.fail = tt.fail
		w := s.submit(tt.target, "@ada", "form="+s.form+"&"+tt.fields, "Accept", "application/json")
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) != tt.want {
			t.Errorf("%s %s: %d %s; want %s", tt.target, tt.fields, w.Code, w.Body, tt.want)
		}
	}
}

// TestShown: what a page shows of a question has another name when anything of it changes, and the
// same one when the question has only got more time.
func TestShown(t *testing.T) {
	t.Parallel()
	name := func(s *scene, q int) string {
		found := regexp.MustCompile(fmt.Sprintf(`data-question="%d" data-version="\w+" data-shown="(\w+)"`, q)).FindStringSubmatch(s.page("/", "@ada"))
		if found == nil {
			t.Fatal("the question has no name of what is shown")
		}
		return found[1]
	}
	for what, tt := range map[string]struct {
		same   bool
		change func(q *api.OpenQuestion, event func(old, now string))
	}{
		"more time": {true, func(q *api.OpenQuestion, event func(old, now string)) {
			q.Token, q.Deadline = tokenC, q.Deadline.Add(time.Hour)
			event(tokenA, tokenC)
			event(`"timeout_seconds":300`, `"timeout_seconds":900`)
			event("Question 2. Delete", "Question 2, asked again with more time. Delete")
		}},
		"what is asked": {false, func(_ *api.OpenQuestion, event func(old, now string)) {
			event(`"action":"Delete 5`, `"action":"Delete 6`)
		}},
		"what follows": {false, func(_ *api.OpenQuestion, event func(old, now string)) {
			event("They do not go to the trash.", "They go.")
		}},
		"the risk": {false, func(_ *api.OpenQuestion, event func(old, now string)) {
			event(`"risk_level":"high"`, `"risk_level":"low"`)
		}},
		"that it is parked": {false, func(q *api.OpenQuestion, _ func(old, now string)) { q.Parked = true }},
		"who may answer":    {false, func(q *api.OpenQuestion, _ func(old, now string)) { q.Token = "" }},
		"its arguments":     {false, func(q *api.OpenQuestion, _ func(old, now string)) { q.Call = "" }},
	} {
		s := played(t)
		s.login("ada")
		before := name(s, 2)
		s.room.change(func() {
			q := &s.room.questions[0]
			tt.change(q, func(old, now string) {
				if !strings.Contains(string(q.Event), old) {
					t.Fatalf("%s: %s is not in %s", what, old, q.Event)
				}
				q.Event = []byte(strings.ReplaceAll(string(q.Event), old, now))
			})
		})
		if same := name(s, 2) == before; same != tt.same {
			t.Errorf("%s: the same %v; want %v", what, same, tt.same)
		}
	}
}

// TestForged: a form of another page, another site or another login does nothing.
func TestForged(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("lis")
	other := s.form
	s.login("ada")
	fields := "token=" + tokenA + "&form="
	for name, w := range map[string]int{
		"no token":            s.submit("/questions/2/accept", "@ada", "token="+tokenA).Code,
		"another's token":     s.submit("/questions/2/accept", "@ada", fields+other).Code,
		"another site":        s.submit("/questions/2/accept", "@ada", fields+s.form, "Origin", "https://evil.example").Code,
		"a token in the URL":  s.submit("/questions/2/accept?form="+s.form, "@ada", "token="+tokenA).Code,
		"a listener":          s.submit("/questions/2/accept", "@lis", fields+other).Code,
		"a stop, no token":    s.submit("/sessions/sess_2/stop", "@ada", "").Code,
		"a stop, from a site": s.submit("/sessions/sess_2/stop", "@ada", "form="+s.form, "Sec-Fetch-Site", "cross-site", "Origin", "null").Code,
	} {
		if w != 403 {
			t.Errorf("%s: %d", name, w)
		}
	}
	if w := s.do("GET", "/questions/2/accept?token="+tokenA+"&form="+s.form, "@ada", "", "Accept", "text/html"); w.Code != 404 && w.Code != 405 {
		t.Errorf("a link decides: %d", w.Code)
	}
	for name, tt := range map[string][2]string{
		"which question was read": {"/questions/2/accept", "form=" + s.form},
		"no number":               {"/questions/two/accept", fields + s.form},
		"nothing of that name":    {"/questions/2/approve", fields + s.form},
	} {
		if w := s.submit(tt[0], "@ada", tt[1]); w.Code != 400 && w.Code != 404 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if len(s.room.words) != 0 {
		t.Errorf("the hub got %+v", s.room.words)
	}
}

// TestFirstWins: of two answers the first counts, and the other is told so (TR-SSE-08
// does not bind the page, whose person has logged in).
func TestFirstWins(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	fields := "form=" + s.form + "&token=" + tokenA
	first := s.submit("/questions/2/reject", "@ada", fields, "Accept", "application/json")
	second := s.submit("/questions/2/accept", "@ada", fields, "Accept", "application/json")
	if got := first.Body.String(); first.Code != 200 || got != `{"text":"Recorded: question 2 is rejected."}`+"\n" {
		t.Errorf("first: %d %s", first.Code, got)
	}
	if got := second.Body.String(); second.Code != 200 || got != `{"text":"Question 2 was already rejected. Your answer did not count.","refused":true}`+"\n" {
		t.Errorf("second: %d %s", second.Code, got)
	}
	third := s.do("POST", "/api/v1/questions/2/reply", "ada", `{"decision":"accept"}`)
	if got := third.Body.String(); third.Code != 200 || !strings.Contains(got, `"resolution":"rejected"`) {
		t.Errorf("third, by the API: %d %s", third.Code, got)
	}
}

// TestUndo: after a yes, the page offers to take it back.
func TestUndo(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	w := s.submit("/questions/2/accept", "@ada", "form="+s.form+"&token="+tokenA, "Accept", "application/json")
	if got := w.Body.String(); got != `{"text":"Recorded: question 2 is accepted.","undo":2}`+"\n" {
		t.Errorf("with scripts: %s", got)
	}
	s.submit("/questions/2/accept", "@ada", "form="+s.form+"&token="+tokenA)
	wants(t, s.page("/", "@ada"), `<form id="notice-undo" role="none" method="post" action="/questions/2/undo">`, "<button>Undo<span class=\"unseen\"> the yes to question 2</span></button>")
	wants(t, s.page("/", "@ada"), `action="/questions/0/undo" hidden>`)
}

// TestUndoAfterAReload: as long as it can be taken back, a page that is loaded again offers it, wherever
// the yes was given; once its work has begun, or it is off, it does not.
func TestUndoAfterAReload(t *testing.T) {
	t.Parallel()
	accepted := map[string]any{"question": 2, "resolution": "accepted", "tool_call_id": "call_2", "undo_seconds": 8, "by": "ada", "surface": "phone"}
	moves := aaep.StateChanged{FromState: "awaiting_input", ToState: "deciding", SummaryNormal: "Recorded."}
	const offered, none = `action="/questions/2/undo">`, `action="/questions/0/undo" hidden>`
	for name, tt := range map[string]struct {
		then func(*scene)
		want string
	}{
		"waiting": {func(*scene) {}, offered},
		"begun": {func(s *scene) {
			s.room.tell("sess_2", aaep.ToolInvoked{Tool: "files.delete", ToolCallID: "call_2", SummaryNormal: "Now."})
		}, none},
		"another begun": {func(s *scene) {
			s.room.tell("sess_2", aaep.ToolInvoked{Tool: "files.delete", ToolCallID: "call_9", SummaryNormal: "Now."})
		}, offered},
		"taken back": {func(s *scene) {
			s.room.extended("sess_2", moves, map[string]any{"question": 2, "resolution": "stopped"})
		}, none},
		"ended": {func(s *scene) { s.room.tell("sess_2", aaep.SessionCompleted{SummaryNormal: "Done."}) }, none},
		"can be undone anyway": {func(s *scene) {
			s.room.extended("sess_2", moves, map[string]any{"question": 2, "resolution": "accepted", "tool_call_id": "call_3"})
		}, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := played(t)
			s.login("ada")
			s.room.extended("sess_2", moves, accepted)
			tt.then(s)
			wants(t, s.page("/?session=sess_2", "@ada"), tt.want)
			s.login("lis")
			wants(t, s.page("/?session=sess_2", "@lis"), none)
		})
	}
}

// TestNoticed: a yes that is confirmed to anyone who gave it is noted as told, once it has left; a no and
// a yes that did not count are not.
func TestNoticed(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	noticed := func(want ...string) {
		t.Helper()
		s.room.mu.Lock()
		defer s.room.mu.Unlock()
		if !slices.Equal(s.room.noticed, want) {
			t.Errorf("noted are %q, want %q", s.room.noticed, want)
		}
		s.room.noticed = nil
	}
	s.submit("/questions/2/accept", "@ada", "form="+s.form+"&token="+tokenA)
	noticed("2 by ada on page")
	s.submit("/questions/2/accept", "@ada", "form="+s.form+"&token="+tokenA, "Accept", "application/json")
	noticed("2 by ada on page")
	s.submit("/questions/2/reject", "@ada", "form="+s.form+"&token="+tokenA)
	noticed()
	s.room.fail = lost()
	s.submit("/questions/2/accept", "@ada", "form="+s.form+"&token="+tokenA)
	noticed()
}

// TestArguments: in full, in parts, with what cannot be seen named.
func TestArguments(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	s.room.arguments[2] = `{"root":"/home/ada/Down` + "\u202e" + `loads","names":["a b","a` + "\u00a0" + `b","<i>"],"n":5,"empty":""}`
	golden(t, "arguments.html", s.page("/questions/2/arguments?session=sess_2", "@ada"))

	long := `{"text":"` + strings.Repeat("é", 20000) + `"}`
	s.room.arguments[3] = long
	var text strings.Builder
	for offset, parts := "", 0; ; parts++ {
		page := s.page("/questions/3/arguments"+offset, "@ada")
		_, rest, _ := strings.Cut(page, `<pre lang="" dir="ltr">`)
		body, _, _ := strings.Cut(rest, "</pre>")
		text.WriteString(body)
		_, next, more := strings.Cut(page, "&amp;offset=")
		if !more {
			if parts != 2 {
				t.Errorf("%d parts", parts+1)
			}
			break
		}
		next, _, _ = strings.Cut(next, `"`)
		offset = "?offset=" + next
	}
	if got := strings.ReplaceAll(text.String(), "&#34;", `"`); got != long {
		t.Errorf("the parts together are %d bytes, want %d", len(got), len(long))
	}
	if w := s.do("GET", "/questions/9/arguments", "@ada", "", "Accept", "text/html"); w.Code != 404 || !strings.Contains(w.Body.String(), "<h1>Not here</h1>") {
		t.Errorf("another question: %d %s", w.Code, w.Body)
	}
}

// TestStatic: the scripts and the images come with their types, and are asked for once. A part of another script is in that.
func TestStatic(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for file, kind := range map[string]string{"mark.svg": "image/svg+xml", "page.js": "text/javascript; charset=utf-8", "zone.js": "text/javascript; charset=utf-8"} {
		w := s.do("GET", "/page/"+file, "", "")
		if w.Code != 200 || w.Header().Get("Content-Type") != kind || w.Body.Len() == 0 {
			t.Errorf("%s: %d %v", file, w.Code, w.Header())
		}
		if again := s.do("GET", "/page/"+file, "", "", "If-None-Match", w.Header().Get("ETag")); again.Code != 304 || again.Body.Len() != 0 {
			t.Errorf("%s again: %d", file, again.Code)
		}
	}
	for _, file := range []string{"home.html", "style.css", "stream.js", "nothing.js", url.PathEscape("../web.go"), ""} {
		if w := s.do("GET", "/page/"+file, "", ""); w.Code == 200 {
			t.Errorf("%s is served", file)
		}
	}
}

// TestQuestionInParts: where a producer gives what is more on its own, an opened question says
// that, and not everything once again; any other's detailed summary is shown.
func TestQuestionInParts(t *testing.T) {
	t.Parallel()
	const detailed, detail = "Question 2. Delete 5 files, and more.", "The tool is \u202efiles.delete."
	for _, members := range []map[string]any{{"question": 2}, {"question": 2, "detail": detail}} {
		s := newScene(t)
		s.room.begin("sess_1", "tidy")
		s.room.ask("sess_1", 2, tokenA)
		s.room.extended("sess_1", aaep.AwaitingConfirmation{
			Action: "Delete 5 files.", Consequence: "They are gone.", ReplyToken: tokenA, TimeoutSeconds: 300, Irreversible: true,
			DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskHigh, Reversibility: aaep.Irreversible, SummaryDetailed: detailed,
		}, members)
		s.room.change(func() { s.room.questions[0].Event = s.room.log[len(s.room.log)-1].raw })
		s.login("ada")
		page := s.page("/", "@ada")
		if len(members) == 1 {
			wants(t, page, ">"+detailed+"</p>")
			continue
		}
		wants(t, page, "The tool is &lt;U+202E&gt;files.delete.</p>")
		lacks(t, page, detailed)
	}
}
