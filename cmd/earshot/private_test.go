package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/bus/bustest"
	"github.com/earshot-dev/earshot/internal/testkit"
)

var (
	codeForm = regexp.MustCompile(`\b\d{4}(-\d{4}){4}\b`)
	pageForm = regexp.MustCompile(`^http://[0-9a-f]{32}\.localhost:\d+/$`)
)

// TestServerPrivate: nobody else can read how the local user is let in.
func TestServerPrivate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.upApart()
	said := server.out.String() + server.prompt.String()
	for _, name := range []string{"server.json", "person.token", "page"} {
		info, err := os.Stat(filepath.Join(s.data, name))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
	person, err := os.ReadFile(filepath.Join(s.data, "person.token"))
	must(t, err)
	place := s.place()
	if place.PID != server.pid() || strings.Contains(said, place.Token) || strings.Contains(said, strings.TrimSpace(string(person))) {
		t.Errorf("server.json says %d, and the output is %s", place.PID, said)
	}
	if !pageForm.MatchString(place.Page) || !strings.Contains(server.out.String(), "\nPage: "+place.Page+"\n") || !strings.HasPrefix(place.URL, "http://127.0.0.1:") {
		t.Errorf("the page is at %q, the API at %q, and the output is %s", place.Page, place.URL, server.out)
	}
	server.signal(os.Interrupt)
	server.ends(0)
	for _, name := range []string{"server.json", "person.token"} {
		if _, err := os.Stat(filepath.Join(s.data, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left behind: %v", name, err)
		}
	}
	s.up()
	if again := s.place().Page; again[:40] != place.Page[:40] {
		t.Errorf("the page was at %s, and after a restart is at %s", place.Page, again)
	}
	other := newScene(t)
	other.up()
	if again := other.place().Page; again[:40] == place.Page[:40] {
		t.Errorf("another data directory has the same page, %s", again)
	}
}

// TestServerPageFile: a name that others may know, or that is none, is not used.
func TestServerPageFile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"open to others", strings.Repeat("0a", 16) + "\n", 0o644, "is open to others (mode 0644, expected 0600) hint: others may know the name: remove the file"},
		{"short", "0a\n", 0o600, "does not hold a name of a page: expected 32 hexadecimal digits hint:"},
		{"a name elsewhere", "evil.example\n", 0o600, "does not hold a name of a page"},
		{"empty", "", 0o600, "does not hold a name of a page"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			file := filepath.Join(s.data, "page")
			must(t, os.WriteFile(file, []byte(row.text), row.mode))
			must(t, os.Chmod(file, row.mode))
			p := start(t, options{verb: "up", data: s.data, args: []string{"--root", s.folder, "--http", "127.0.0.1:0"}, nobody: true})
			p.ends(1)
			contains(t, p.prompt.String(), row.want)
		})
	}
}

// TestServerCodeIsForATerminal: a code is shown to a person at a terminal, and goes into no
// pipe and no journal; a journal does not get the page's name either.
func TestServerCodeIsForATerminal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		sit        bool
		env        []string
		code, page bool
	}{
		{"a terminal", true, nil, true, true},
		{"a terminal that a service has opened", true, []string{"JOURNAL_STREAM=8:1"}, true, true},
		{"a pipe", false, nil, false, true},
		{"a journal", false, []string{"JOURNAL_STREAM=8:1"}, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			var p *process
			o := options{verb: "up", data: s.data, env: row.env, args: []string{"--root", s.folder, "--http", "127.0.0.1:0"}}
			if row.sit {
				p = sit(t, 200, o)
			} else {
				p = start(t, o)
			}
			p.hears("Control C ends it")
			said := p.out.String() + p.prompt.String()
			if found := codeForm.MatchString(said); found != row.code {
				t.Errorf("a code is in it: %v\n%s", found, said)
			}
			if found := strings.Contains(said, s.place().Page); found != row.page {
				t.Errorf("the page's address is in it: %v\n%s", found, said)
			}
			if !row.code {
				contains(t, said, "To log in on the page: `earshot code --data "+s.data+"` prints its address and a code.")
			}
			code := start(t, options{verb: "code", data: s.data, nobody: true})
			code.ends(0)
			if row.sit { // the server shows it in its own terminal
				p.hears("has asked for it.")
			}
			if codeForm.MatchString(code.out.String()) == row.sit || strings.Contains(code.out.String(), "Page") {
				t.Errorf("standard output of earshot code is %q", code.out)
			}
			contains(t, code.prompt.String(), "Page: "+s.place().Page)
		})
	}
}

// TestServerPair: a code for a phone is eight digits, logs one browser in, and comes with a word on where the page opens.
func TestServerPair(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := start(t, options{verb: "up", data: s.data, args: []string{"--root", s.folder, "--http", "127.0.0.1:0"}})
	p.hears("Control C ends it")
	pair := start(t, options{verb: "pair", data: s.data, nobody: true})
	pair.ends(0)
	code := strings.TrimSpace(pair.out.String())
	if !regexp.MustCompile(`^\d{4}-\d{4}$`).MatchString(code) {
		t.Fatalf("the code is %q", code)
	}
	contains(t, pair.prompt.String(), "Page: "+s.place().Page, "The code counts once, until", "This page opens on this machine only, and not on a phone.")
	for _, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.place().URL+"/login", strings.NewReader(url.Values{"code": {code}}.Encode()))
		must(t, err)
		r.Host = strings.TrimSuffix(strings.TrimPrefix(s.place().Page, "http://"), "/")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
		must(t, err)
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("the login: %s, expected %d", answer.Status, want)
		}
	}
}

// TestServerLogFile: a file, which others may be able to read, gets neither.
func TestServerLogFile(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	log := filepath.Join(filepath.Dir(s.data), "up.log")
	sit(t, 200, options{verb: "up", data: s.data, into: log, args: []string{"--root", s.folder, "--http", "127.0.0.1:0"}})
	said := ""
	for began := time.Now(); !strings.Contains(said, "Control C ends it"); {
		raw, err := os.ReadFile(log)
		must(t, err)
		if said = string(raw); time.Since(began) > patience {
			t.Fatalf("it does not serve:\n%s", said)
		}
	}
	if codeForm.MatchString(said) || strings.Contains(said, s.place().Page) {
		t.Errorf("the file has\n%s", said)
	}
	contains(t, said, "To log in on the page: `earshot code")
}

// TestServerTwin: browsers look for the page at both addresses of the loopback, so the
// server has both or does not start: anyone who had the other would be sent the cookie.
func TestServerTwin(t *testing.T) {
	t.Parallel()
	_, port, err := net.SplitHostPort(bustest.Address(t))
	must(t, err)
	other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("::1", port))
	if err != nil {
		t.Logf("this machine has no ::1, so nobody can have it: %v", err)
		return
	}
	defer func() { _ = other.Close() }()
	s := newScene(t)
	p := start(t, options{verb: "up", data: s.data, args: []string{"--root", s.folder, "--http", "127.0.0.1:" + port}, nobody: true})
	p.ends(1)
	contains(t, p.prompt.String(), "the address [::1]:"+port+" is taken by another program")
	s.up()
	u, err := url.Parse(s.place().URL)
	must(t, err)
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		response, err := http.Get("http://" + host + ":" + u.Port() + "/healthz")
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", host, response.Status)
		}
	}
}

// TestServerFileAnswersNothing (call protocol, "Who may answer"): anyone who has read
// server.json hears, starts and stops, and has no say in a question, also not by making a
// code for the page of it. The person's own token has.
func TestServerFileAnswersNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.up()
	program, err := client.Dial(t.Context(), client.Options{ServerFile: filepath.Join(s.data, "server.json")})
	must(t, err)
	args, err := json.Marshal(map[string]string{"root": s.folder})
	must(t, err)
	_, err = program.Start(t.Context(), api.TurnStart{Agent: "tidy", Args: args})
	must(t, err)
	var open []api.OpenQuestion
	for len(open) == 0 {
		open, err = program.Questions(t.Context())
		must(t, err)
	}
	if open[0].Token != "" {
		t.Error("it is told the question's reply token")
	}
	_, err = program.Reply(t.Context(), open[0].Number, api.Reply{Decision: "accept"})
	if !errors.Is(err, &client.Error{Code: client.CodeForbidden}) {
		t.Errorf("its yes got %v", err)
	}
	code, err := program.LoginCode(t.Context())
	must(t, err)
	browser := s.browser()
	browser.login(code.Code)
	if status, _ := browser.get("/"); status != http.StatusOK {
		t.Fatalf("the page answers %d", status)
	}
	status, text := browser.post(fmt.Sprintf("/questions/%d/accept", open[0].Number), url.Values{"form": {browser.form()}, "token": {s.pending()[0].Token}})
	if status != http.StatusForbidden {
		t.Errorf("its page's yes got %d %s", status, text)
	}
	s.untouched("without a person's yes")
	contains(t, s.does(0, "reply", "reject"), "is rejected")
}

// browser is the page's other end, without a window.
type browser struct {
	t      *testing.T
	client *http.Client
	page   string
	at     string
}

// browser makes one. It finds the page's name as browsers do, on this machine.
func (s *scene) browser() *browser {
	s.t.Helper()
	return &browser{t: s.t, page: s.place().Page, at: s.place().URL, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Jar:           new(oneCookie),
	}}
}

// oneCookie keeps what a server has set last.
type oneCookie struct{ kept []*http.Cookie }

func (c *oneCookie) SetCookies(_ *url.URL, set []*http.Cookie) { c.kept = set }
func (c *oneCookie) Cookies(*url.URL) []*http.Cookie           { return c.kept }

func (b *browser) get(path string) (int, string) {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

func (b *browser) post(path string, fields url.Values) (int, string) {
	b.t.Helper()
	return b.do(http.MethodPost, path, fields)
}

func (b *browser) do(method, path string, fields url.Values) (int, string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.at+path, strings.NewReader(fields.Encode()))
	must(b.t, err)
	u, err := url.Parse(b.page)
	must(b.t, err)
	request.Host = u.Host
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	if method == http.MethodPost {
		request.Header.Set("Origin", strings.TrimSuffix(b.page, "/"))
	}
	response, err := b.client.Do(request)
	must(b.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	must(b.t, err)
	return response.StatusCode, string(raw)
}

func (b *browser) login(code string) {
	b.t.Helper()
	if status, text := b.post("/login", url.Values{"code": {code}}); status != http.StatusSeeOther {
		b.t.Fatalf("the login with %q got %d %s", code, status, text)
	}
}

// form reads the token of the page's forms.
func (b *browser) form() string {
	b.t.Helper()
	_, text := b.get("/")
	_, rest, _ := strings.Cut(text, `name="form" value="`)
	form, _, _ := strings.Cut(rest, `"`)
	return form
}

// TestServerLogins lists the browsers that are logged in, and ends one and all of them,
// with the server running and not; their streams end.
func TestServerLogins(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	contains(t, s.does(0, "logins"), "No browser is logged in.")
	server := s.up()
	browsers := []*browser{s.browser(), s.browser(), s.browser()}
	for _, b := range browsers {
		code := start(t, options{verb: "code", data: s.data, nobody: true})
		code.ends(0)
		b.login(strings.TrimSpace(code.out.String()))
	}
	rows := s.logins()
	if len(rows) != 3 || rows[0].Browser != "Firefox 140 on Linux" || rows[0].Begun.IsZero() || rows[0].Used.IsZero() || len(rows[0].ID) != 16 {
		t.Fatalf("%+v", rows)
	}
	contains(t, s.does(0, "logins"), "Login "+rows[0].ID+": "+rows[0].Person+", in Firefox 140 on Linux. Since")
	contains(t, s.does(0, "logins", "list"), "Login "+rows[2].ID)
	stream := make(chan string)
	go func() {
		_, text := browsers[0].get("/page/events")
		stream <- text
	}()
	contains(t, s.does(0, "logins", "end", strings.ToUpper(rows[0].ID[:8])), "Ended: login "+rows[0].ID)
	if text := <-stream; !strings.Contains(text, "retry:") && !strings.Contains(text, "authentication") && !strings.Contains(text, "Log in again") {
		t.Errorf("the stream had %q", text)
	}
	want := []int{http.StatusSeeOther, http.StatusOK, http.StatusOK}
	for i, b := range browsers {
		if status, _ := b.get("/"); status != want[i] {
			t.Errorf("browser %d gets %d, want %d", i, status, want[i])
		}
	}
	contains(t, s.does(1, "logins", "end", "zz"), "no login begins with \"zz\"")
	contains(t, s.does(1, "logins", "end", rows[0].ID), "no login begins with")
	contains(t, s.does(2, "logins", "end"), "no login is named")
	contains(t, s.does(2, "logins", "end", "--all", rows[1].ID), "both an ID and --all")
	completed := start(t, options{verb: "__complete", args: []string{"logins", "end", "--data", s.data, ""}, nobody: true})
	completed.ends(0)
	contains(t, completed.out.String(), rows[1].ID+" "+rows[1].Person+", Firefox 140 on Linux")
	server.signal(os.Interrupt)
	server.ends(0)
	if left := s.logins(); len(left) != 2 || slices.ContainsFunc(left, func(r loginRow) bool { return r.ID == rows[0].ID }) {
		t.Errorf("left are %+v", left)
	}
	contains(t, s.does(0, "logins", "end", "--all"), "Ended: login "+rows[2].ID)
	contains(t, s.does(0, "logins", "end", "--all"), "No browser is logged in.")
	s.up()
	again := s.browser()
	again.client.Jar = browsers[1].client.Jar
	if status, _ := again.get("/"); status != http.StatusSeeOther {
		t.Errorf("a login that was ended without the server gets %d", status)
	}
}

type loginRow = struct {
	ID, Person, Browser  string
	Begun, Used, Expires time.Time
}

func (s *scene) logins() []loginRow {
	s.t.Helper()
	p := start(s.t, options{verb: "logins", data: s.data, args: []string{"--json"}, nobody: true})
	p.ends(0)
	var rows []loginRow
	must(s.t, json.Unmarshal([]byte(p.out.String()), &rows))
	return rows
}

// TestServerBehindAProxy: with --page-url the page lives at that name, its cookie is for TLS,
// and an allowed origin may use the API; the name of the data directory is not used.
func TestServerBehindAProxy(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.up("--page-url", "https://Earshot.Example.org:443/", "--allow-origin", "https://reader.example.org")
	contains(t, server.out.String(), "Page: https://earshot.example.org/")
	if _, err := os.Stat(filepath.Join(s.data, "page")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has made a name that it does not use: %v", err)
	}
	b := s.browser()
	code := start(t, options{verb: "code", data: s.data, args: []string{"--json"}, nobody: true})
	code.ends(0)
	var made api.LoginCode
	must(t, json.Unmarshal([]byte(code.out.String()), &made))
	if made.Page != "https://earshot.example.org/" {
		t.Errorf("the code is for %q", made.Page)
	}
	b.login(made.Code)
	jar, _ := b.client.Jar.(*oneCookie)
	if len(jar.kept) != 1 || !jar.kept[0].Secure || jar.kept[0].Domain != "" {
		t.Errorf("the cookie is %+v", jar.kept)
	}
	if status, _ := b.get("/"); status != http.StatusOK {
		t.Errorf("the page answers %d", status)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.place().URL+"/api/v1/me", http.NoBody)
	must(t, err)
	request.Header.Set("Origin", "https://reader.example.org")
	request.Header.Set("Authorization", "Bearer "+s.place().Token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	if response.StatusCode != http.StatusOK || response.Header.Get("Access-Control-Allow-Origin") != "https://reader.example.org" {
		t.Errorf("%s %v", response.Status, response.Header)
	}
	plain := newScene(t)
	contains(t, plain.up("--page-url", "http://localhost:7411").out.String(), "Note: others on this machine know this name")
}
