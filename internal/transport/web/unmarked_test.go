package web_test

import (
	"context"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/transport/web"
	"github.com/earshot-dev/earshot/tool/settings"
)

// everywhere are pages with something of others on each.
var everywhere = []string{
	"/", "/?session=sess_1", "/sessions", "/sessions/sess_1", "/sessions/sess_2", "/questions", "/questions/together", "/questions/2/arguments", "/settings", "/alerts",
	"/agents", "/tools", "/tools/mail.send", "/audit", "/dead", "/logins", "/policy", "/start/formal", "/?again=sess_1",
}

// full is a played scene with a line in each list, whose person reads in a language.
func full(t *testing.T, tag string, changes ...func(*web.Options)) *scene {
	t.Helper()
	d := &directory{tokens: []access.Token{{Name: "laptop", Person: "claude", Roles: []access.Role{access.Agent}, Surface: "laptop", Created: noon}}}
	s := played(t, slices.Concat([]func(*web.Options){startable, func(o *web.Options) {
		o.Manifest.LanguagesSupported = []string{"en", "es", "fr", "ar", "yo"}
		o.Startable[0].About = "It tidies what you have."
		o.Startable = append(o.Startable, web.StartAgent{Name: "formal", About: "It wants arguments."})
		o.Definitions = func(context.Context) ([]api.AgentDefinition, error) {
			root := jsontext.Value(`{"type":"object","properties":{"root":{"type":"string","description":"Where it begins."}}}`)
			return []api.AgentDefinition{{Name: "formal", Parameters: root}}, nil
		}
		o.Directory = d
		o.KnownAgents = func() ([]web.KnownAgent, error) {
			return []web.KnownAgent{{Name: "tidy"}, {Name: "counter", Credential: "agent/counter", Since: noon.Add(time.Hour)}}, nil
		}
		o.Policy = func() web.Policy {
			return web.Policy{Path: "/etc/rules.yaml", Text: "rules: []", Trouble: legible.NewSentence("line 3 is no rule")}
		}
	}}, changes)...)
	l := &ledger{tools: []api.ToolDetail{someTool("mail.send")}, entries: []api.AuditEntry{
		{N: 1, Kind: "act", At: noon, Act: &api.AuditAct{Act: api.ActReview, Subject: "mail.send", Detail: "read, low risk", By: "ada"}},
	}}
	s.room.operates = func(op string, request jsontext.Value) (jsontext.Value, error) {
		if op == api.OpDead {
			return json.Marshal(api.DeadAnswer{Dead: []api.DeadDetail{{ID: 4, Subject: "tool.mail", Reason: "no service answers", Died: noon}}})
		}
		answer, err := l.answer(op, request)
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer)
	}
	s.room.arguments[2] = `{"root":"/home/ada"}`
	s.room.wish = api.Preferences{Language: &tag}
	s.login("ada")
	return s
}

// plainTexts are the texts of a page that it says to be in its own language, also those of attributes that are read out. The title of a
// window cannot say of a name that it is one, and what a person has typed is theirs.
func plainTexts(t *testing.T, body string) map[string]bool {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	var walk func(n *html.Node, own bool)
	walk = func(n *html.Node, own bool) {
		if n.Type == html.ElementNode {
			if slices.Contains([]string{"script", "style", "code", "svg", "datalist", "textarea", "noscript", "title"}, n.Data) {
				return
			}
			if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "lang" }) {
				own = n.Data == "html"
			}
			for _, a := range n.Attr {
				if own && slices.Contains([]string{"aria-label", "label", "title", "placeholder"}, a.Key) {
					found[a.Val] = true
				}
			}
		}
		if text := strings.TrimSpace(n.Data); n.Type == html.TextNode && own {
			found[text] = true
		}
		for c := range n.ChildNodes() {
			walk(c, own)
		}
	}
	walk(root, true)
	return found
}

// sameEverywhere is what a page says alike in every language: names of ours, the marks of languages and zones.
var sameEverywhere = regexp.MustCompile(`^[^\pL]*(?:Earshot|API|JSON|UTC)?[^\pL]*$`)

// TestNothingIsUnmarked: what a page says to be in its person's language is not what it says in English. Anything else is translated, or
// it is said to be in another language, or in none that is known.
func TestNothingIsUnmarked(t *testing.T) {
	t.Parallel()
	english, arabic := full(t, "en"), full(t, "ar")
	for _, address := range everywhere {
		read := func(s *scene, tag string) string {
			w := s.do("GET", address, "@ada", "", "Accept", "text/html", "Accept-Language", tag)
			if w.Code != 200 {
				t.Fatalf("%s: %d", address, w.Code)
			}
			return w.Body.String()
		}
		in := plainTexts(t, read(english, "en"))
		for _, text := range slices.Sorted(maps.Keys(plainTexts(t, read(arabic, "ar")))) {
			if in[text] && !sameEverywhere.MatchString(text) {
				t.Errorf("%s has in English, as if it were Arabic: %q", address, text)
			}
		}
	}
	wants(t, arabic.page("/", "@ada"), `<bdi lang="">It tidies what you have.</bdi>`, `<span class="help" lang="" dir="auto">It wants arguments.</span>`)
}

// stays is what the lists of operators leave in English: the words of a file and of a definition, what a library says of a file, and a
// message's fate.
var stays = regexp.MustCompile(`^(?:ask|mail|suspend|3f9a|line 3 is no rule|4: a notice, .*)$`)

// TestOperatorsInALanguage: the lists of operators, and why something is refused, are in the language of their reader.
func TestOperatorsInALanguage(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"es", "fr", "ar", "yo"} {
		s := full(t, tag)
		s.login("anna")
		for _, target := range []struct{ address, as string }{
			{"/agents", "@ada"},
			{"/agents?q=none", "@ada"},
			{"/agents?after=%", "@ada"},
			{"/tools", "@ada"},
			{"/tools/mail.send", "@ada"},
			{"/tools/none", "@ada"},
			{"/tools?q=" + strings.Repeat("x", 201), "@ada"},
			{"/tools", "@anna"},
			{"/audit", "@ada"},
			{"/audit?q=mail", "@ada"},
			{"/logins", "@ada"},
			{"/dead", "@ada"},
			{"/policy", "@ada"},
			{"/start/none", "@ada"},
			{"/nothing", "@ada"},
		} {
			body := s.do("GET", target.address, target.as, "", "Accept", "text/html", "Accept-Language", tag).Body.String()
			for _, found := range marked.FindAllStringSubmatch(body, -1) {
				if !stays.MatchString(html.UnescapeString(found[1])) {
					t.Errorf("%s: %s for %s has in English: %q", tag, target.address, target.as, found[1])
				}
			}
		}
	}
	es := full(t, "es")
	wants(t, es.page("/agents", "@ada"), "1 sesión en marcha", "Credencial agent/counter: con conexión desde: 1 de enero de 2000, 01:00.", "Última sesión: para ada")
	wants(t, es.page("/tools", "@ada"), "cambiada desde su revisión", "irreversible, riesgo alto")
	wants(t, es.page("/audit", "@ada"), "ada revisó la herramienta mail.send: solo lectura, riesgo bajo.")
	wants(t, es.page("/logins", "@ada"), "agent para claude, no responde nada.")
}

// TestFormsInALanguage: what a verification finds, what has changed in a definition and what is wrong with the policy are in the language of
// their reader, and only what others have written stays as it is. A text of a library is marked as English.
func TestFormsInALanguage(t *testing.T) {
	t.Parallel()
	var trouble legible.Sentence
	told := func(tag string) *scene {
		s := full(t, tag, func(o *web.Options) {
			o.Policy = func() web.Policy { return web.Policy{Path: "/etc/rules.yaml", Text: "rules: []", Trouble: trouble} }
		})
		return s
	}
	english := told("en")
	for _, tag := range []string{"es", "fr", "ar", "yo"} {
		s := told(tag)
		for _, trouble = range []legible.Sentence{
			policyfile.Why(&settings.Error{Line: 3, Field: "rules[0].decide", Found: `it is "a. <b>"`, Value: `"a. <b>"`, Expected: "one value"}, "/etc/rules.yaml"),
			policyfile.Why(&settings.Error{Line: 3, Found: "it uses an anchor or an alias (& or *)", Expected: "the value itself, written out"}, "/etc/rules.yaml"),
			policyfile.Why(&fs.PathError{Op: "open", Path: "/etc/rules.yaml", Err: syscall.ENOENT}, "/etc/rules.yaml"),
		} {
			for name, read := range map[string]func(*scene) string{
				"policy": func(s *scene) string { return s.page("/policy", "@ada") },
				"tool":   func(s *scene) string { return s.page("/tools/mail.send", "@ada") },
				"verify": func(s *scene) string { return s.submit("/audit/verify", "@ada", "form="+s.form).Body.String() },
			} {
				body, in := read(s), plainTexts(t, read(english))
				for _, found := range marked.FindAllStringSubmatch(body, -1) {
					if !stays.MatchString(html.UnescapeString(found[1])) {
						t.Errorf("%s: %s has in English: %q", tag, name, found[1])
					}
				}
				for text := range plainTexts(t, body) {
					if in[text] && strings.Contains(text, " ") && !sameEverywhere.MatchString(text) {
						t.Errorf("%s: %s has in English, as if it were its own: %q", tag, name, text)
					}
				}
			}
		}
	}
	es := told("es")
	trouble = policyfile.Why(&settings.Error{Line: 3, Field: "rules[0].decide", Found: `it is "a. <b>"`, Value: `"a. <b>"`, Expected: "one value"}, "/etc/rules.yaml")
	wants(t, es.page("/policy", "@ada"),
		`la política <bdi lang="">/etc/rules.yaml</bdi>: línea 3: <bdi lang="">rules[0].decide</bdi>: es <bdi lang="">&#34;a. &lt;b&gt;&#34;</bdi>; se esperaba un solo valor. Estas`)
	trouble = policyfile.Why(&settings.Error{Line: 3, Found: "yaml: strange <text>"}, "/etc/rules.yaml")
	wants(t, es.page("/policy", "@ada"), `línea 3: <span lang="en" dir="ltr">yaml: strange &lt;text&gt;</span>. Estas`)
	wants(t, es.page("/tools/mail.send", "@ada"), `<li>la descripción era <bdi lang="">Drafts a mail.</bdi>, y es <bdi lang="">Sends a mail &lt;now&gt;. To anybody.</bdi></li>`,
		`<li>los parámetros tienen <bdi lang="">string</bdi> en <bdi lang="">/properties/to/type</bdi>.</li>`)
	wants(t, es.submit("/audit/verify", "@ada", "form="+es.form).Body.String(), "Entrada 1: ", "Qué hacer: deja el registro como está y compáralo con una copia de seguridad anterior.")
}
