package oidc_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/oidc"
	"github.com/earshot-dev/earshot/internal/testkit/oidctest"
)

const back = "http://127.0.0.1:7411/login/provider/back"

// logins returns the logins at a provider, with the secret that the program has there.
func logins(t *testing.T, p *oidctest.Provider, c *clock, changes ...func(*oidc.Options)) *oidc.Logins {
	t.Helper()
	changes = append([]func(*oidc.Options){func(o *oidc.Options) {
		o.ClientID, o.ClientSecret = oidctest.ClientID, oidctest.ClientSecret
	}}, changes...)
	return verifier(t, p, c, changes...).Logins()
}

// browse does what a person and their browser do at the provider, and returns the query with which the browser is sent back.
func browse(t *testing.T, to string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var query url.Values
	browser := &http.Client{Jar: jar, CheckRedirect: func(q *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(q.URL.String(), back) {
			query = q.URL.Query()
			return http.ErrUseLastResponse
		}
		return nil
	}}
	ask := func(method, at string) string {
		q, err := http.NewRequestWithContext(t.Context(), method, at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := browser.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.Request.URL.String()
	}
	if ask("POST", ask("GET", to)); query == nil {
		t.Fatal("the browser was not sent back")
	}
	return query
}

// TestLogin: a person who logs in at the provider is whom it names, with the roles of their groups, and may accept if it has had them log in for
// this.
func TestLogin(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	hands := oidctest.Grant{Subject: "alice", Groups: []string{"hands"}}
	long := func() time.Time { return time.Now().Add(-time.Hour) }
	public := func(o *oidc.Options) { o.ClientSecret = "" }
	for name, row := range map[string]struct {
		who    oidctest.Grant
		at     func() time.Time
		change func(*oidc.Options)
		code   access.Code
		said   string
		alone  bool // no person is known to be there
	}{
		"now":                       {who: hands},
		"an hour ago":               {who: hands, at: long, alone: true},
		"an hour ago, which counts": {who: hands, at: long, change: func(o *oidc.Options) { o.Accept = true }},
		"logins alone":              {who: hands, change: func(o *oidc.Options) { o.Audience = "" }},
		"without a role":            {who: oidctest.Grant{Subject: "bob", Groups: []string{"others"}}, code: access.CodeNoRole, said: "no value of its claim groups"},
		"without the secret":        {who: hands, change: public, code: access.CodeUnknown, said: "does not take the code that the browser brought: invalid_client"},
		"another secret":            {who: hands, change: func(o *oidc.Options) { o.ClientSecret = "x" }, code: access.CodeUnknown, said: "invalid_client"},
	} {
		change := row.change
		if change == nil {
			change = func(*oidc.Options) {}
		}
		l := logins(t, p, newClock(), change)
		p.SignIn(row.who, row.at, back)
		to, kept, err := l.Begin(t.Context(), back)
		if err != nil {
			t.Fatal(err)
		}
		query := browse(t, to)
		v, err := l.Finish(t.Context(), back, kept, query)
		if code, message := codeOf(err); code != row.code || !strings.Contains(message, row.said) {
			t.Errorf("%s: %v (%v)", name, err, errors.Unwrap(err))
			continue
		}
		if row.code != "" {
			continue
		}
		if v.Subject != "alice" || v.Issuer != p.URL || len(v.Roles) != 2 || len(v.Owners) != 1 || (v.Unattended != "") != row.alone {
			t.Errorf("%s: %+v", name, v)
		}
		if _, err := l.Finish(t.Context(), back, kept, query); err == nil {
			t.Errorf("%s: the same code counts twice", name)
		}
	}
	if l := verifier(t, p, newClock()).Logins(); l != nil {
		t.Error("people log in without an id of the program")
	}
	only := verifier(t, p, newClock(), func(o *oidc.Options) { o.Audience, o.ClientID = "", oidctest.ClientID })
	if _, err := only.Verify(p.Token(hands)); err == nil {
		t.Error("a token counts where logins alone do")
	}
}

// TestLoginHostile: what was not begun in this browser, just now, for this login, logs nobody in.
func TestLoginHostile(t *testing.T) {
	t.Parallel()
	p, c := oidctest.New(t), newClock()
	p.SignIn(oidctest.Grant{Subject: "alice", Groups: []string{"hands"}}, nil, back)
	l := logins(t, p, c)
	begin := func(l *oidc.Logins) (kept string, query url.Values) {
		t.Helper()
		to, kept, err := l.Begin(t.Context(), back)
		if err != nil {
			t.Fatal(err)
		}
		return kept, browse(t, to)
	}
	with := func(query url.Values, key, value string) url.Values {
		changed := maps.Clone(query)
		changed.Set(key, value)
		return changed
	}
	mine, answer := begin(l)
	others, other := begin(l)
	elsewhere, _ := begin(logins(t, p, c))
	for name, row := range map[string]struct {
		kept  string
		query url.Values
		said  string
	}{
		"nothing kept":                      {"", answer, "not begun in this browser"},
		"kept by another server":            {elsewhere, answer, "not begun in this browser"},
		"changed":                           {mine[:len(mine)-3] + "AAA", answer, "not begun in this browser"},
		"the answer of another browser":     {mine, other, "another login was begun"},
		"their code":                        {mine, with(answer, "code", other.Get("code")), "does not take the code"},
		"their code, with their state mine": {others, with(other, "code", answer.Get("code")), "does not take the code"},
		"no code":                           {mine, with(answer, "code", ""), "does not take the code"},
		"another provider":                  {mine, with(answer, "iss", "https://evil.example"), "of another provider"},
		"refused":                           {mine, with(with(answer, "error", "access_denied"), "error_description", "no\x1b[2J"), "has refused the login: access_denied: no"},
		"long words":                        {mine, with(answer, "error", strings.Repeat("a", 9000)), "refused"},
	} {
		v, err := l.Finish(t.Context(), back, row.kept, row.query)
		if code, message := codeOf(err); code != access.CodeUnknown || !strings.Contains(message, row.said) || strings.Contains(message, "\x1b") || len(message) > 600 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}

	p.ForOthers("wiki")
	kept, query := begin(l)
	if v, err := l.Finish(t.Context(), back, kept, query); err != nil || v.Subject != "alice" {
		t.Errorf("a token that names others, too, and was made for this: %+v, %v", v, err)
	}
	p.ForOthers()

	kept, query = begin(l)
	p.ForParty("wiki")
	_, err := l.Finish(t.Context(), back, kept, query)
	if code, message := codeOf(err); code != access.CodeUnknown || !strings.Contains(message, "made for another program") {
		t.Errorf("a token that was made for another program (azp): %v", err)
	}
	p.ForParty("")

	kept, query = begin(l)
	c.advance(oidc.LoginTime)
	if _, err := l.Finish(t.Context(), back, kept, query); err == nil {
		t.Error("after ten minutes it counts")
	}
	c.advance(-oidc.LoginTime)

	p.Away.Store(true)
	if _, err := l.Finish(t.Context(), back, kept, query); err == nil {
		t.Error("it counts while the provider is away")
	} else if code, _ := codeOf(err); code != access.CodeAway {
		t.Errorf("while the provider is away: %v", err)
	}
	if _, _, err := logins(t, p, c).Begin(context.Background(), back); err == nil {
		t.Error("a login begins while nobody can say where")
	}
}
