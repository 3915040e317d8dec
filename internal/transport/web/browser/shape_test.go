package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// looks are what a system may have been told to make pages look like.
func looks() [][]string {
	return [][]string{
		{"prefers-color-scheme", "light"},
		{"prefers-color-scheme", "dark"},
		{"forced-colors", "active"},
		{"forced-colors", "active", "prefers-color-scheme", "dark"},
		{"prefers-reduced-motion", "reduce"},
		{"prefers-contrast", "more"},
	}
}

// media has the browser say that the system wants a look; nil is none.
func (b *tab) media(look []string) {
	b.t.Helper()
	var wanted []*emulation.MediaFeature
	for i := 0; i+1 < len(look); i += 2 {
		wanted = append(wanted, &emulation.MediaFeature{Name: look[i], Value: look[i+1]})
	}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: wanted})
		return err
	}))
	for i := 0; i+1 < len(look); i += 2 {
		if !value[bool](b, fmt.Sprintf(`matchMedia("(%s: %s)").matches`, look[i], look[i+1])) {
			b.t.Errorf("the browser does not say %v", look)
		}
	}
}

// narrow demands that nothing is wider than the page, so that nobody scrolls sideways.
func (b *tab) narrow(state string) {
	b.t.Helper()
	const over = `(() => {
		const wide = document.documentElement.clientWidth;
		const out = [...document.querySelectorAll("body :not(.unseen, .unseen *)")].filter((e) => e.getBoundingClientRect().right > wide + 1 || e.getBoundingClientRect().left < -1);
		return [document.documentElement.scrollWidth > wide ? "the page scrolls to " + document.documentElement.scrollWidth + " of " + wide : "", ...out.map((e) => e.outerHTML.slice(0, 200))].filter(Boolean);
	})()`
	if wide := value[[]string](b, over); len(wide) > 0 {
		b.t.Errorf("%s: too wide:\n%s", state, strings.Join(wide, "\n"))
	}
}

// TestNarrow: at 320 CSS pixels, which is a 1280 pixel window at 400 percent, everything
// is there without scrolling sideways, and the page scrolls up and down as a whole.
func TestNarrow(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	for _, size := range []struct {
		name          string
		width, height int64
		scale         float64
	}{{"320 px", 320, 640, 1}, {"400 percent", 320, 256, 4}} {
		b := s.open()
		b.emulate(size.width, size.height, size.scale)
		b.narrow(size.name + ", the login")
	}
	b := s.login()
	b.emulate(320, 256, 4)
	b.narrow("nothing yet")
	session := s.turn(1)
	b.toQuestion("1")
	b.narrow("a question, open")
	b.visit("/questions/1/arguments?session=" + session)
	b.narrow("the arguments")
	b.visit("/")
	b.connected()
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.hears("Finished.")
	b.narrow("ended")
	if hidden := value[[]string](b, `[...document.querySelectorAll("body :not(.unseen, nav, input)")].filter((e) => ["hidden", "clip", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML.slice(0, 200))`); len(hidden) > 0 {
		t.Errorf("cut off:\n%s", strings.Join(hidden, "\n"))
	}
	b.visit("/nothing/there")
	b.narrow("an error")
}

// TestLooks: with forced colours the focus and the borders can be seen, and nothing ever
// moves by itself.
func TestLooks(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	b.tabToButton("Accept question 1")
	for _, look := range looks() {
		b.media(look)
		outline := value[string](b, `((s) => s.outlineStyle + " " + s.outlineWidth)(getComputedStyle(document.activeElement))`)
		if outline != "solid 3px" {
			t.Errorf("with %v the focus is shown by %q", look, outline)
		}
		if border := value[string](b, `((s) => s.borderTopStyle + " " + s.borderTopWidth)(getComputedStyle(document.activeElement))`); border != "solid 2px" {
			t.Errorf("with %v a button has the border %q", look, border)
		}
		if n := value[int](b, `document.getAnimations().length + [...document.querySelectorAll("*")].filter((e) => getComputedStyle(e).transitionDuration !== "0s" || getComputedStyle(e).animationName !== "none").length`); n != 0 {
			t.Errorf("with %v %d things move", look, n)
		}
	}
}

// TestTargets: what is pressed is at least 24 CSS pixels high and wide, or stands in a
// line of text.
func TestTargets(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	small := value[[]string](b, `[...document.querySelectorAll("button, summary, input, nav a")].filter((e) => e.offsetParent !== null && (e.getBoundingClientRect().height < 24 || e.getBoundingClientRect().width < 24)).map((e) => e.outerHTML)`)
	if len(small) > 0 {
		t.Errorf("too small:\n%s", strings.Join(small, "\n"))
	}
}
