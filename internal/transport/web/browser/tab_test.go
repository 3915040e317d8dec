package browser_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is one tab of a browser. Those that a test opens share nothing, not even the login, but for those that it opens beside one.
type tab struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // chromedp keeps a tab in its context
	server *server
}

// observe writes down, over reloads too, what the live regions said and where the focus
// went. It is the test's, not the page's.
const observe = `(() => {
  const note = (name, text) => {
    try {
      const all = JSON.parse(sessionStorage.getItem("observed." + name) ?? "[]");
      sessionStorage.setItem("observed." + name, JSON.stringify([...all, text]));
    } catch { /* about:blank has no storage */ }
  };
  const named = (e) => e.id ? "#" + e.id : e.closest("[id]") ? "#" + e.closest("[id]").id + " " + e.localName : e.localName;
  document.addEventListener("DOMContentLoaded", () => {
    const observer = new MutationObserver((changes) => {
      for (const change of changes) {
        const region = change.target.parentElement.closest("#live-polite, #live-assertive") ?? change.target;
        if (region !== change.target) note("said", "changed: " + region.textContent);
        for (const line of change.addedNodes) note("said", region.id.slice(5) + ": " + line.textContent);
      }
    });
    for (const region of document.querySelectorAll("#live-polite, #live-assertive")) {
      observer.observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  document.addEventListener("focusin", (event) => note("focus", named(event.target)), true);
})()`

// virtual has the page's long waits pass by the test's own clock: by pass(ms), and not otherwise.
// A loaded machine is then no silent server.
const virtual = `(() => {
  const real = window.setTimeout.bind(window), forget = window.clearTimeout.bind(window);
  const waits = new Map();
  let now = 0, last = 0;
  window.setTimeout = (f, ms = 0, ...args) => {
    if (ms < 20000) return real(f, ms, ...args);
    waits.set(--last, { at: now + ms, f: () => f(...args) });
    return last;
  };
  window.clearTimeout = (id) => { if (!waits.delete(id)) forget(id); };
  window.pass = (ms) => {
    now += ms;
    for (const [id, wait] of [...waits]) if (wait.at <= now && waits.delete(id)) wait.f();
    return true;
  };
})()`

// open opens a tab on the page.
func (s *server) open() *tab {
	s.t.Helper()
	return s.openIn("")
}

// openIn opens a tab on the page, of a browser in a time zone.
func (s *server) openIn(zone string) *tab {
	s.t.Helper()
	return s.tabOf(window, zone, chromedp.WithNewBrowserContext())
}

// beside opens another tab of the same browser on the page.
func (b *tab) beside() *tab {
	b.t.Helper()
	return b.server.tabOf(b.ctx, "")
}

func (s *server) tabOf(of context.Context, zone string, options ...chromedp.ContextOption) *tab {
	s.t.Helper()
	ctx, closeTab := chromedp.NewContext(of, options...)
	s.t.Cleanup(closeTab)
	b := &tab{t: s.t, ctx: ctx, server: s}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: observe + ";\n" + virtual})
		if err == nil && zone != "" {
			_, err = chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
		}
		return err
	}))
	b.emulate(1024, 768, 1)
	b.visit("/")
	return b
}

// beforeEach runs a script in each page that the tab opens from now on, before those of the page.
func (b *tab) beforeEach(script string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// passes lets time go by on the page.
func (b *tab) passes(d time.Duration) {
	b.t.Helper()
	value[bool](b, fmt.Sprintf("pass(%d)", d.Milliseconds()))
}

// login opens a tab and logs in, by keyboard.
func (s *server) login() *tab {
	s.t.Helper()
	return s.open().login()
}

func (b *tab) login() *tab {
	b.t.Helper()
	s := b.server
	b.tabTo("#code")
	b.types(s.newCode())
	b.press(kb.Enter)
	b.connected()
	return b
}

// connected waits until the page hears the server.
func (b *tab) connected() {
	b.t.Helper()
	b.until(`document.getElementById("connection")?.textContent === "Connected."`)
}

// do runs steps in the tab, each call bounded.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := b.try(steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) try(steps ...chromedp.Action[chromedp.Void]) error {
	if err := chromedp.Do(b.ctx); err != nil { // the tab's life is the context of the first call
		return fmt.Errorf("opening a tab: %w", err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.server.page + path))
}

func (b *tab) reload() {
	b.t.Helper()
	b.do(chromedp.Reload())
}

// value evaluates an expression.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := tryValue[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func tryValue[T any](b *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until an expression is true. While a page loads there is nothing to
// evaluate it in.
func (b *tab) until(expression string) {
	b.t.Helper()
	within(b.t, expression, func() (bool, error) {
		ok, err := tryValue[bool](b, "!!("+expression+")")
		if err != nil {
			return false, err
		}
		if !ok {
			text, _ := tryValue[string](b, `document.title + "\n" + document.body.innerText + "\nfocus: " + document.activeElement.outerHTML.slice(0, 200)`)
			return false, fmt.Errorf("the page is:\n%s\nsaid: %q", text, b.observed("said"))
		}
		return true, nil
	})
}

// plain takes out the marks that keep directions apart.
func plain(text string) string { return strings.NewReplacer("\u2068", "", "\u2069", "").Replace(text) }

func (b *tab) observed(name string) []string {
	lines, _ := tryValue[[]string](b, `JSON.parse(sessionStorage.getItem("observed.`+name+`") ?? "[]")`)
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return lines
}

// said is everything that the live regions have said in this tab, in order.
func (b *tab) said() []string { return b.observed("said") }

// hears waits until the live regions have said a text.
func (b *tab) hears(text string) {
	b.t.Helper()
	within(b.t, "it is said: "+text, func() (bool, error) {
		said := b.said()
		return strings.Contains(strings.Join(said, "\n"), text), fmt.Errorf("said: %q", said)
	})
}

// nameOf is the name of a control. An accept is called by its number here, whatever act its name begins with.
const nameOf = `((e) => e.textContent.trim().replace(/^[^]+, accept (question \d+)$/, "Accept $1"))`

// focus is the element that has the focus.
func (b *tab) focus() string {
	b.t.Helper()
	return value[string](b, `(e => e.id ? "#" + e.id : e.localName + (e.textContent ? " " + `+nameOf+`(e) : ""))(document.activeElement)`)
}

func (b *tab) focusIs(want string) {
	b.t.Helper()
	within(b.t, "the focus is on "+want, func() (bool, error) {
		now := b.focus()
		return now == want, fmt.Errorf("it is on %q", now)
	})
}

// focusInNotice waits until the focus is on what became of an act: the line, or while there is time the button that takes it back.
func (b *tab) focusInNotice() {
	b.t.Helper()
	b.until(`document.getElementById("notice").contains(document.activeElement)`)
}

func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// accessKey presses Alt and a letter.
func (b *tab) accessKey(letter string) {
	b.t.Helper()
	b.strikes(input.DispatchKeyEventParams{
		Modifiers: int64(chromedp.ModifierAlt), Key: letter, Text: letter, UnmodifiedText: letter, Code: "Key" + strings.ToUpper(letter), WindowsVirtualKeyCode: int64(strings.ToUpper(letter)[0]),
	})
}

// follows presses Enter on a link, as a keyboard does: Chromium swallows the character of a key that has been acted on, and otherwise the
// field that the link leads to would take it.
func (b *tab) follows() {
	b.t.Helper()
	b.strikes(input.DispatchKeyEventParams{Key: "Enter", Code: "Enter", Text: "\r", UnmodifiedText: "\r", WindowsVirtualKeyCode: 13})
}

// strikes sends the events of a key of a keyboard.
func (b *tab) strikes(key input.DispatchKeyEventParams) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, kind := range []input.DispatchKeyEventType{kb.KeyRawDown, kb.KeyChar, kb.KeyUp} {
			key.Type = kind
			_, err := chromedp.Call(ctx, input.DispatchKeyEvent, key)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

func (b *tab) types(text string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(text))
}

// tabTo presses Tab until the focus is on what a selector finds, as somebody does who
// has no mouse.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 600 { // a page of many open questions has as many stops
		if value[bool](b, `document.activeElement.matches(`+strconv.Quote(selector)+`)`) {
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("Tab does not lead to %s", selector)
}

// tabToButton presses Tab until the focus is on a button of that name.
func (b *tab) tabToButton(name string) {
	b.t.Helper()
	for range 80 {
		if value[string](b, `document.activeElement.localName + " " + `+nameOf+`(document.activeElement)`) == "button "+name {
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("Tab does not lead to the button %q:\n%s", name, value[string](b, "document.body.innerText"))
}

// settled waits until a question takes presses: 700 ms after it came or changed. The page's own clock says when that is.
func (b *tab) settled() {
	b.t.Helper()
	value[bool](b, `new Promise((done) => setTimeout(() => done(true), 720))`)
}

func (b *tab) emulate(width, height int64, scale float64) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale})
		return err
	}))
}
