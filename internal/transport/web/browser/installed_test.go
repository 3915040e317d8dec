package browser_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestInstalled: a browser can install the page. Where the server cannot be reached it says since when nothing is known,
// and shows the page again once the server is back.
func TestInstalled(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	axe := axeCore(t)
	b.until(`navigator.serviceWorker.controller`)
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		found, err := chromedp.Call(ctx, page.GetInstallabilityErrors, struct{}{})
		for _, one := range found.InstallabilityErrors {
			if one.ErrorID != "in-incognito" { // which every tab of these tests is
				t.Errorf("it cannot be installed: %s", one.ErrorID)
			}
		}
		return err
	}))
	s.kill()
	b.visit("/")
	b.until(`document.querySelector("h1")?.textContent === "Earshot cannot be reached"`)
	b.until(`/^This browser last heard from it on \w+day, \w+ \d+ at \d\d:\d\d /.test(document.getElementById("heard").textContent)`)
	b.accessible(axe, "the page without a server")
	if kept := value[[]string](b, `caches.open("earshot-shell").then((c) => c.keys()).then((all) => all.map((r) => new URL(r.url).pathname).sort())`); strings.Join(kept, " ") !=
		"/page/mark.svg /page/offline /page/offline.js" {
		t.Errorf("the browser keeps %v", kept)
	}
	s.start()
	b.connected()
}

// watchNotifications keeps what the page has shown and not taken back. A browser without a desktop forgets by itself what it
// has shown, so it cannot be asked; it is shown there all the same.
const watchNotifications = `(() => {
	window.notified = new Map();
	const registration = ServiceWorkerRegistration.prototype;
	const show = registration.showNotification;
	registration.showNotification = async function (title, options) {
		await show.call(this, title, options);
		notified.set(options.tag, title + "|" + (options.body ?? ""));
	};
	registration.getNotifications = async ({ tag }) => notified.has(tag) ? [{ close: () => notified.delete(tag) }] : [];
	return true;
})()`

// TestAlerts: what a person has turned on comes while they look elsewhere, and tells of a question no more than they
// wanted. It goes when the question does.
func TestAlerts(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.login()
	axe := axeCore(t)
	b.until(`navigator.serviceWorker.controller`)
	const icon = `document.querySelector("link[rel=icon]").getAttribute("href")`
	b.until(icon + ` === "/page/mark.svg"`)

	b.visit("/alerts")
	b.until(`!document.getElementById("alerts").hidden`)
	b.accessible(axe, "sounds and notifications")
	b.notifications(browser.PermissionSettingDenied)
	b.tabTo("#alert-notify")
	b.press(" ")
	b.until(`document.getElementById("alerts-said").textContent.startsWith("This browser does not allow notifications")`)
	b.until(`!document.getElementById("alert-notify").checked`)
	b.notifications(browser.PermissionSettingGranted)
	b.press(" ")
	b.until(`document.getElementById("alerts-said").textContent === "Notification when a question comes: on."`)
	b.tabTo("#alert-sound")
	b.press(" ")
	const listen = `(() => { window.tones = 0; const real = OscillatorNode.prototype.start;
		OscillatorNode.prototype.start = function (...at) { window.tones++; return real.apply(this, at); }; return true; })()`
	value[bool](b, listen)
	b.tabToButton("Play the sound of a question")
	b.press(kb.Enter)
	b.until(`tones === 2`)

	b.visit("/")
	b.connected()
	value[bool](b, listen)
	value[bool](b, watchNotifications)
	value[bool](b, `(document.hasFocus = () => false, true)`)
	session := s.turn(1)
	const shown = `[...notified].map(([tag, text]) => tag + ": " + text).join()`
	within(t, "a notification of the question", func() (bool, error) {
		got, err := tryValue[string](b, shown)
		return got == "question-1: A question waits for you|", err
	})
	b.until(`tones === 2`)
	b.until(icon + ` === "/page/waiting.svg"`)
	b.toQuestion("1")
	b.acts("Reject question 1")
	s.ended(session)
	b.until(icon + ` === "/page/mark.svg"`)
	within(t, "the notification is gone", func() (bool, error) {
		got, err := tryValue[string](b, shown)
		return got == "", err
	})

	value[bool](b, `(() => {
		const on = JSON.parse(localStorage.getItem("earshot.alerts"));
		localStorage.setItem("earshot.alerts", JSON.stringify({ ...on, words: true, sound: false })); // as on the page of alerts
		return true;
	})()`)
	s.turn(2)
	within(t, "a notification with the question's words", func() (bool, error) {
		got, err := tryValue[string](b, shown)
		return strings.Contains(got, "question-2: A question waits for you|") && strings.Contains(got, "Question 2"), err
	})
	if tones := value[int](b, `tones`); tones > 3 { // the two of the first question, and the end of its session
		t.Errorf("%d tones were played", tones)
	}
}

// notifications has a person allow the page's notifications, or not.
func (b *tab) notifications(to browser.PermissionSetting) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: to, Origin: b.server.page,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	}))
}
