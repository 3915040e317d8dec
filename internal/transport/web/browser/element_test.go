package browser_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// foreign is a page of another site with the element, under a policy that allows nothing but what the element needs.
func (s *server) foreign(token string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src %[1]s; connect-src %[1]s", s.page))
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><title>Another page</title><main><h1>Another page</h1>
<script type="module" src="%[1]s/api/v1/listener.js"></script>
<earshot-listener src="%[1]s" token="%[2]s" lang="en"></earshot-listener></main></html>`, s.page, html.EscapeString(token))
	}
}

// newToken makes a token, as an operator does.
func (s *server) newToken(args ...string) string {
	s.t.Helper()
	out, err := s.command(append([]string{"token", "add"}, args...)...).Output()
	must(s.t, err)
	return strings.TrimSpace(string(out))
}

// TestElement: a page of another site says what is announced and links to what is asked, and a token that may answer gets
// nothing there.
func TestElement(t *testing.T) {
	t.Parallel()
	s := prepare(t, 1)
	var serves http.HandlerFunc
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serves(w, r) }))
	t.Cleanup(other.Close)
	s.args = append(s.args, "--allow-origin", other.URL)
	s.start()
	axe := axeCore(t)

	serves = s.foreign(s.newToken("answers", "--role", "approver"))
	b := s.open()
	b.goes(other.URL)
	const element = `document.querySelector("earshot-listener").shadowRoot`
	b.until(element + `.querySelector(".state").textContent.startsWith("Earshot does not speak here: this token can do more than listen")`)

	serves = s.foreign(s.newToken("hears", "--role", "listener", "--owner", "*"))
	b.goes(other.URL)
	b.until(element + `.querySelector(".state").textContent === "Connected to Earshot."`)
	session := s.turn(1)
	b.until(element + `.querySelector(".assertive")?.textContent.includes("Question 1")`)
	b.until(element + `.querySelectorAll(".questions li").length === 1`)
	b.accessible(axe, "a page with the element")
	if got := value[string](b, element+`.querySelector("a").href`); got != s.page+"/#question-1" {
		t.Errorf("the question's link leads to %s", got)
	}
	if got := value[string](b, element+`.querySelector("a").textContent`); !strings.HasPrefix(got, "Question 1 (opens Earshot): ") || strings.HasSuffix(got, ": ") {
		t.Errorf("the link is called %q", got)
	}
	if said := value[string](b, element+`.textContent`); strings.Contains(said, "Press") {
		t.Errorf("it says what can be done on another surface only: %s", said)
	}

	a := s.login()
	a.toQuestion("1")
	a.acts("Reject question 1")
	s.ended(session)
	b.until(element + `.querySelector(".questions").hidden`)
	b.until(element + `.querySelector(".polite").textContent.includes("rejected")`)
	s.kill()
	b.until(element + `.querySelector(".assertive").textContent.includes("Earshot cannot be reached.")`)
	s.start()
	b.until(element + `.querySelector(".polite").textContent.includes("Connected to Earshot again.")`)
}
