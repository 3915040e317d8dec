package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestHost: the API answers to the names of this machine's loopback and to that of the
// page; the page to its own name and port alone.
func TestHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		page, host string
		api, login int
	}{
		{pageURL, pageHost, 200, 200},
		{pageURL, strings.ToUpper(pageHost), 200, 200},
		{pageURL, pageName, 421, 421},
		{pageURL, pageName + ":7412", 421, 421},
		{pageURL, "www." + pageHost, 421, 421},
		{pageURL, "1" + pageHost[1:], 421, 421},
		{pageURL, "127.0.0.1:7411", 200, 421},
		{pageURL, "127.9.9.9", 200, 421},
		{pageURL, "localhost:7411", 200, 421},
		{pageURL, "LOCALHOST", 200, 421},
		{pageURL, "[::1]:7411", 200, 421},
		{pageURL, "::1", 200, 421},
		{pageURL, "evil.example", 421, 421},
		{pageURL, "localhost.evil.example", 421, 421},
		{pageURL, "127.0.0.1.evil.example", 421, 421},
		{pageURL, "192.0.2.7:7411", 421, 421},
		{pageURL, pageName + ".evil.example:7411", 421, 421},
		{pageURL, "", 421, 421},
		{"https://earshot.example.org", "earshot.example.org", 200, 200},
		{"https://earshot.example.org", "earshot.example.org:443", 200, 200},
		{"https://earshot.example.org", "earshot.example.org:80", 421, 421},
		{"https://earshot.example.org", "earshot.example.org.evil", 421, 421},
		{"https://earshot.example.org", "127.0.0.1:7411", 200, 421},
		{"https://box.example:8443", "BOX.example:8443", 200, 200},
		{"https://box.example:8443", "box.example", 421, 421},
		{"http://localhost:7411", "localhost:7411", 200, 200},
		{"http://localhost:7411", "127.0.0.1:7411", 200, 421},
		{"", "127.0.0.1:7411", 200, 421},
		{"", pageHost, 421, 421},
	} {
		s := newScene(t, func(o *web.Options) { o.PageURL = tt.page })
		if got := s.do("GET", "/healthz", "", "", "Host", tt.host).Code; got != tt.api {
			t.Errorf("the page at %q, Host %q: the API %d, want %d", tt.page, tt.host, got, tt.api)
		}
		if got := s.do("GET", "/login", "", "", "Host", tt.host).Code; got != tt.login {
			t.Errorf("the page at %q, Host %q: the login %d, want %d", tt.page, tt.host, got, tt.login)
		}
	}
}

// TestCookieIsOfOneName: browsers send a cookie to every port of a name, so one that is
// shown under another name than the page's is worth nothing, wherever it is shown.
func TestCookieIsOfOneName(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	for _, host := range []string{"127.0.0.1:7411", "localhost:7411", "[::1]:7411"} {
		for _, target := range []string{"/api/v1/me", "/api/v1/sessions", "/api/v1/questions", "/aaep/v1/events?subscription_id=sub_1", "/metrics"} {
			if w := s.do("GET", target, "@ada", "", "Host", host); w.Code != 401 {
				t.Errorf("%s%s with the cookie: %d", host, target, w.Code)
			}
		}
		for _, target := range []string{"/", "/login", "/page/events", "/page/page.js", "/questions/2/arguments"} {
			if w := s.do("GET", target, "@ada", "", "Host", host, "Accept", "text/html"); w.Code != 421 {
				t.Errorf("%s%s with the cookie: %d", host, target, w.Code)
			}
		}
		for _, target := range []string{"/questions/2/accept", "/sessions/sess_2/stop", "/logout"} {
			for _, origin := range []string{"http://" + host, pageURL, ""} {
				headers := []string{"Host", host, "Origin", origin}
				if w := s.submit(target, "@ada", "form="+s.form+"&token="+tokenA, headers...); w.Code != 403 && w.Code != 421 {
					t.Errorf("%s%s from %q with the cookie: %d", host, target, origin, w.Code)
				}
			}
		}
	}
	if len(s.room.words) != 0 {
		t.Errorf("the hub got %+v", s.room.words)
	}
	if w := s.do("GET", "/api/v1/me", "@ada", ""); w.Code != 200 {
		t.Errorf("under the page's name the cookie does not count: %d", w.Code)
	}
}

// TestCookieIsOfOneUser: a cookie that another user of the machine has got hold of, with the
// page's name, is worth nothing in their hands.
func TestCookieIsOfOneUser(t *testing.T) {
	t.Parallel()
	user := "1000"
	s := played(t, func(o *web.Options) { o.User = func(*http.Request) string { return user } })
	if w := s.submit("/login", "", "code=AAAA-1111"); w.Code != 303 {
		t.Fatalf("the login: %d", w.Code)
	}
	form := formOf(s.do("GET", "/", "@ada", "", "Accept", "text/html").Body.String())
	for _, other := range []string{"1001", "0", ""} {
		user = other
		if w := s.do("GET", "/api/v1/me", "@ada", ""); w.Code != 401 {
			t.Errorf("shown by %q: %d", other, w.Code)
		}
		if w := s.submit("/questions/2/accept", "@ada", "form="+form+"&token="+tokenA); w.Code != 401 {
			t.Errorf("a yes by %q: %d", other, w.Code)
		}
		if w := s.submit("/logout", "@ada", "form="+form); w.Code != 401 {
			t.Errorf("a logout by %q: %d", other, w.Code)
		}
	}
	user = "1000"
	if w := s.submit("/questions/2/accept", "@ada", "form="+form+"&token="+tokenA); w.Code != 303 || len(s.room.words) != 1 {
		t.Errorf("a yes by the one who has logged in: %d, the hub got %+v", w.Code, s.room.words)
	}
}

// TestLoginIsOfOneName: under another name a right code opens nothing, sets no cookie, and
// is not used up.
func TestLoginIsOfOneName(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, host := range []string{"127.0.0.1:7411", "localhost:7411", "[::1]:7411", pageName + ":7412", "evil.example"} {
		for _, origin := range []string{"http://" + host, pageURL, ""} {
			w := s.submit("/login", "", "code=AAAA-1111", "Host", host, "Origin", origin)
			if w.Code != 403 && w.Code != 421 || len(w.Result().Cookies()) != 0 || w.Header().Get("Location") != "" {
				t.Errorf("%s from %q: %d %v", host, origin, w.Code, w.Header())
			}
		}
	}
	if w := s.submit("/login", "", "code=AAAA-1111"); w.Code != 303 || len(w.Result().Cookies()) != 1 {
		t.Errorf("under the page's name: %d %v", w.Code, w.Header())
	}
}

// TestNameIsNotTold: nothing that is answered under another name, or to somebody without a
// token, tells the page's name: no page, no refusal, no header.
func TestNameIsNotTold(t *testing.T) {
	t.Parallel()
	s := played(t)
	for _, host := range []string{"127.0.0.1:7411", "localhost:7411", "evil.example", ""} {
		for _, target := range []string{
			"/", "/login", "/logout", "/page/page.js", "/page/events", "/questions/2/arguments", "/questions/2/accept", "/sessions/sess_2/stop", "/nothing",
			"/api/v1/me", "/api/v1/codes", "/api/v1/nothing", "/aaep/v1/subscriptions", "/.well-known/aaep-manifest.json", "/healthz", "/readyz", "/metrics",
		} {
			for _, method := range []string{"GET", "POST", "OPTIONS", "HEAD"} {
				for _, accept := range []string{"text/html", "application/json"} {
					w := s.do(method, target, "", "", "Host", host, "Accept", accept, "Origin", "http://127.0.0.1:8080")
					if isRefusal := fmt.Sprint(w.Header()) + w.Body.String(); strings.Contains(isRefusal, pageName[:32]) {
						t.Errorf("%s %s%s tells the name: %s", method, host, target, isRefusal)
					}
					if w.Code == 303 {
						t.Errorf("%s %s%s leads on to %s", method, host, target, w.Header().Get("Location"))
					}
				}
			}
		}
	}
	page := s.do("GET", "/", "", "", "Host", "127.0.0.1:7411", "Accept", "text/html")
	wants(t, page.Body.String(), "<h1>The page is not here</h1>", "earshot code", `<html lang="en">`)
	lacks(t, page.Body.String(), "href", "stylesheet")
}

func (s *scene) status(r *http.Request) int {
	s.Helper()
	w := record(s, r)
	return w.Code
}

// TestOrigin: what changes something must come from the page's own origin or, at the API,
// from an allowed one; a program, which names none, passes.
func TestOrigin(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) { o.AllowedOrigins = []string{"https://reader.example"} })
	for _, tt := range []struct {
		name, host, origin, site string
		want                     int
	}{
		{"a program", "127.0.0.1:7411", "", "", 204},
		{"the page", pageHost, pageURL, "same-origin", 204},
		{"an allowed one", "127.0.0.1:7411", "https://reader.example", "cross-site", 204},
		{"an allowed one, to the page's name", pageHost, "https://reader.example", "cross-site", 204},
		{"the page, to another name", "127.0.0.1:7411", pageURL, "cross-site", 403},
		{"this address, where no page is", "127.0.0.1:7411", "http://127.0.0.1:7411", "same-origin", 403},
		{"this address, to the page", pageHost, "http://127.0.0.1:7411", "cross-site", 403},
		{"the page by another scheme", pageHost, "https://" + pageHost, "", 403},
		{"the page's name on another port", pageHost, "http://" + pageName + ":8080", "same-site", 403},
		{"this host on another port", "127.0.0.1:7411", "http://127.0.0.1:8080", "same-site", 403},
		{"another name of this machine", "127.0.0.1:7411", "http://localhost:7411", "", 403},
		{"another site", pageHost, "https://evil.example", "cross-site", 403},
		{"a page without an origin", pageHost, "null", "cross-site", 403},
		{"another site that hides it", pageHost, "", "cross-site", 403},
		{"a sibling that hides it", pageHost, "", "same-site", 403},
		{"the address bar", pageHost, "", "none", 204},
		{"nonsense", pageHost, "%zz", "", 403},
	} {
		headers := []string{"Host", tt.host, "Origin", tt.origin, "Sec-Fetch-Site", tt.site}
		body := `{"type":"subscription.close","subscription_id":"sub_1"}`
		r := request("POST", "/aaep/v1/replies", "ada", body, headers...)
		if tt.origin == "" {
			r.Header.Del("Origin")
		}
		if tt.site == "" {
			r.Header.Del("Sec-Fetch-Site")
		}
		if got := s.status(r); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestAllowedOriginIsForTheAPI: an origin that may use the API has no part in the page, not
// even with its cookie and a form of it.
func TestAllowedOriginIsForTheAPI(t *testing.T) {
	t.Parallel()
	s := played(t, func(o *web.Options) { o.AllowedOrigins = []string{"https://reader.example"} })
	s.login("ada")
	for _, target := range []string{"/questions/2/accept", "/sessions/sess_2/stop", "/logout", "/login"} {
		w := s.submit(target, "@ada", "form="+s.form+"&token="+tokenA+"&code=AAAA-1111", "Origin", "https://reader.example")
		if w.Code != 403 || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
	if w := s.do("GET", "/", "@ada", "", "Origin", "https://reader.example"); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("it may read the page: %v", w.Header())
	}
	if len(s.room.words) != 0 {
		t.Errorf("the hub got %+v", s.room.words)
	}
}

// TestOptionsAreChecked: an address that a browser would not write so can never be matched.
func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"https://a.example": true, "http://a.example:8080": true, "https://[::1]:7411": true, "": false, "a.example": false, "https://": false,
		"https://a.example/": false, "https://A.example": false, "https://a.example:443": false, "http://a.example:80": false, "https://a.example:": false,
		"ftp://a.example": false, "https://u@a.example": false, "https://a.example?x": false, "https://a.example#x": false, "null": false, "*": false,
	} {
		if got := web.IsOrigin(text); got != want {
			t.Errorf("%q is an origin: %v", text, got)
		}
		_, err := web.New(web.Options{Hub: newRoom(), Access: newDoors(), PageURL: text})
		if (err == nil) != (want || text == "") {
			t.Errorf("the page at %q: %v", text, err)
		}
		if _, err = web.New(web.Options{Hub: newRoom(), Access: newDoors(), AllowedOrigins: []string{text}}); (err == nil) != want {
			t.Errorf("the allowed origin %q: %v", text, err)
		}
	}
}

// TestCrossOriginReads: a page of another origin may read only when it is allowed.
func TestCrossOriginReads(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) { o.AllowedOrigins = []string{"https://reader.example"} })
	allowed := s.do("GET", "/api/v1/sessions", "ada", "", "Origin", "https://reader.example")
	if got := allowed.Header().Get("Access-Control-Allow-Origin"); got != "https://reader.example" || allowed.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("allowed: %v", allowed.Header())
	}
	if allowed.Header().Get("Vary") != "Origin" {
		t.Error("a cache would give this answer to another origin")
	}
	other := s.do("GET", "/api/v1/sessions", "ada", "", "Origin", "https://evil.example")
	if got := other.Header().Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("another origin may read: %q", got)
	}
	before := s.do("OPTIONS", "/aaep/v1/replies", "", "", "Origin", "https://reader.example", "Access-Control-Request-Method", "POST")
	if allowed := before.Header().Get("Access-Control-Allow-Headers"); before.Code != 204 || !strings.Contains(allowed, "Authorization") || !strings.Contains(allowed, "Idempotency-Key") {
		t.Errorf("preflight: %d %v", before.Code, before.Header())
	}
	if methods := before.Header().Get("Access-Control-Allow-Methods"); methods != "GET, POST, PUT" {
		t.Errorf("preflight: the methods are %q", methods)
	}
}

// TestStylesByDigest: the policy of a page names the digest of each style in its head, and takes no other.
func TestStylesByDigest(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	for path, want := range map[string]int{"/login": 1, "/": 2, "/settings": 2, "/sessions/sess_1": 2, "/page/offline": 1} {
		w := s.do("GET", path, "@ada", "", "Accept", "text/html")
		policy := w.Header().Get("Content-Security-Policy")
		found := styles.FindAllStringSubmatch(w.Body.String(), -1)
		if len(found) != want {
			t.Errorf("%s has %d styles, want %d", path, len(found), want)
		}
		for _, one := range found {
			sum := sha256.Sum256([]byte(one[1]))
			wants(t, policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		if lacks(t, w.Body.String(), `rel="stylesheet"`); strings.Count(policy, "'sha256-") != 3 {
			t.Errorf("the policy takes others: %s", policy)
		}
	}
}

// TestHeaders: a page may load nothing from elsewhere, and is in no frame.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	h := s.do("GET", "/login", "", "", "Accept", "text/html").Header()
	wants(t, h.Get("Content-Security-Policy"), "default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'")
	lacks(t, h.Get("Content-Security-Policy"), "unsafe", "*", "http", "style-src 'self'")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestBodies: a body is JSON and not too large, or it is not read at all.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	pad := func(n int) string { return `{"type":"confirmation.reply","x":"` + strings.Repeat("a", n) + `"}` }
	for _, tt := range []struct {
		name, target, as, body, kind string
		want                         int
		code                         string
	}{
		{"a large reply", "/aaep/v1/replies", "ada", pad(64 << 10), "", 400, "body_too_large"},
		{"a large word", "/api/v1/questions/1/reply", "ada", pad(64 << 10), "", 413, "body_too_large"},
		{"a large turn", "/api/v1/turns", "ada", pad(256 << 10), "", 413, "body_too_large"},
		{"a turn of 200 KiB", "/api/v1/turns", "ada", `{"agent":"tidy","args":{"a":"` + strings.Repeat("a", 200<<10) + `"}}`, "", 201, ""},
		{"a large form", "/questions/1/accept", "@ada", "form=" + s.form + "&x=" + strings.Repeat("a", 64<<10), "application/x-www-form-urlencoded", 413, "body_too_large"},
		{"a large subscription", "/aaep/v1/subscriptions", "ada", pad(64 << 10), "", 413, ""},
		{"no JSON type", "/aaep/v1/replies", "ada", "{}", "text/plain", 415, "unsupported_media_type"},
		{"a form to the API", "/api/v1/turns", "ada", "agent=tidy", "application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"a charset is fine", "/aaep/v1/replies", "ada", `{"type":"subscription.close","subscription_id":"sub_1"}`, "application/json; charset=utf-8", 204, ""},
		{"no JSON", "/api/v1/turns", "ada", "{", "", 400, "bad_request"},
		{"a member twice", "/api/v1/turns", "ada", `{"agent":"a","agent":"b"}`, "", 400, "bad_request"},
		{"an unknown member", "/api/v1/questions/1/reply", "ada", `{"decision":"accept","sudo":true}`, "", 400, "bad_request"},
	} {
		r := request("POST", tt.target, tt.as, tt.body, "Origin", pageURL)
		if tt.kind != "" {
			r.Header.Set("Content-Type", tt.kind)
		}
		w := record(s, r)
		if w.Code != tt.want || !strings.Contains(w.Body.String(), tt.code) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, w.Code, w.Body, tt.want, tt.code)
		}
	}
}

// TestRights: who may do what at all. Nobody gets in without having said who they are.
func TestRights(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.room.begin("sess_1", "tidy up")
	s.room.ask("sess_1", 2, tokenA)
	s.room.arguments[2] = "{}"
	reply := `{"type":"confirmation.reply","reply_token":"` + tokenA + `","decision":"accept","subscription_id":"sub_0000000000000001","timestamp":"2000-01-01T00:00:00.000Z"}`
	for _, tt := range []struct {
		method, target, body string
		may                  string // who may
		status               int
	}{
		{"GET", "/api/v1/sessions", "", "ada lis aud ope sly", 200},
		{"GET", "/api/v1/sessions/sess_1/events", "", "ada lis aud ope sly", 200},
		{"GET", "/api/v1/sessions/sess_1/recap", "", "ada lis aud ope sly", 200},
		{"GET", "/api/v1/questions", "", "ada lis aud ope sly", 200},
		{"GET", "/api/v1/questions/2/arguments", "", "ada lis aud ope sly", 200},
		{"GET", "/api/v1/me", "", "ada lis aud ope sly", 200},
		{"GET", "/metrics", "", "ada aud ope", 200},
		{"POST", "/api/v1/turns", `{"agent":"tidy"}`, "ada ope", 201},
		{"POST", "/api/v1/questions/2/reply", `{"decision":"reject"}`, "ada", 200},
		{"POST", "/api/v1/questions/2/extend", `{}`, "ada", 200},
		{"POST", "/api/v1/questions/2/undo", `{}`, "ada", 200},
		{"POST", "/api/v1/questions/2/stop", `{}`, "ada lis ope", 200},
		{"POST", "/api/v1/sessions/sess_1/stop", `{}`, "ada lis ope", 200},
		{"POST", "/aaep/v1/replies", reply, "ada", 204},
		{"POST", "/aaep/v1/subscriptions", `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"x","capabilities":{}}`, "ada lis aud ope sly", 201},
	} {
		for _, who := range []string{"ada", "lis", "aud", "ope", "bot", "box", "sly", "nobody", ""} {
			want := 403
			switch {
			case who == "" || who == "nobody":
				want = 401
			case strings.Contains(tt.may, who):
				want = tt.status
			}
			if got := s.do(tt.method, tt.target, who, tt.body); got.Code != want {
				t.Errorf("%s %s as %q: %d, want %d: %s", tt.method, tt.target, who, got.Code, want, got.Body)
			}
		}
	}
}

// TestCredentials: a token in an address is none, nor is another scheme.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for name, r := range map[string]*http.Request{
		"a token in the address": request("GET", "/api/v1/me?token=secret-ada&access_token=secret-ada", "", ""),
		"another scheme":         request("GET", "/api/v1/me", "", "", "Authorization", "Basic c2VjcmV0LWFkYQ=="),
		"an empty token":         request("GET", "/api/v1/me", "", "", "Authorization", "Bearer "),
		"a token as a cookie":    request("GET", "/api/v1/me", "", "", "Cookie", "earshot_page=secret-ada"),
		"a cookie of nobody":     request("GET", "/api/v1/me", "@ada", ""),
	} {
		w := record(s, r)
		if w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d", name, w.Code)
		}
		wants(t, w.Body.String(), `"code":"authentication_required"`, `"hint"`, `"safe_to_retry":false`)
		lacks(t, w.Body.String(), "secret-")
	}
}
