package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestOperatorPages: an operator finds a tool, records its review and verifies the audit chain, by keyboard; the terminal tells
// the same.
func TestOperatorPages(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 1)
	b := s.login()
	b.emulate(320, 640, 1)
	b.tabTo("a[href='/tools']")
	b.press(kb.Enter)
	b.until(`document.title === "Tools - Earshot" && document.querySelector("main li")`)
	b.accessible(axe, "the tools")
	b.narrow("the tools")
	b.tabTo("#search")
	b.types("no such tool")
	b.press(kb.Enter)
	b.until(`document.querySelector("main").innerText.includes("No tool has")`)
	b.accessible(axe, "the tools, none found")
	b.visit("/tools?q=files.delete")
	b.tabTo("main li a")
	b.press(kb.Enter)
	b.until(`document.querySelector("#review")`)
	tool := strings.TrimSuffix(value[string](b, `document.title`), " - Earshot")
	b.accessible(axe, "a tool")
	b.narrow("a tool")
	b.tabTo("#risk")
	b.press("h")
	b.acts("Record the review of " + tool)
	b.until(`document.querySelector("#notice[role='status']")?.innerText.startsWith("Recorded: ")`)
	b.accessible(axe, "a tool, reviewed")
	if out, code := s.terminal("tools", "show", tool); code != 0 || !strings.Contains(out, "high risk, reviewed") {
		t.Errorf("%d %s", code, out)
	}
	for path, want := range map[string]string{"/dead": "No message was put aside", "/logins": "This is you, here.", "/policy": "No policy file is in force"} {
		b.visit(path)
		b.until(`document.readyState === "complete" && document.querySelector("main").innerText.includes("` + want + `")`)
		b.accessible(axe, path)
		b.narrow(path)
	}
	b.visit("/audit")
	b.until(`document.querySelector("main li")`)
	b.accessible(axe, "the audit chain")
	b.acts("Verify the chain")
	b.until(`document.getElementById("report")`)
	if text := value[string](b, `document.getElementById("report").innerText`); !strings.Contains(text, "The chain is whole.") {
		t.Errorf("verified: %s", text)
	}
	b.accessible(axe, "the audit chain, verified")
	b.narrow("the audit chain, verified")
	if text := value[string](b, `document.querySelector("main").innerText`); !strings.Contains(text, "The tool "+tool+" was reviewed by") {
		t.Errorf("the entries are %s", text)
	}
}

// TestListsInEachLook has axe-core look at the settings and at the lists of operators, in each look that a system may be told to have.
func TestListsInEachLook(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 1)
	b := s.login()
	b.emulate(320, 640, 1)
	for _, look := range looks() {
		b.media(look)
		for _, path := range []string{"/settings", "/agents", "/tools", "/tools/files.delete", "/audit", "/dead", "/logins", "/policy"} {
			b.visit(path)
			b.until(`document.readyState === "complete" && document.querySelector("main h1")`)
			b.accessible(axe, path+" "+strings.Join(look, " "))
			b.narrow(path)
		}
	}
}
