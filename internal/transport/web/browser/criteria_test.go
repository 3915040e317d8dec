package browser_test

import (
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
					t.Errorf("%v, %v: %s", size, look, wrong)
				}
			}
			if stops < 10 {
				t.Errorf("%v: Tab stops at %d things", size, stops)
			}
		}
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
