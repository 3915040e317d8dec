package browser_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "folder that screenshots of the page are written to")

// shot writes a screenshot of the whole page, where they are wanted.
func (b *tab) shot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	const png = 100
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	image, err := chromedp.Run(ctx, chromedp.FullScreenshot(png))
	must(b.t, err)
	b.keep(name, image)
}

// view writes a screenshot of what stands in the window, where screenshots are wanted.
func (b *tab) view(name string, width, height int64, look ...string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	b.emulate(width, height, 1)
	b.media(look)
	b.window(name)
}

// window writes a screenshot of what stands in the window as it is, where screenshots are wanted.
func (b *tab) window(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	value[bool](b, `(scrollTo(0, 0), document.activeElement.blur(), true)`)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	b.keep(name, image)
}

// keep writes a screenshot into the folder of screenshots, which it makes where there is none.
func (b *tab) keep(name string, image []byte) {
	b.t.Helper()
	must(b.t, os.MkdirAll(*shots, 0o700))
	must(b.t, os.WriteFile(filepath.Join(*shots, name+".png"), image, 0o600))
}

// TestScreens goes through the states of the page in each look, and writes them down where that is wanted:
//
//	go test ./internal/transport/web/browser -run TestScreens -shots FOLDER
func TestScreens(t *testing.T) {
	t.Parallel()
	s := serveMail(t, "--nats-listen", "127.0.0.1:0") // for the agent with a form
	must(t, s.command("set", "undo-time", "60s").Run())
	b := s.login()
	screens := func(state string) {
		t.Helper()
		for _, size := range []struct {
			name          string
			width, height int64
		}{{"wide", 1280, 800}, {"phone", 320, 640}} {
			b.emulate(size.width, size.height, 1)
			for name, look := range map[string][]string{
				"light": {"prefers-color-scheme", "light"}, "dark": {"prefers-color-scheme", "dark"}, "forced": {"forced-colors", "active"}, "contrast": {"prefers-contrast", "more"},
			} {
				b.media(look)
				b.narrow(state + ", " + size.name + ", " + name)
				b.shot(state + "-" + size.name + "-" + name)
			}
		}
		b.media(nil)
		b.emulate(1024, 768, 1)
	}
	screens("empty")
	first := s.turn(1)
	b.toQuestion("1")
	b.acts("Reject question 1")
	s.ended(first)
	b.hears("Finished.")
	s.mail("friends@example.org", "Saturday", letter("friends@example.org", "Saturday"))
	keys := s.mail("maria@example.org", "keys", "The keys are back.")
	b.until(`document.querySelectorAll("[data-question]").length === 2`)
	b.reload()
	b.connected()
	screens("waiting")
	b.view("page", 1100, 640, "prefers-color-scheme", "light")
	b.view("page-phone", 320, 640, "prefers-color-scheme", "dark")
	b.media(nil)
	b.emulate(1024, 768, 1)
	b.toQuestion("3")
	b.acts("Accept question 3")
	b.focusInNotice()
	screens("accepted")
	b.visit("/questions/together")
	screens("together")
	b.visit("/sessions")
	screens("sessions")
	b.visit("/questions/2/arguments")
	screens("arguments")
	if said, code := s.terminal("credential", "add", asker, "--role", "agent"); code != 0 {
		t.Fatal(said)
	}
	s.defineAsker()
	b.visit("/start/" + asker)
	b.until(`document.querySelector("h1").textContent === "Start The asker"`)
	screens("form")
	b.visit("/sessions/" + keys)
	screens("session")
	b.view("page-session", 1000, 760, "prefers-color-scheme", "dark")
	b = s.open()
	screens("login")
}
