package browser_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The tasks that each of the five people does, as docs/accessibility.md calls them.
const (
	taskStart = "start an agent"
	taskNo    = "reject a question"
	taskYes   = "accept one"
	taskUndo  = "take the accept back"
	taskStop  = "stop another session"
	taskPast  = "find out what happened before"
	taskForm  = "start one with a form of its own"
)

// hand is how somebody works the page. A shortcut is the letter of an access key near to what is wanted, or "".
type hand interface {
	// press brings the person to a control and presses it; it returns the keys, taps and swipes that this takes.
	press(shortcut, selector string) int
	// types writes into a field; the letters are not counted.
	types(shortcut, selector, text string) int
	// sends sends what stands in the field that was written into, whose button is the other.
	sends(field, button string) int
}

// shortcut presses an access key, if there is one, and waits until the focus is where it leads.
func (b *tab) shortcut(letter string) int {
	b.t.Helper()
	leads := map[string]string{"n": "#start-heading", "q": "#questions-heading", "a": "#sessions-heading"}
	if letter == "" {
		return 0
	}
	b.accessKey(letter)
	b.focusIs(leads[letter])
	return 1
}

// keyboard is somebody who has no mouse.
type keyboard struct{ b *tab }

func (k keyboard) reach(shortcut, selector string) (n int) {
	k.b.t.Helper()
	n = k.b.shortcut(shortcut)
	for range 80 {
		if value[bool](k.b, `document.activeElement.matches(`+strconv.Quote(selector)+`)`) {
			return n
		}
		k.b.press(kb.Tab)
		n++
	}
	k.b.t.Fatalf("Tab does not lead to %s", selector)
	return 0
}

func (k keyboard) press(shortcut, selector string) int {
	n := k.reach(shortcut, selector)
	k.b.settled()
	k.b.press(kb.Enter)
	return n + 1
}

func (k keyboard) types(shortcut, selector, text string) int {
	n := k.reach(shortcut, selector)
	k.b.types(text)
	return n
}

func (k keyboard) sends(field, _ string) int { return k.b.sends(field) }

// sends has Control and Enter send what stands in a field that has the focus.
func (b *tab) sends(field string) int {
	b.t.Helper()
	b.focusIs(field)
	b.settled()
	b.press(kb.Enter, chromedp.ModifierCtrl)
	return 1
}

// reader is somebody with a screen reader, whose keys lead to the next heading, button, link, field or landmark from
// where they read. What there is to stop at is taken from the document as the reader gets it; the keys themselves are
// the reader's, so that they are counted and not pressed. Enter is.
type reader struct{ b *tab }

// stops counts the quick keys from where the focus is to a control, by the shortest of: its own kind; headings or
// landmarks to the last one before it, and then its own kind.
const stops = `((wanted) => {
	const kinds = {
		button: "button, summary", link: "a[href]", field: "input:not([type=hidden]), select, textarea",
		heading: "h1, h2, h3, h4", landmark: "main, nav, header, footer, section[aria-label], section[aria-labelledby]",
	};
	const seen = (e) => e.checkVisibility() && !e.closest("[aria-hidden=true], details:not([open]) > :not(summary)");
	const after = (a, b) => a === document.body || Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
	const goal = document.querySelector(wanted);
	if (!goal || !seen(goal)) return -1;
	if (goal === document.activeElement) return 0;
	const own = Object.keys(kinds).find((k) => goal.matches(kinds[k]));
	const along = (kind, from, to) => [...document.querySelectorAll(kinds[kind])].filter((e) => seen(e) && (from === null || after(from, e)) && (e === to || after(e, to)));
	const start = after(document.activeElement, goal) ? document.activeElement : null;
	const top = start ? 0 : 1; // a key for the top of the page
	const ways = [along(own, start, goal).length];
	for (const kind of ["heading", "landmark"]) {
		const passed = along(kind, start, goal).filter((e) => e !== goal);
		passed.forEach((e, i) => ways.push(i + 1 + along(own, e, goal).length));
	}
	goal.focus();
	return top + Math.min(...ways);
})`

func (r reader) reach(shortcut, selector string) (n int) {
	r.b.t.Helper()
	n = r.b.shortcut(shortcut)
	keys := value[int](r.b, stops+"("+strconv.Quote(selector)+")")
	if keys < 0 {
		r.b.t.Fatalf("a screen reader finds no %s", selector)
	}
	return n + keys
}

func (r reader) press(shortcut, selector string) int {
	n := r.reach(shortcut, selector)
	r.b.settled()
	r.b.press(kb.Enter)
	return n + 1
}

func (r reader) types(shortcut, selector, text string) int {
	n := r.reach(shortcut, selector)
	r.b.types(text)
	return n
}

func (r reader) sends(field, _ string) int { return r.b.sends(field) }

// pointer is somebody who presses what they see, and scrolls to what they do not see: a screen at a time, less a fifth.
type pointer struct {
	b     *tab
	touch bool
}

// scroll shows an element whole, and returns how many turns of the wheel or swipes that takes, and where to press it.
const scroll = `((wanted) => {
	const e = document.querySelector(wanted), at = e.getBoundingClientRect(), room = 8;
	const far = at.top < 0 ? at.top - room : Math.max(0, at.bottom + room - innerHeight);
	scrollBy({ top: far, behavior: "instant" });
	const now = e.getBoundingClientRect();
	const x = now.left + Math.min(now.width / 2, 40), y = now.top + Math.min(now.height / 2, 12);
	const hit = document.elementFromPoint(x, y);
	return hit && (e.contains(hit) || hit.contains(e)) ? [Math.ceil(Math.abs(far) / (innerHeight * 0.8)), x, y] : [-1, x, y];
})`

func (p pointer) press(_, selector string) int {
	p.b.t.Helper()
	p.b.settled()
	at := value[[]float64](p.b, scroll+"("+strconv.Quote(selector)+")")
	if at[0] < 0 {
		p.b.t.Fatalf("%s cannot be pressed at %.0f, %.0f", selector, at[1], at[2])
	}
	p.b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if p.touch {
			return tap(ctx, at[1], at[2])
		}
		return click(ctx, at[1], at[2])
	}))
	return int(at[0]) + 1
}

func (p pointer) types(_, selector, text string) int {
	n := p.press("", selector)
	p.b.types(text)
	return n
}

func (p pointer) sends(_, button string) int { return p.press("", button) }

func tap(ctx context.Context, x, y float64) error {
	_, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: "touchStart", TouchPoints: []*input.TouchPoint{{X: x, Y: y}}})
	if err == nil {
		_, err = chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: "touchEnd", TouchPoints: []*input.TouchPoint{}})
	}
	return err
}

func click(ctx context.Context, x, y float64) error {
	for _, kind := range []input.DispatchMouseEventType{"mousePressed", "mouseReleased"} {
		_, err := chromedp.Call(ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: "left", ClickCount: 1})
		if err != nil {
			return err
		}
	}
	return nil
}

// TestFivePeople: five people, each in their own way, start an agent, answer two questions, take an accept back, stop another
// session, find out what happened before they came, and start an agent by a form of its own. They need at most the keys and taps in docs/accessibility.md.
func TestFivePeople(t *testing.T) {
	t.Parallel()
	most := countsOf(t)
	for name, person := range map[string]struct {
		width, height int64
		scale         float64
		hand          func(b *tab) hand
	}{
		"sighted, in a hurry": {1280, 800, 1, func(b *tab) hand { return pointer{b: b} }},
		"keyboard only":       {1280, 800, 1, func(b *tab) hand { return keyboard{b} }},
		"screen reader":       {1280, 800, 1, func(b *tab) hand { return reader{b} }},
		"at 400 percent":      {320, 256, 4, func(b *tab) hand { return pointer{b: b} }},
		"phone, one thumb":    {360, 640, 3, func(b *tab) hand { return pointer{b: b, touch: true} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepare(t, 4)
			s.args = []string{"--nats-listen", "127.0.0.1:0"} // for the agent with a form
			s.start()
			must(t, s.command("set", "undo-time", "2m").Run())
			b := s.login()
			b.t = t
			b.emulate(person.width, person.height, person.scale)
			h := person.hand(b)
			if p, is := h.(pointer); is && p.touch {
				b.touches()
			}
			slack := 0
			if _, is := h.(pointer); is {
				slack = 1 // how far something is depends on the fonts of the machine
			}
			took := s.day(b, h)
			for task, n := range took {
				if n > most[name][task]+slack {
					t.Errorf("%s, %s: it takes %d; docs/accessibility.md says %d", name, task, n, most[name][task])
				}
				t.Logf("%s: %d", task, n)
			}
		})
	}
}

// touches has the browser be one of a device with a touch screen.
func (b *tab) touches() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 1})
		return err
	}))
}

// day is what the person does, and what each task takes.
func (s *server) day(b *tab, h hand) map[string]int {
	s.t.Helper()
	took := map[string]int{}
	past := s.rejected(b, 1)
	s.ended(past)
	b.visit("/")
	b.connected()

	took[taskStart] = h.types("n", "#start-request", "Find what I have twice.") + h.sends("#start-request", "#start button")
	b.until(`document.readyState === "complete" && location.hash === "#session-heading" && document.querySelector("#question-2")`)
	b.connected()
	took[taskNo] = h.press("q", "form[action='/questions/2/reject'] button")
	b.hears("Recorded: question 2 is rejected")
	b.focusIs("#notice-text")

	s.turn(2)
	b.until(`document.querySelector("#question-3")`)
	took[taskYes] = h.press("q", "form[action='/questions/3/accept'] button")
	b.hears("Recorded: question 3 is accepted")
	b.focusIs("button Undo the yes to question 3")
	b.settled()
	took[taskUndo] = h.press("", "#notice form[action='/questions/3/undo'] button")
	b.until(`document.getElementById("notice-text").textContent === "Recorded: the yes to question 3 is taken back. Nothing was done."`)
	b.focusIs("#notice-text")

	last := s.turn(3)
	b.until(`document.querySelector("#question-4") && document.querySelector("form[action='/sessions/` + last + `/stop'] button")`)
	took[taskStop] = h.press("a", "form[action='/sessions/"+last+"/stop'] button")
	b.until(`document.getElementById("notice-text").textContent.startsWith("Stopping.")`)
	b.focusIs("#notice-text")
	s.ended(last)

	took[taskPast] = h.press("", "#sessions a[href^='/?session="+past+"']")
	b.until(`document.readyState === "complete" && document.querySelector("#session").innerText.includes("Question 1 was rejected")`)
	for n := range 4 {
		if !s.left(n + 1) {
			s.t.Errorf("the duplicate in folder %d is gone", n+1)
		}
	}
	took[taskForm] = s.fillsIn(b, h)
	return took
}

// fillsIn starts an agent that takes arguments by the form of its own. What is typed is a name and a number.
func (s *server) fillsIn(b *tab, h hand) (took int) {
	s.t.Helper()
	if said, code := s.terminal("credential", "add", asker, "--role", "agent"); code != 0 {
		s.t.Fatal(said)
	}
	s.defineAsker()
	b.visit("/")
	b.connected()
	took = h.press("n", "#start a[href='/start/"+asker+"']")
	b.until(`document.readyState === "complete" && document.querySelector("#arg-dG8")`)
	took += h.types("", "#request", "Write to Ada.") + h.types("", "#arg-dG8", "Ada") + h.types("", "#arg-Y29waWVz", "3") + h.press("", "main form button")
	b.until(`document.readyState === "complete" && location.hash === "#session-heading" && document.querySelector("#session").innerText.includes("Write to Ada.")`)
	return took
}

// countsOf reads the table of docs/accessibility.md: person, task, keys or taps.
func countsOf(t *testing.T) map[string]map[string]int {
	t.Helper()
	raw, err := os.ReadFile("../../../../docs/accessibility.md")
	must(t, err)
	tasks := []string{taskStart, taskNo, taskYes, taskUndo, taskStop, taskPast, taskForm}
	all := map[string]map[string]int{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != len(tasks)+2 || !regexp.MustCompile(`^\d+$`).MatchString(cells[1]) {
			continue
		}
		row := map[string]int{}
		for i, task := range tasks {
			n, err := strconv.Atoi(cells[i+1])
			if err != nil {
				t.Fatal(fmt.Errorf("docs/accessibility.md, %s: %w", cells[0], err))
			}
			row[task] = n
		}
		all[cells[0]] = row
	}
	if len(all) != 5 {
		t.Errorf("docs/accessibility.md counts for %q", slices.Sorted(maps.Keys(all)))
	}
	return all
}
