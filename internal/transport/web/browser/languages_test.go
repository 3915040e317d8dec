package browser_test

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestLanguages: a person who reads Spanish or Arabic works with the page in it: its labels, what its scripts say, and its direction;
// nothing shuts anybody out, and nothing scrolls to the side.
func TestLanguages(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	for _, tt := range []struct{ tag, direction, connected, reject, rejected string }{
		{"es", "ltr", "Conectado.", "Rechazar", "Anotado: la pregunta 1 está rechazada."},
		{"ar", "rtl", "متصل.", "رفض", "سُجّل: رُفض السؤال 1."},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			t.Parallel()
			s := prepare(t, 1)
			s.args = []string{"--languages", tt.tag}
			must(t, s.command("set", "language", tt.tag).Run())
			s.start()
			s.turn(1)
			b := s.open()
			b.tabTo("#code")
			b.types(s.newCode())
			b.press(kb.Enter)
			b.until(`document.getElementById("connection")?.textContent === ` + strconv.Quote(tt.connected))
			b.until(`document.querySelector("[data-question]")`)
			if got := value[string](b, `document.documentElement.lang + " " + getComputedStyle(document.documentElement).direction`); got != tt.tag+" "+tt.direction {
				t.Errorf("the page is in %q, expected %s %s", got, tt.tag, tt.direction)
			}
			b.accessible(axe, "a question in "+tt.tag)
			if wide := value[int](b, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
				t.Errorf("the page scrolls to the side by %d px", wide)
			}
			b.tabTo(`form[action="/questions/1/reject"] button`)
			if name := value[string](b, `document.activeElement.firstChild.textContent`); name != tt.reject {
				t.Errorf("the button that rejects is called %q, expected %q", name, tt.reject)
			}
			b.press(kb.Enter)
			b.until(`document.getElementById("notice-text").textContent.startsWith(` + strconv.Quote(tt.rejected) + `)`)
			b.goes(s.page + "/settings")
			b.accessible(axe, "the settings in "+tt.tag)
		})
	}
}
