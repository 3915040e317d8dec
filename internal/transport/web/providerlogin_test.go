package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// provider is an identity provider where everybody is who they say.
type provider struct{ away bool }

func (p *provider) Called() string { return "id.example.org" }

func (p *provider) Begin(_ context.Context, back string) (to, kept string, err error) {
	if p.away {
		return "", "", &access.Error{Code: access.CodeAway, Message: "the identity provider id.example.org cannot be asked where people log in", Hint: "try again in a moment"}
	}
	return "https://id.example.org/?" + url.Values{"back": {back}}.Encode(), "kept", nil
}

func (p *provider) Finish(_ context.Context, back, kept string, query url.Values) (access.Vouched, error) {
	if kept != "kept" || back != pageURL+"/login/provider/back" {
		return access.Vouched{}, &access.Error{Code: access.CodeUnknown, Message: "this login was not begun in this browser", Hint: "log in again"}
	}
	return access.Vouched{Issuer: "https://id.example.org", Subject: query.Get("who"), Unattended: query.Get("unseen")}, nil
}

// TestProviderLogin: the page leads to the identity provider and takes whom it sends back in the same browser, by a page of its own that
// leads on; what goes wrong is said where it can be tried again.
func TestProviderLogin(t *testing.T) {
	t.Parallel()
	away := &provider{}
	s := newScene(t, func(o *web.Options) { o.Logins = away })
	wants(t, s.do("GET", "/login", "", "", "Accept", "text/html").Body.String(), `href="/login/provider">Log in with <bdi>id.example.org</bdi>`, `name="code"`)
	w := s.do("GET", "/login/provider", "", "")
	if to := w.Header().Get("Location"); w.Code != 303 || to != "https://id.example.org/?back="+url.QueryEscape(pageURL+"/login/provider/back") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	if c := w.Result().Cookies()[0]; c.Name != "earshot_login" || c.Value != "kept" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 600 || c.Domain != "" {
		t.Errorf("what the browser keeps is %+v", c)
	}

	const back = "/login/provider/back?who="
	came := func(query string, headers ...string) (status int, body string, cookies map[string]*http.Cookie) {
		t.Helper()
		w := s.do("GET", back+query, "", "", append(headers, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")...)
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", query, w.Header())
		}
		cookies = map[string]*http.Cookie{}
		for _, c := range w.Result().Cookies() {
			cookies[c.Name] = c
		}
		return w.Code, w.Body.String(), cookies
	}
	for query, row := range map[string]struct {
		headers []string
		status  int
		said    string
	}{
		"ada":     {nil, 401, "This login was not begun in this browser. Log in again."},
		"mallory": {[]string{"Cookie", "earshot_login=kept"}, 403, "Nothing gives a role here. Ask the operator."},
	} {
		status, body, cookies := came(query, row.headers...)
		if status != row.status || cookies["earshot_page"] != nil || cookies["earshot_login"].MaxAge >= 0 {
			t.Errorf("%s: %d %v", query, status, cookies)
		}
		wants(t, body, row.said, `role="alert"`, `href="/login/provider"`)
	}
	status, body, cookies := came("ada", "Cookie", "earshot_login=kept")
	if c := cookies["earshot_page"]; status != 200 || c == nil || c.Value != "cookie-of-ada" || c.SameSite != http.SameSiteStrictMode || cookies["earshot_login"].MaxAge >= 0 {
		t.Fatalf("%d %v", status, cookies)
	}
	wants(t, body, `http-equiv="refresh" content="0; url=/"`, `href="/"`, "You are logged in")
	if w := s.do("GET", "/api/v1/me", "@ada", ""); w.Code != 200 {
		t.Errorf("the login does not count: %d", w.Code)
	}
	wants(t, s.do("GET", "/metrics", "ada", "").Body.String(), "earshot_logins_total 1\n", "earshot_logins_failed_total 2\n")

	s.doors.codes["AAAA-1111"] = "ada"
	_, body, _ = came("ada&unseen=nobody+was+asked", "Cookie", "earshot_login=kept")
	wants(t, body, "Here you can reject, ask for more time and stop, and not accept: nobody was asked.", `href="/"`)
	lacks(t, body, "http-equiv")

	away.away = true
	if w := s.do("GET", "/login/provider", "", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "cannot be asked where people log in. Try again in a moment.") {
		t.Errorf("while it is away: %d %s", w.Code, w.Body)
	}
	if w := s.do("GET", "/login/provider", "", "", "Host", "127.0.0.1:7411"); w.Code != 421 || len(w.Result().Cookies()) > 0 {
		t.Errorf("under another name: %d", w.Code)
	}
	without := newScene(t)
	if w := without.do("GET", "/login/provider", "", ""); w.Code != 404 {
		t.Errorf("without a provider: %d", w.Code)
	}
	lacks(t, without.do("GET", "/login", "", "").Body.String(), "/login/provider")
}
