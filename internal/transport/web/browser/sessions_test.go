package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestMoreSessions: where there are more sessions than the page lists, a link leads to the
// others by keyboard; it keeps the focus while the list above it changes; and the page that
// it leads to needs no scripts and says what it holds. Of those that the page lists the newest stand open.
func TestMoreSessions(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 2)
	for range 60 {
		s.turn(1)
	}
	b := s.login()
	b.until(`document.querySelectorAll("#sessions-lists li").length === 50`)
	if n := value[int](b, `[...document.querySelectorAll("#sessions-lists li")].filter((row) => row.checkVisibility()).length`); n != 20 {
		t.Errorf("%d sessions stand open; want the newest 20", n)
	}
	// A session that has the focus when it comes to stand among the further ones keeps it, and is shown.
	const last = `document.querySelectorAll("#sessions-lists li")[19].querySelector("a")`
	pushed := value[string](b, `(`+last+`.focus(), document.activeElement.getAttribute("href"))`)
	s.turn(2)
	b.until(`document.activeElement.closest("details")?.open && document.activeElement.getAttribute("href") === ` + "`" + pushed + "`")
	b.tabTo("#further-running")
	if text := value[string](b, `document.activeElement.textContent`); text != "More running sessions: 30" {
		t.Errorf("the further ones are named %q", text)
	}
	newest := value[string](b, `document.querySelector("#sessions-lists li").dataset.item`)
	s.turn(2)
	b.until(`document.querySelector("#sessions-lists li").dataset.item !== ` + "`" + newest + "`")
	b.focusIs("#further-running")
	if !value[bool](b, `document.activeElement.parentElement.open`) {
		t.Error("the further ones were put away when a session came")
	}
	b.press(kb.Enter)
	b.until(`!document.activeElement.parentElement.open`)
	b.tabTo("#more-running")
	leads := value[string](b, `document.activeElement.getAttribute("href")`)
	s.turn(2)
	b.until(`document.getElementById("more-running").getAttribute("href") !== ` + "`" + leads + "`")
	b.focusIs("#more-running")
	b.accessible(axe, "more sessions than are listed")
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && document.title.startsWith("Running sessions from ")`)
	if n := value[int](b, `document.querySelectorAll("main li").length`); n != 13 {
		t.Errorf("the next page lists %d sessions; want the 13 others", n)
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
