package browser_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// letter has, with its address and subject, 300 characters.
func letter(to, subject string) string {
	const words = "Dear all, the hall is booked for Saturday from ten to six, and the keys are with Maria on the second floor. " +
		"Please bring the posters, two tables and the long cable. If it rains we meet at the library instead. " +
		"Tell me by Thursday who comes, so that there is enough to eat for everybody."
	n := 300 - len(to) - len(subject)
	cut := words[:strings.LastIndex(words[:n], " ")]
	return cut + strings.Repeat(".", n-len(cut))
}

// bottom is where the lower edge of what a selector finds stands on the whole page, in CSS pixels.
func (b *tab) bottom(selector string) int {
	b.t.Helper()
	return value[int](b, `Math.ceil(document.querySelector("`+selector+`").getBoundingClientRect().bottom + scrollY)`)
}

// friend and matter are the address and the subject of the letter.
const friend, matter = "friends@example.org", "Saturday"

// button finds the button of an answer to the first question.
func button(act string) string { return `form[action='/questions/1/` + act + `'] button` }

// letterWaits has the tab show a question with 300 characters of arguments.
func (b *tab) letterWaits() {
	b.t.Helper()
	b.server.mail(friend, matter, letter(friend, matter))
	b.until(`document.querySelector("#question-1")`)
}

// firstScreen demands that a question with 300 characters of arguments has both of its buttons on the first screen of a phone that is 320
// pixels wide, and on the first two screens of a window at 400 percent. The buttons come after the last argument.
func (b *tab) firstScreen() {
	b.t.Helper()
	for _, tt := range []struct {
		name                   string
		width, height, screens int64
	}{{"320 pixels", 320, 640, 1}, {"400 percent", 320, 256, 2}} {
		b.emulate(tt.width, tt.height, 1)
		b.reload()
		b.connected()
		for _, act := range []string{"reject", "accept"} {
			end, last := b.bottom(button(act)), b.bottom(`#question-1 .values > div:last-child`)
			b.t.Logf("%s: %s ends at %d pixels, the arguments at %d", tt.name, act, end, last)
			if limit := int(tt.height * tt.screens); end > limit {
				b.t.Errorf("%s: %s ends at %d pixels; the limit is %d", tt.name, act, end, limit)
			}
			if top := end - value[int](b, `document.querySelector("`+button(act)+`").offsetHeight`); top < last {
				b.t.Errorf("%s: %s begins at %d, over the arguments, which end at %d", tt.name, act, top, last)
			}
		}
		b.narrow(tt.name)
		b.shot(b.t.Name() + "-" + tt.name)
	}
	if text := plain(value[string](b, `document.querySelector("#question-1 .values").textContent`)); !strings.Contains(text, letter(friend, matter)) {
		b.t.Errorf("the arguments are %q", text)
	}
}

// TestFirstScreen: both answers are on the first screen, in the letters that most tests of the page have.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	needsFonts(t, narrowFonts)
	b := serveMail(t).login()
	b.letterWaits()
	b.firstScreen()
}

// TestFirstScreenWide: both answers are on the first screen in the wider letters of most desktops. In letters of 24 pixels, and on a phone at
// 200 percent, the arguments alone fill more than a screen: there the first one has what is asked and both answers, which stay in sight. A
// window at 400 percent has no room for that: its first two screens have the link to the answers.
func TestFirstScreenWide(t *testing.T) {
	t.Parallel()
	needsFonts(t, wideFonts)
	s := serveMail(t)
	ctx, closeBrowser, err := newBrowser(s.home, wideFonts)
	must(t, err)
	t.Cleanup(closeBrowser)
	must(t, chromedp.Do(ctx))
	b := s.tabOf(ctx, "").login()
	b.letterWaits()
	b.firstScreen()

	const title, effect = "#question-1 h3", "#question-1 .badge"
	b.emulate(160, 320, 2)
	b.onScreen("200 percent", title, button("reject"), button("accept"))
	b.narrow("200 percent")
	b.emulate(320, 640, 1)
	b.letters(24)
	b.onScreen("24 pixels", title, effect, button("reject"), button("accept"))
	b.narrow("24 pixels")
	b.focusSeen("24 pixels")
	b.emulate(320, 256, 1)
	for _, part := range []string{title, effect, "#question-1 .jump a"} {
		if end := b.bottom(part); end > 2*256 {
			t.Errorf("24 pixels, 400 percent: %s ends at %d pixels; the limit is %d", part, end, 2*256)
		}
	}
	value[bool](b, `(document.querySelector("#question-1 .jump a").click(), true)`)
	b.inSight("24 pixels, 400 percent, at the answers", button("reject"), button("accept"))
}

// onScreen demands that all of the elements are whole on the first screen, and nothing lies over them.
func (b *tab) onScreen(name string, selectors ...string) {
	b.t.Helper()
	value[bool](b, `(document.activeElement.blur(), scrollTo(0, 0), true)`)
	b.window(b.t.Name() + "-" + name)
	b.inSight(name, selectors...)
}

// inSight demands that all of the elements are whole in the window, and nothing lies over them.
func (b *tab) inSight(name string, selectors ...string) {
	b.t.Helper()
	for _, selector := range selectors {
		if wrong := value[string](b, `(() => {
			const e = document.querySelector("`+selector+`"), at = e.getBoundingClientRect();
			if (at.top < 0 || at.bottom > innerHeight) return "it is between " + at.top + " and " + at.bottom + " of " + innerHeight + " pixels";
			for (const y of [at.top + 3, at.bottom - 3]) {
				const hit = document.elementFromPoint(at.left + at.width / 2, y);
				if (!e.contains(hit) && !hit?.contains(e)) return "over it lies " + hit?.outerHTML.slice(0, 120);
			}
			return "";
		})()`); wrong != "" {
			b.t.Errorf("%s: %s: %s", name, selector, wrong)
		}
	}
}

// letters sets how large a person wants the letters of pages to be, in pixels.
func (b *tab) letters(pixels int64) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.SetFontSizes, page.SetFontSizesParams{FontSizes: &page.FontSizes{Standard: pixels}})
		return err
	}))
	b.until(fmt.Sprintf(`getComputedStyle(document.querySelector("#question-1")).fontSize === "%dpx"`, pixels))
}

// TestOrderOfNeed: what waits comes first, then what runs, then what has ended, in the order of reading and to the eye; where
// there is room, the session stands beside them.
func TestOrderOfNeed(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.login()
	s.ended(s.rejected(b, 1))
	s.turn(2)
	b.until(`document.querySelector("#question-2") && document.querySelectorAll("#sessions-lists [data-item]").length === 2`)
	const tops = `["#question-2", "#sessions-lists h3", "#sessions-lists h3 ~ h3", "#session", "#announcements"].map((s) => Math.round(document.querySelector(s).getBoundingClientRect().top))`
	b.emulate(600, 800, 1)
	order := value[[]int](b, tops)
	for i := 1; i < len(order); i++ {
		if order[i] <= order[i-1] {
			t.Errorf("in one column the parts begin at %v", order)
		}
	}
	b.emulate(1280, 800, 1)
	if wide := value[[]int](b, tops); wide[3] > wide[0] {
		t.Errorf("in two columns the session begins at %d, below the first question at %d", wide[3], wide[0])
	}
	if badge := value[string](b, `document.querySelector("#sessions-lists ul:last-of-type .badge").textContent`); badge != "done" {
		t.Errorf("the outcome of the session that has ended is %q", badge)
	}
}

// rejected starts the agent on a folder, and rejects its question at a terminal.
func (s *server) rejected(b *tab, n int) string {
	s.t.Helper()
	session := s.turn(n)
	b.hears("Question 1")
	if out, code := s.terminal("reply", "1", "reject"); code != 0 {
		s.t.Fatal(out)
	}
	return session
}

// TestAcceptNamesItsAct: the button says what is done, in the style of what cannot be undone; it has no focus when the
// question comes, and stands behind Reject.
func TestAcceptNamesItsAct(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.hears("Question 1")
	b.until(`document.querySelector("#question-1")`)
	buttons := value[[]string](b, `[...document.querySelectorAll("#question-1 button")].map((e) => e.className + ": " + e.textContent)`)
	want := []string{": Reject question 1", "danger: Delete 1 duplicate file, accept question 1", "quiet: More time for question 1"}
	if !slices.Equal(buttons, want) {
		t.Errorf("the buttons are %q; want %q", buttons, want)
	}
	if focus := value[string](b, `document.activeElement.localName`); focus != "body" {
		t.Errorf("the focus is on %s", focus)
	}
}

// TestUndoStaysThere: the bar that takes a yes back stands where the button was.
func TestUndoStaysThere(t *testing.T) {
	t.Parallel()
	s := serveMail(t)
	must(t, s.command("set", "undo-time", "60s").Run())
	b := s.login()
	for _, to := range []string{"ann@example.org", "bob@example.org", "eve@example.org"} {
		s.mail(to, "hall", "It is booked.")
		b.until(`[...document.querySelectorAll("[data-question]")].some((q) => q.textContent.includes("` + to + `"))`)
	}
	b.toQuestion("2")
	b.acts("Accept question 2")
	b.focusIs("button Undo the yes to question 2")
	b.until(`!document.querySelector("#question-2")`)
	order := value[[]string](b, `[...document.querySelectorAll("#question-1, #notice, #question-3")].map((e) => e.id)`)
	if strings.Join(order, " ") != "question-1 notice question-3" {
		t.Errorf("the bar stands in the order %q", order)
	}
	b.acts("Accept question 3")
	b.hears("Recorded: question 3 is accepted")
	b.focusIs("button Undo the yes to question 3")
	b.settled()
	b.until(`document.querySelector("#notice-rows form[action='/questions/2/undo']")`)
	b.acts("Undo the yes to question 2")
	b.until(`document.getElementById("notice-text").textContent === "Recorded: the yes to question 2 is taken back. Nothing was done."`)
	b.focusIs("#notice-text")
}
