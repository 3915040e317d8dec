package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
	"github.com/earshot-dev/earshot/utp"
)

// ledger is what operators read in a test.
type ledger struct {
	tools   []api.ToolDetail
	entries []api.AuditEntry
	stale   bool // each review comes too late
}

// operated is a scene of an operator with such a ledger.
func operated(t *testing.T, l *ledger) *scene {
	t.Helper()
	s := newScene(t)
	s.room.operates = func(op string, request jsontext.Value) (jsontext.Value, error) {
		answer, err := l.answer(op, request)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(answer)
		return raw, err
	}
	s.login("ada")
	return s
}

func (l *ledger) answer(op string, request jsontext.Value) (any, error) {
	switch op {
	case api.OpTools:
		var q api.ToolsRequest
		_ = json.Unmarshal(request, &q)
		var a api.ToolsAnswer
		for _, one := range l.tools {
			if q.Tool == "" && one.Tool > q.After || q.Tool == one.Tool {
				a.Tools = append(a.Tools, one)
			}
		}
		return a, nil
	case api.OpReview:
		if l.stale {
			return nil, &web.Refusal{Kind: api.KindConflict, Message: "the definition has changed since it was looked at"}
		}
		var q api.ReviewRequest
		_ = json.Unmarshal(request, &q)
		t := &l.tools[0]
		t.Reviewed, t.EffectiveClass, t.EffectiveRisk, t.Seen = true, q.Class, q.Risk, nil
		return *t, nil
	case api.OpAudit:
		var q api.AuditRequest
		_ = json.Unmarshal(request, &q)
		switch {
		case q.Standing || q.Calls || len(l.entries) == 0:
			return api.AuditAnswer{}, nil
		case q.Head:
			return api.AuditAnswer{Entries: l.entries[len(l.entries)-1:]}, nil
		}
		after := max(0, int(q.After)) // a verification begins below, where a forged entry may be
		end := min(after+20, len(l.entries))
		return api.AuditAnswer{Entries: l.entries[min(after, end):end], More: end < len(l.entries)}, nil
	}
	return nil, &web.Refusal{Kind: api.KindNotFound, Message: "no such operation"}
}

func someTool(name string) api.ToolDetail {
	return api.ToolDetail{
		Definition: utp.Definition{
			Tool: name, Description: "Sends a mail <now>.\nTo anybody.", Target: "mail", AfterExecution: utp.Suspend, Class: utp.Reversible, Risk: utp.RiskLow,
			Parameters: jsontext.Value(`{"type":"object","properties":{"to":{"type":"string"}}}`),
		},
		Digest: "3f9a", EffectiveClass: utp.Irreversible, EffectiveRisk: utp.RiskHigh, Decision: "ask", Enforcement: utp.Enforced,
		Seen: jsontext.Value(`{"tool_name":"` + name + `","description":"Drafts a mail.","target_subject":"mail","class":"read","risk":"low"}`),
	}
}

// TestTools: an operator reads what tools there are, finds one, and reads it in full.
func TestTools(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	s := operated(t, l)
	wants(t, s.page("/", "@ada"), `<a href="/agents">Agents</a>`, `<a href="/tools">Tools</a>`, `<a href="/audit">Audit</a>`)
	wants(t, s.page("/tools", "@ada"), "No tool is registered.", "earshot tools example")
	l.tools = []api.ToolDetail{someTool("mail.send")}
	golden(t, "tools.html", s.page("/tools", "@ada"))
	golden(t, "tool.html", s.page("/tools/mail.send", "@ada"))
	wants(t, s.page("/tools?q=ANYBODY", "@ada"), "mail.send")
	wants(t, s.page("/tools?q="+url.QueryEscape("<x>"), "@ada"), "No tool has “<bdi lang=\"\">&lt;x&gt;</bdi>” in its name", `value="&lt;x&gt;"`)
	if w := s.do("GET", "/tools/mail.sent", "@ada", "", "Accept", "text/html"); w.Code != 404 || !strings.Contains(w.Body.String(), "No tool is called “mail.sent”.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.do("GET", "/tools?q="+strings.Repeat("x", 201), "@ada", ""); w.Code != 400 {
		t.Errorf("a long search: %d", w.Code)
	}
}

// TestToolsInPages: a long list goes on where the page ends, and a search stays one.
func TestToolsInPages(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	for n := range 120 {
		l.tools = append(l.tools, someTool(fmt.Sprintf("mail.%03d", n)))
	}
	s := operated(t, l)
	page := s.page("/tools?q=mail", "@ada")
	wants(t, page, "mail.000", "mail.049", `href="/tools?after=mail.049&amp;q=mail"`)
	lacks(t, page, "mail.050")
	page = s.page("/tools?after=mail.099", "@ada")
	wants(t, page, "mail.100", "mail.119")
	lacks(t, page, "More tools")
}

// TestReviewForm: an operator who may approve records a review of what they were shown, and of nothing else.
func TestReviewForm(t *testing.T) {
	t.Parallel()
	l := &ledger{tools: []api.ToolDetail{someTool("mail.send")}}
	s := operated(t, l)
	const right = "&digest=3f9a&class=reversible&risk=medium"
	l.stale = true
	s.submit("/tools/mail.send/review", "@ada", "form="+s.form+right)
	wants(t, s.page("/tools/mail.send", "@ada"), `role="alert"`, "Nothing is recorded: the definition has changed")
	l.stale = false
	for _, wrong := range []string{"", "&digest=3f9a&class=good&risk=low", "&digest=3f9a&class=read&risk=none", "&class=read&risk=low"} {
		if w := s.submit("/tools/mail.send/review", "@ada", "form="+s.form+wrong); w.Code != 400 {
			t.Errorf("%q: %d", wrong, w.Code)
		}
	}
	w := s.submit("/tools/mail.send/review", "@ada", "form="+s.form+right)
	if w.Code != 303 || w.Header().Get("Location") != "/tools/mail.send#notice" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	page := s.page("/tools/mail.send", "@ada")
	wants(t, page, "Recorded: mail.send is reviewed, reversible, medium risk.")
	lacks(t, page, "Changed since")
	if last := s.room.operated[len(s.room.operated)-2]; last != `ada review {"tool_name":"mail.send","digest":"3f9a","class":"reversible","risk":"medium"}` {
		t.Errorf("asked was %s", last)
	}
}

// TestOperatorsOnly: who is no operator sees no link, and is refused with the right that is missing; an auditor reads and
// changes nothing; and no program reviews by a form.
func TestOperatorsOnly(t *testing.T) {
	t.Parallel()
	s := operated(t, &ledger{tools: []api.ToolDetail{someTool("mail.send")}})
	const review = "&digest=3f9a&class=read&risk=low"
	for who, code := range map[string]int{"anna": 403, "lis": 403, "aud": 200, "ope": 200} {
		s.login(who)
		if linked := strings.Contains(s.page("/", "@"+who), `href="/tools"`); linked != (code == 200) {
			t.Errorf("%s: linked %t", who, linked)
		}
		for _, target := range []string{"/agents", "/tools", "/tools/mail.send", "/audit"} {
			w := s.do("GET", target, "@"+who, "", "Accept", "application/json")
			if w.Code != code || code == 403 && !strings.Contains(w.Body.String(), `"code":"authorization_denied"`) {
				t.Errorf("%s %s: %d %s", who, target, w.Code, w.Body)
			}
		}
		if w := s.submit("/audit/verify", "@"+who, "form="+s.form); w.Code != code {
			t.Errorf("%s verifies: %d", who, w.Code)
		}
		if w := s.submit("/tools/mail.send/review", "@"+who, "form="+s.form+review); w.Code != 403 {
			t.Errorf("%s reviews: %d", who, w.Code)
		}
	}
	s.login("aud")
	lacks(t, s.page("/tools/mail.send", "@aud"), "<form")
	for as, fields := range map[string]string{"@ada": review, "ada": review} {
		if w := s.submit("/tools/mail.send/review", as, fields); w.Code != 403 {
			t.Errorf("%s reviews without a form: %d", as, w.Code)
		}
	}
}

// TestAudit: the entries are listed from the newest, page by page, and searched; a verification says what it came to.
func TestAudit(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	s := operated(t, l)
	wants(t, s.page("/audit", "@ada"), "The chain has no entry yet.")
	for n := range 130 {
		l.entries = append(l.entries, api.AuditEntry{
			N: int64(n + 1), Kind: "act", At: noon.Add(time.Duration(n) * time.Minute), Act: &api.AuditAct{Act: api.ActReview, Subject: fmt.Sprintf("mail.<%03d>", n+1), Detail: "read, low risk", By: "ada"},
		})
	}
	numbers := func(page string) (first, last string, n int) {
		all := regexp.MustCompile(`<li class="panel"><strong>(\d+)</strong>`).FindAllStringSubmatch(page, -1)
		return all[0][1], all[len(all)-1][1], len(all)
	}
	page := s.page("/audit", "@ada")
	if first, last, n := numbers(page); first != "130" || last != "81" || n != 50 {
		t.Errorf("%s to %s, %d", first, last, n)
	}
	wants(t, page, `href="/audit?before=81"`, "The tool mail.&lt;130&gt; was reviewed by ada: read, low risk.", "1 January 2000, 02:09:00")
	page = s.page("/audit?before=31", "@ada")
	if first, last, n := numbers(page); first != "30" || last != "1" || n != 30 {
		t.Errorf("%s to %s, %d", first, last, n)
	}
	lacks(t, page, "Older entries")
	page = s.page("/audit?q=MAIL.%3C04", "@ada")
	if first, last, n := numbers(page); first != "49" || last != "40" || n != 10 {
		t.Errorf("%s to %s, %d", first, last, n)
	}
	wants(t, page, "Searched in the entries 1 to 130.")
	wants(t, s.page("/audit?q=nothing", "@ada"), "Nothing in them has “<bdi lang=\"\">nothing</bdi>”.")

	w := s.submit("/audit/verify", "@ada", "form="+s.form)
	wants(t, w.Body.String(), "The chain is not whole.", `role="alert"`, "more are not listed here", "What to do:")
	l.entries = nil
	w = s.submit("/audit/verify", "@ada", "form="+s.form)
	golden(t, "audit-verified.html", w.Body.String())
	wants(t, w.Body.String(), "Verified.", "The chain is whole.", `role="status"`)
	if w := s.submit("/audit/verify", "@ada", "form=forged"); w.Code != 403 {
		t.Errorf("forged: %d", w.Code)
	}
}

// TestPolicyPage: operators and auditors read the rules as they are in force; nobody else does.
func TestPolicyPage(t *testing.T) {
	t.Parallel()
	var now web.Policy
	s := newScene(t, func(o *web.Options) { o.Policy = func() web.Policy { return now } })
	s.login("aud")
	wants(t, s.page("/", "@aud"), `<a href="/policy">Policy</a>`)
	wants(t, s.page("/policy", "@aud"), "No policy file is in force", "earshot up --policy FILE")
	now = web.Policy{Path: "/etc/rules.yaml", Text: "rules:\n- allow: <read>\n", Trouble: legible.NewSentence("line 3 is no rule")}
	wants(t, s.page("/policy", "@aud"), "rules:\n- allow: &lt;read&gt;\n</pre>", "The file cannot be read as it is now: line 3 is no rule. These rules were read before")
	golden(t, "policy.html", s.page("/policy", "@aud"))
	s.login("anna")
	lacks(t, s.page("/", "@anna"), "/policy")
	if w := s.do("GET", "/policy", "@anna", ""); w.Code != 403 {
		t.Errorf("anna reads the rules: %d", w.Code)
	}
}
