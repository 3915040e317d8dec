package browser_test

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestLanguages: a person works with the page in each language that it has: its labels, what its scripts say, and its direction. No page
// shuts anybody out in it, and none scrolls to the side on a phone.
func TestLanguages(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	for _, tt := range []struct{ tag, direction, connected, reject, rejected string }{
		{"es", "ltr", "Conectado.", "Rechazar", "Anotado: la pregunta 1 está rechazada."},
		{"fr", "ltr", "Connecté.", "Refuser", "Noté\u00a0: la question 1 est refusée."},
		{"yo", "ltr", "Ó ti sopọ̀.", "Kọ̀", "A ti kọ ọ́ sílẹ̀: a kọ̀ sí ìbéèrè 1."},
		{"ar", "rtl", "متصل.", "رفض", "سُجّل: رُفض السؤال 1."},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			t.Parallel()
			s := prepare(t, 2)
			s.args = []string{"--languages", tt.tag}
			must(t, s.command("set", "language", tt.tag).Run())
			s.start()
			session := s.turn(1)
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
			value[bool](b, `document.getElementById("pause").click() ?? true`) // the page says something of its own
			b.until(`document.querySelector("#live-polite p:last-child")?.lang === "` + tt.tag + `"`)
			if n := value[int](b, `document.querySelectorAll("#live-polite p:not([lang]), #live-assertive p:not([lang]), #live-polite p[lang=''], #live-assertive p[lang='']").length`); n > 0 {
				t.Errorf("%d sentences are in no language", n)
			}
			b.tabTo(`form[action="/questions/1/reject"] button`)
			if name := value[string](b, `document.activeElement.firstChild.textContent`); name != tt.reject {
				t.Errorf("the button that rejects is called %q, expected %q", name, tt.reject)
			}
			b.press(kb.Enter)
			b.until(`document.getElementById("notice-text").textContent.startsWith(` + strconv.Quote(tt.rejected) + `)`)
			s.turn(2)
			b.until(`document.querySelector("#question-2")`)
			b.emulate(320, 640, 1)
			for _, path := range append([]string{"/questions/2/arguments", "/sessions/" + session, "/tools/files.delete"}, everyPage...) {
				b.visit(path)
				b.until(`document.readyState === "complete" && document.querySelector("h1")`)
				b.accessible(axe, path+" in "+tt.tag)
				b.narrow(path + " in " + tt.tag)
			}
		})
	}
}
