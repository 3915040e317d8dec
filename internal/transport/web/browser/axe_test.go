package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// axeCore reads axe-core from where scripts/need has put it. Where it is not, the test is
// left out; with CI=true in the environment that is a failure.
func axeCore(t *testing.T) string {
	t.Helper()
	cache, err := testkit.Cache()
	must(t, err)
	source, err := os.ReadFile(filepath.Join(cache, "axe-core-4.14.1", "axe.min.js"))
	if err != nil {
		lacks(t, "axe-core is not here, so nothing has looked for what shuts people out; `scripts/need axe` fetches it")
	}
	return string(source)
}

type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// A space before a mark. In French a space stands before some of them.
var (
	loneMark   = regexp.MustCompile(`\S\s[,.;:!?)](\s|$)`)
	loneFrench = regexp.MustCompile(`\S\s[,.)](\s|$)`)
)

// named demands that no name of a part has a space before a mark: a screen reader reads the mark aloud, or makes the pause too late. It
// returns how many names there are.
func (b *tab) named(state string) int {
	b.t.Helper()
	wrong, names := loneMark, 0
	if value[string](b, `document.documentElement.lang`) == "fr" {
		wrong = loneFrench
	}
	for _, part := range b.tree() {
		if part.name != "" {
			names++
		}
		if wrong.MatchString(part.name) {
			b.t.Errorf("%s: the %s is called %q", state, part.role, part.name)
		}
	}
	return names
}

// TestNames: the names on these pages have no space before a mark.
func TestNames(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.login()
	session := s.turn(1)
	s.turn(2)
	b.hears("Question 2")
	for _, path := range []string{"/", "/sessions", "/sessions/" + session, "/tools", "/questions/together", "/questions/1/arguments"} {
		b.visit(path)
		if b.named(path) < 10 {
			t.Errorf("%s has few names", path)
		}
	}
	b.visit("/tools")
	b.visit(value[string](b, `new URL(document.querySelector("main a[href^='/tools/']").href).pathname`))
	b.named("a tool")
}

// accessible demands that axe-core, with all of its rules, finds nothing, and that the names are right.
func (b *tab) accessible(axe, state string) {
	b.t.Helper()
	b.named(state)
	if !value[bool](b, `typeof window.axe === "object"`) {
		value[bool](b, axe+"\n;true")
	}
	const run = `axe.run(document, { resultTypes: ["violations"] }).then((found) => ({
		passes: found.passes.length,
		violations: found.violations.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html + " " + n.failureSummary) })),
	}))`
	found := value[struct {
		Passes     int         `json:"passes"`
		Violations []violation `json:"violations"`
	}](b, run)
	if found.Passes < 10 {
		b.t.Errorf("%s: axe-core has looked at %d rules only", state, found.Passes)
	}
	for _, v := range found.Violations {
		b.t.Errorf("%s: %s: %s\n%s", state, v.ID, v.Help, strings.Join(v.Nodes, "\n"))
	}
}

// TestAccessible has axe-core look at each state of the page.
func TestAccessible(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	axe := axeCore(t)
	s := serve(t, 2)
	b := s.open()
	b.accessible(axe, "the login")
	b.tabTo("#code")
	b.types("wrong")
	b.press(kb.Enter)
	b.until(`document.getElementById("code-error")`)
	b.accessible(axe, "the login, refused")
	b.visit("/questions/1/arguments")
	b.accessible(axe, "not logged in")
	b = s.login()
	b.accessible(axe, "nothing yet")
	session := s.turn(1)
	b.hears("Question 1")
	b.until(`document.querySelector("[data-question]") && document.querySelector("#steps li")`)
	b.accessible(axe, "a question")
	b.reload()
	b.connected()
	b.accessible(axe, "a question, loaded again")
	b.toQuestion("1")
	b.accessible(axe, "a question, open")
	b.toArguments("1")
	b.until(`document.title.startsWith("Arguments")`)
	b.accessible(axe, "the arguments")
	b.visit("/")
	b.connected()
	b.toQuestion("1")
	other := s.turn(2)
	b.hears("Question 2")
	b.until(`document.querySelectorAll("[data-question]").length === 2`)
	b.accessible(axe, "two questions")
	b.acts("Accept question 1")
	b.until(`!document.getElementById("notice").hidden`)
	b.accessible(axe, "accepted")
	s.ended(session)
	b.hears("Finished.")
	b.until(`document.querySelector(".output")`)
	b.accessible(axe, "ended, with an answer")
	if out, code := s.terminal("reply", "2", "reject"); code != 0 {
		t.Fatal(out)
	}
	s.ended(other)
	b.visit("/?session=" + other)
	b.connected()
	b.accessible(axe, "another session")
	b.visit("/sessions")
	b.until(`document.title.startsWith("All sessions")`)
	b.accessible(axe, "all sessions")
	b.visit("/?session=" + other)
	b.connected()
	s.kill()
	b.until(`document.getElementById("connection").textContent.startsWith("The connection is lost")`)
	b.accessible(axe, "without a connection")
	s.start()
	b.connected()
	for _, path := range []string{"/nothing/there", "/questions/7/arguments", "/questions/x/arguments"} {
		b.visit(path)
		b.accessible(axe, "the error page of "+path)
	}
	b.goes(s.url + "/")
	b.accessible(axe, "where the page is not")
	b.visit("/")
	b.connected()
	value[bool](b, `(() => {
		const form = document.querySelector("form[action='/logout']");
		form.querySelector("input").value = "forged";
		form.submit();
		return true;
	})()`)
	b.until(`document.title.startsWith("Not allowed")`)
	b.accessible(axe, "forbidden")
}

// TestAccessibleRunning has axe-core look at a session while it works, dark and light,
// narrow, and in the colours that a system has been told to use.
func TestAccessibleRunning(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	axe := axeCore(t)
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.focusInNotice()
	for _, look := range looks() {
		b.media(look)
		b.accessible(axe, fmt.Sprint("accepted, about to begin, with ", look))
	}
	b.media(nil)
	b.emulate(320, 256, 1)
	b.accessible(axe, "accepted, 320 px wide")
	b.hears("Finished.")
}

// TestAxeBites breaks the page and has axe-core find that.
func TestAxeBites(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	axe := axeCore(t)
	s := serve(t, 1)
	b := s.login()
	value[bool](b, axe+"\n;true")
	value[bool](b, `(document.querySelector("main").innerHTML = "<button></button><img src='/page/x.png'>", true)`)
	if n := value[int](b, `axe.run(document).then((found) => found.violations.length)`); n < 2 {
		t.Errorf("axe-core finds %d violations in a broken page", n)
	}
}
