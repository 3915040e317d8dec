package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestMoreSessions: where there are more sessions than the page lists, a link leads to the
// others by keyboard; it keeps the focus while the list above it changes; and the page that
// it leads to needs no scripts and says what it holds.
func TestMoreSessions(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 2)
	for range 60 {
		s.turn(1)
	}
	b := s.login()
	b.until(`document.querySelectorAll("#sessions-lists li").length === 50`)
	b.tabTo("#more-running")
	leads := value[string](b, `document.activeElement.getAttribute("href")`)
	s.turn(2)
	b.until(`document.getElementById("more-running").getAttribute("href") !== ` + "`" + leads + "`")
	b.focusIs("#more-running")
	b.accessible(axe, "more sessions than are listed")
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && document.title.startsWith("Running sessions from ")`)
	if n := value[int](b, `document.querySelectorAll("main li").length`); n != 11 {
		t.Errorf("the next page lists %d sessions; want the 11 others", n)
	}
	if heading := value[string](b, `document.querySelector("h1").textContent + " - Earshot"`); heading != value[string](b, "document.title") {
		t.Errorf("the heading is %q", heading)
	}
	if n := value[int](b, `document.querySelectorAll("script, [aria-live]").length`); n != 0 {
		t.Errorf("%d scripts or live regions", n)
	}
	b.accessible(axe, "the next page of sessions")
}

// TestWhereAmI: one key leads to where it says how things stand, and that, like the title, is
// true as things change, without a reload.
func TestWhereAmI(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	b.accessKey("w")
	b.focusIs("#whereami-heading")
	stands := func(title, where string) {
		t.Helper()
		b.until(fmt.Sprintf(`document.title === %q && document.getElementById("whereami-text").textContent.replace(/[\u2068\u2069]/g, "").startsWith(%q)`, title, where))
		b.focusIs("#whereami-heading")
	}
	stands("Earshot", "No session is running. No question is open.")
	session := s.turn(1)
	stands("(1 question) Earshot", "1 session waiting. 1 question open: 1. You are looking at ")
	if out, code := s.terminal("reply", "1", "reject"); code != 0 {
		t.Fatal(out)
	}
	s.ended(session)
	stands("Earshot", "No session is running. No question is open. You are looking at ")
}
