package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSettings: a person changes all of their settings by keyboard; what cannot be read is said beside its field, and what is
// saved is there when the page is loaded again, and is what the terminal tells, too.
func TestSettings(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 1)
	b := s.login()
	b.tabTo("a[href='/settings']")
	b.press(kb.Enter)
	b.until(`document.title === "Settings - Earshot"`)
	b.accessible(axe, "the settings")
	b.tabTo("#answer-time")
	b.press("a", chromedp.ModifierCtrl)
	b.types("soon")
	b.press(kb.Enter)
	b.until(`document.title.startsWith("Not saved")`)
	b.accessible(axe, "the settings, refused")
	if typed := value[string](b, `document.getElementById("answer-time").value`); typed != "soon" {
		t.Errorf("what was typed is now %q", typed)
	}
	b.tabTo("#answer-time")
	b.press("a", chromedp.ModifierCtrl)
	b.types("15 minutes")
	b.tabTo("#undo-time")
	b.press("a", chromedp.ModifierCtrl)
	b.types("20s")
	b.tabTo("#verbosity")
	b.types("terse")
	b.tabTo("#time-zone")
	b.types("asia/tok")
	b.tabTo("#questions")
	b.types("one")
	b.tabTo("#density")
	b.types("compact")
	b.acts("Save")
	b.until(`document.querySelector("#notice[role='status']")?.innerText.startsWith("Saved: ")`)
	b.accessible(axe, "the settings, saved")
	b.goes(s.page + "/settings")
	const values = `Array.from(document.querySelectorAll("#verbosity, #time-zone, #questions, #density, #answer-time, #undo-time"), (field) => field.value).join(" ")`
	if kept := value[string](b, values); kept != "15m 20s terse Asia/Tokyo one compact" {
		t.Errorf("after a reload, the fields hold %q", kept)
	}
	b.accessible(axe, "the settings, loaded again")
	b.goes(s.page + "/")
	if density := value[string](b, `document.documentElement.dataset.density ?? document.body.dataset.density`); density != "compact" {
		t.Errorf("the page has the density %q", density)
	}
	for setting, want := range map[string]string{
		"answer-time": "15 minutes", "undo-time": "20 seconds", "verbosity": "hears is short", "time-zone": "in Asia/Tokyo", "questions": "one question at a time",
		"density": "less room",
	} {
		if out, code := s.terminal("set", setting); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s in the terminal: %d %s", setting, code, out)
		}
	}
}
