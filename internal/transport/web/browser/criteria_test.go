package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// asked opens the page with a question on it, and the session that asks it.
func asked(t *testing.T) *tab {
	t.Helper()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.until(`document.querySelector("#question-1")`)
	return b
}

// TestFocusSeen: at each stop of Tab, on a phone and in a window, the focus is shown by a line that stands out by 3 to 1, and
// what has the focus is neither covered nor out of sight (WCAG 2.4.7, 2.4.11).
func TestFocusSeen(t *testing.T) {
	t.Parallel()
	b := asked(t)
	for _, size := range [][2]int64{{320, 480}, {1280, 800}} {
		b.emulate(size[0], size[1], 1)
		for _, look := range [][]string{{"prefers-color-scheme", "light"}, {"prefers-color-scheme", "dark"}} {
			b.media(look)
			b.focusSeen(fmt.Sprint(size, look))
		}
	}
}

// focusSeen presses Tab until the focus has been everywhere.
func (b *tab) focusSeen(where string) {
	b.t.Helper()
	value[bool](b, `(document.activeElement.blur(), scrollTo(0, 0), true)`)
	stops := 0
	for ; stops < 60; stops++ {
		b.press(kb.Tab)
		if value[bool](b, `document.activeElement === document.body`) {
			break
		}
		if wrong := value[string](b, contrast+`;(() => {
			const e = document.activeElement, style = getComputedStyle(e), at = e.getBoundingClientRect();
			const hit = document.elementFromPoint(at.left + Math.min(at.width / 2, 20), at.top + Math.min(at.height / 2, 10));
			const name = e.outerHTML.slice(0, 120) + ": ";
			if (style.outlineStyle !== "solid" || parseFloat(style.outlineWidth) < 2) return name + "the focus is shown by " + style.outline;
			const stands = contrastOf(style.outlineColor, groundOf(e.parentElement));
			if (stands < 3) return name + "its line stands out by " + stands.toFixed(2);
			return hit && (e.contains(hit) || hit.contains(e)) ? "" : name + "it is covered, or out of sight";
		})()`); wrong != "" {
			b.t.Errorf("%s: %s", where, wrong)
		}
	}
	if stops < 10 {
		b.t.Errorf("%s: Tab stops at %d things", where, stops)
	}
}

// contrast defines contrastOf, of two colours by WCAG's formula, and groundOf, the colour behind an element.
const contrast = `var parts = (colour) => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d");
	canvas.fillStyle = colour;
	canvas.fillRect(0, 0, 1, 1);
	return canvas.getImageData(0, 0, 1, 1).data;
};
var light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
	const c = parts(colour)[i] / 255;
	return sum + share * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
}, 0);
var contrastOf = (a, b) => {
	const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
};
var groundOf = (e) => {
	for (; e; e = e.parentElement) {
		const colour = getComputedStyle(e).backgroundColor;
		if (parts(colour)[3] > 0) return colour;
	}
	return "white";
}`

// TestEdges: what can be pressed, chosen or written into stands out from what is around it by 3 to 1, by its edge or its ground;
// a quiet button without an edge is known by its words (WCAG 1.4.11).
func TestEdges(t *testing.T) {
	t.Parallel()
	b := asked(t)
	for _, look := range [][]string{{"prefers-color-scheme", "light"}, {"prefers-color-scheme", "dark"}} {
		b.media(look)
		if faint := value[[]string](b, contrast+`;[...document.querySelectorAll("button, input:not([type=hidden]), select, textarea")].filter((e) => e.checkVisibility()).flatMap((e) => {
			const style = getComputedStyle(e), around = groundOf(e.parentElement);
			const edge = parseFloat(style.borderTopWidth) > 0 ? contrastOf(style.borderTopColor, around) : 0;
			const ground = parts(style.backgroundColor)[3] > 0 ? contrastOf(style.backgroundColor, around) : 0;
			if (e.matches(".quiet") && parts(style.borderTopColor)[3] === 0) return [];
			return Math.max(edge, ground) < 3 ? [e.outerHTML.slice(0, 120) + ": " + Math.max(edge, ground).toFixed(2)] : [];
		})`); len(faint) > 0 {
			t.Errorf("%v: too faint:\n%s", look, strings.Join(faint, "\n"))
		}
	}
}

// TestTextSpacing: with the spacing that a reader may set, nothing is cut off and nothing is wider than the page, upright and
// on its side (WCAG 1.4.12, 1.3.4).
func TestTextSpacing(t *testing.T) {
	t.Parallel()
	b := asked(t)
	value[bool](b, `(() => {
		const sheet = new CSSStyleSheet();
		sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }");
		document.adoptedStyleSheets.push(sheet);
		return true;
	})()`)
	for _, size := range [][2]int64{{320, 640}, {640, 320}, {1280, 800}} {
		b.emulate(size[0], size[1], 1)
		b.narrow("with more space")
		if cut := value[[]string](b, `[...document.querySelectorAll("body *:not(.unseen, .unseen *, nav)")].filter((e) => e.checkVisibility() && ["hidden", "clip"].includes(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 1).map((e) => e.outerHTML.slice(0, 120))`); len(cut) > 0 {
			t.Errorf("%v: cut off:\n%s", size, strings.Join(cut, "\n"))
		}
	}
}

// everyPage are the pages that are linked from others, with a word that each has in its heading.
var everyPage = []string{"/", "/sessions", "/alerts", "/passkeys", "/settings", "/agents", "/tools", "/audit", "/dead", "/logins", "/policy"}

// TestEachPage: on every page, nothing appears because something is pointed at or has the focus (WCAG 1.4.13), what is said by a
// colour is said in words too, and a link in a text is underlined (1.4.1); the same address has the same name, and what pages have in
// common stands in the same order (3.2.3, 3.2.4); and every page is led to from more than one other (2.4.5).
func TestEachPage(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.until(`document.querySelector("#question-1")`)
	names, from, order := map[string]string{}, map[string]map[string]bool{}, []string{}
	for _, path := range everyPage {
		b.visit(path)
		b.until(`document.readyState === "complete" && document.querySelector("h1")`)
		for what, script := range map[string]string{
			"appears on hover or focus": appearing, "has a tone and no words": wordless, "is a link in a text that is not underlined": bareLinks,
		} {
			if found := value[[]string](b, script); len(found) > 0 {
				t.Errorf("%s: this %s:\n%s", path, what, strings.Join(found, "\n"))
			}
		}
		before := -1
		for _, link := range value[[][2]string](b, `[...document.querySelectorAll("header a, footer a, nav a")].map((a) => [a.getAttribute("href"), a.textContent.trim()])`) {
			address, name := link[0], link[1]
			if !slices.Contains(everyPage, address) {
				continue
			}
			if known := names[address]; known != "" && known != name && address != "/" {
				t.Errorf("%s calls %s %q; elsewhere it is %q", path, address, name, known)
			}
			names[address] = name
			if from[address] == nil {
				from[address] = map[string]bool{}
			}
			from[address][path] = true
			at := slices.Index(order, address)
			if at < 0 {
				order = append(order, address)
				at = len(order) - 1
			}
			if at < before && address != "/" {
				t.Errorf("%s: %s stands elsewhere among the links", path, address)
			}
			before = at
		}
	}
	for _, path := range everyPage {
		if len(from[path]) < 2 {
			t.Errorf("%s is led to from %v alone", path, from[path])
		}
	}
}

// appearing are rules of style by which something that is pointed at, or has the focus, changes more than how it looks. Links to the
// parts of a page are themselves what has the focus then.
const appearing = `[...document.styleSheets].flatMap(function rules(sheet) { return [...sheet.cssRules].flatMap((r) => r.cssRules?.length ? rules(r) : [r]); })
	.filter((r) => /:(hover|focus)/.test(r.selectorText) && !/\bnav\b/.test(r.selectorText))
	.filter((r) => ["display", "visibility", "opacity", "content", "position", "height", "max-height", "clip-path"].some((p) => r.style.getPropertyValue(p)))
	.map((r) => r.cssText)
	.concat([...document.querySelectorAll("[title]")].map((e) => e.outerHTML.slice(0, 120)))`

// wordless is what has a tone and no words.
const wordless = `[...document.querySelectorAll(".badge, .notice, .bad, .good, .waits")].filter((e) => e.checkVisibility() && !e.textContent.trim()).map((e) => e.outerHTML.slice(0, 120))`

// bareLinks are links among other words that only their colour tells from these.
const bareLinks = `[...document.querySelectorAll("main p a, main li a, main dd a")].filter((a) => a.checkVisibility() && a.parentElement.textContent.trim() !== a.textContent.trim())
	.filter((a) => !getComputedStyle(a).textDecorationLine.includes("underline")).map((a) => a.outerHTML.slice(0, 160))`

// TestCodeIsPasted: the code of the log-in can be pasted, so nobody has to remember or to copy it by hand (WCAG 3.3.8).
func TestCodeIsPasted(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.open()
	b.visit("/login")
	b.until(`document.readyState === "complete" && document.querySelector("#code")`)
	code := s.newCode()
	if taken := value[bool](b, `(() => {
		const field = document.querySelector("#code");
		field.focus();
		const paste = new ClipboardEvent("paste", {bubbles: true, cancelable: true, clipboardData: new DataTransfer()});
		return field.dispatchEvent(paste) && document.execCommand("insertText", false, "`+code+`");
	})()`); !taken {
		t.Error("a paste into the field of the code is not let through")
	}
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && location.pathname === "/"`)
}

// TestHeldStill: what changes by itself can be held still, while questions come and are answered; then it is as it would have been
// (WCAG 2.2.2).
func TestHeldStill(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.login()
	first := s.turn(1)
	b.until(`document.querySelector("#question-1")`)
	const shown = `document.getElementById("steps").innerText + document.getElementById("sessions-lists").innerText + document.getElementById("output").innerText`
	b.acts("Hold the lists and the session still")
	b.hears("polite: Held still. Questions still come.")
	before := value[string](b, shown) // only now: the session's part may come after the question
	s.turn(2)
	b.until(`document.querySelector("#question-2")`)
	b.toQuestion("1")
	b.acts("Accept question 1")
	s.ended(first)
	b.hears("Finished.")
	if after := value[string](b, shown); after != before {
		t.Errorf("held still, it changed from\n%s\nto\n%s", before, after)
	}
	b.acts("Hold the lists and the session still")
	b.hears("polite: Up to date again.")
	b.until(`document.getElementById("output").innerText.includes("Deleted 1 file")`)
	held := value[string](b, shown)
	b.visit("/?session=" + first)
	b.until(`document.readyState === "complete" && document.getElementById("steps")`)
	if loaded := value[string](b, shown); loaded != held {
		t.Errorf("let go, it is\n%s\nloaded again\n%s", held, loaded)
	}
}
