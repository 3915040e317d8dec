package web_test

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// directory is who may come in, in a test.
type directory struct {
	logins []access.Login
	tokens []access.Token
}

func (d *directory) Logins() ([]access.Login, error) { return d.logins, nil }

func (d *directory) List() ([]access.Token, error) { return d.tokens, nil }

func (d *directory) EndLogins(meant func(access.Login) bool) (ended []access.Login, err error) {
	var left []access.Login
	for _, l := range d.logins {
		if meant(l) {
			ended = append(ended, l)
		} else {
			left = append(left, l)
		}
	}
	d.logins = left
	return ended, nil
}

// TestLoginsPage: an operator sees who is logged in and which tokens there are, finds one, and ends a login.
func TestLoginsPage(t *testing.T) {
	t.Parallel()
	d := &directory{}
	s := newScene(t, func(o *web.Options) { o.Directory = d })
	s.login("ada")
	wants(t, s.page("/", "@ada"), `<a href="/logins">Logins</a>`)
	wants(t, s.page("/logins", "@ada"), "Nobody is logged in. <code>earshot code</code>", "There are no tokens. <code>earshot token add")
	d.logins = []access.Login{
		{ID: "3fa9", Person: "eve", Browser: "Firefox <1>", Begun: noon, Used: noon.Add(time.Hour), Expires: noon.Add(12 * time.Hour)},
		{ID: "77b0", Person: "ada", Begun: noon, Used: noon, Expires: noon.Add(12 * time.Hour)},
	}
	d.tokens = []access.Token{{Name: "phone", Person: "ada", Roles: []access.Role{access.Approver}, Surface: "phone", Created: noon}}
	golden(t, "logins.html", s.page("/logins", "@ada"))
	page := s.page("/logins?q=FIREFOX", "@ada")
	wants(t, page, "/logins/3fa9/end", "No token has “<bdi lang=\"\">FIREFOX</bdi>”")
	lacks(t, page, "/logins/77b0/end")

	end := func(as, fields string) int { return s.submit("/logins/3fa9/end", as, fields).Code }
	if got := []int{end("@ada", "form=forged"), end("ada", ""), end("@ada", "form="+s.form)}; got[0] != 403 || got[1] != 403 || got[2] != 303 || len(d.logins) != 1 {
		t.Errorf("%v, left are %+v", got, d.logins)
	}
	wants(t, s.page("/logins", "@ada"), "Ended: the login of eve.")
	end("@ada", "form="+s.form)
	wants(t, s.page("/logins", "@ada"), "That login had ended already.", `role="alert"`)
	s.login("aud")
	lacks(t, s.page("/logins", "@aud"), "/end\"")
	for _, who := range []string{"aud", "anna"} {
		s.login(who)
		if code := end("@"+who, "form="+s.form); code != 403 {
			t.Errorf("%s ends a login: %d", who, code)
		}
	}
	if w := s.do("GET", "/logins", "@anna", ""); w.Code != 403 {
		t.Errorf("anna sees the logins: %d", w.Code)
	}
	lacks(t, newSceneOf(t).page("/", "@ada"), "/logins")
}

// TestLoginsInPages: both lists go on where the page ends, also where the last one that it showed has gone meanwhile.
func TestLoginsInPages(t *testing.T) {
	t.Parallel()
	d := &directory{}
	for n := range 120 {
		begun := noon.Add(time.Duration(n/2) * time.Minute) // two at a time
		d.logins = append(d.logins, access.Login{ID: fmt.Sprintf("id%03d", n), Person: "eve", Begun: begun, Used: noon, Expires: noon})
		d.tokens = append(d.tokens, access.Token{ID: fmt.Sprintf("id%03d", n), Name: fmt.Sprintf("token-%03d", n), Person: "eve", Roles: []access.Role{access.Approver}, Created: begun})
	}
	s := newScene(t, func(o *web.Options) { o.Directory = d })
	s.login("ada")
	link := regexp.MustCompile(`<a href="([^"]*)">More (logins|tokens)</a>`)
	more := func(page, of string) string {
		for _, found := range link.FindAllStringSubmatch(page, -1) {
			if found[2] == of {
				return html.UnescapeString(found[1])
			}
		}
		return ""
	}
	first := s.page("/logins?q=eve", "@ada")
	wants(t, first, "id000", "id049", "token-049")
	lacks(t, first, "id050", "token-050")
	if ended, err := d.EndLogins(func(l access.Login) bool { return l.ID == "id049" }); err != nil || len(ended) != 1 {
		t.Fatalf("%v, %v", ended, err)
	}
	d.tokens = slices.DeleteFunc(d.tokens, func(t access.Token) bool { return t.ID == "id049" })
	second := s.page(more(first, "logins"), "@ada")
	wants(t, second, "id050", "id099")
	lacks(t, second, "id048", "id100")
	tokens := s.page(more(first, "tokens"), "@ada")
	wants(t, tokens, "token-050", "token-099")
	lacks(t, tokens, "token-048", "token-100")
	last := s.page(more(second, "logins"), "@ada")
	wants(t, last, "id100", "id119")
	if to := more(last, "logins"); to != "" {
		t.Errorf("the last page leads on to %s", to)
	}
	for _, wrong := range []string{"after=3fa9", "tokens=x-1"} {
		if w := s.do("GET", "/logins?"+wrong, "@ada", ""); w.Code != 400 {
			t.Errorf("%s: %d", wrong, w.Code)
		}
	}
}

// TestDeadPage: an operator sees what was put aside, and tries it again.
func TestDeadPage(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var dead []api.DeadDetail
	sent := false
	s.room.operates = func(op string, request jsontext.Value) (jsontext.Value, error) {
		if op == api.OpRetry {
			return json.Marshal(api.RetryAnswer{Sent: sent, EnqueueAnswer: api.EnqueueAnswer{Session: "sess_8"}})
		}
		var q api.DeadRequest
		_ = json.Unmarshal(request, &q)
		var a api.DeadAnswer
		for _, one := range dead {
			if one.ID > q.After {
				a.Dead = append(a.Dead, one)
			}
		}
		return json.Marshal(a)
	}
	s.login("ada")
	wants(t, s.page("/dead", "@ada"), "No message was put aside, so there is nothing to do.")
	dead = []api.DeadDetail{
		{ID: 3, Session: "sess_1", Reason: "nobody <listens>", Died: noon},
		{ID: 7, Session: "sess_2", Call: "call_2", Tool: "mail.send", Reason: "too old", Died: noon},
	}
	golden(t, "dead.html", s.page("/dead", "@ada"))
	page := s.page("/dead?q=mail", "@ada")
	wants(t, page, "/dead/7/retry")
	lacks(t, page, "/dead/3/retry")
	lacks(t, s.page("/dead?after=3", "@ada"), "/dead/3/retry")
	s.submit("/dead/7/retry", "@ada", "form="+s.form)
	wants(t, s.page("/dead", "@ada"), "Recorded: the call of message 7 is asked for again, in sess_8.")
	sent = true
	s.submit("/dead/3/retry", "@ada", "form="+s.form)
	wants(t, s.page("/dead", "@ada"), "Recorded: message 3 is sent again.")
	if w := s.submit("/dead/3/retry", "@ada", "form=forged"); w.Code != 403 {
		t.Errorf("forged: %d", w.Code)
	}
	if last := s.room.operated[len(s.room.operated)-2]; !strings.HasPrefix(last, `ada retry {"id":3,"owner":"ada"`) {
		t.Errorf("asked was %s", last)
	}
	s.login("ope")
	lacks(t, s.page("/dead", "@ope"), "Try again")
	if w := s.submit("/dead/3/retry", "@ope", "form="+s.form); w.Code != 403 {
		t.Errorf("an operator who may not approve: %d", w.Code)
	}
}
