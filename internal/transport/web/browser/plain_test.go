package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// plainTab opens a tab without scripts, and logs in by keyboard.
func (s *server) plainTab() *tab {
	s.t.Helper()
	b := s.open()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.visit("/")
	b.tabTo("#code")
	b.types(s.newCode())
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && location.pathname === "/" && document.body.innerText.includes("Scripts are off.")`)
	return b
}

func (b *tab) notice(want string) {
	b.t.Helper()
	b.until(`document.readyState === "complete" && location.hash === "#notice" && document.getElementById("notice-text").textContent === ` + "`" + want + "`")
}

// TestWithoutScripts: every act works by forms, and what became of it is on the page.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	s := serve(t, 4)
	b := s.plainTab()
	await := func(n int) {
		within(t, "a question is open", func() (bool, error) {
			open := s.questions()
			return len(open) == 1 && open[0].Number == n, nil
		})
		b.reload()
	}
	first := s.turn(1)
	await(1)
	b.acts("More time for question 1")
	b.notice("Recorded: question 1 has more time.")
	b.acts("Reject question 1")
	b.notice("Recorded: question 1 is rejected.")
	s.ended(first)
	second := s.turn(2)
	await(2)
	must(t, s.command("set", "undo-time", "2m").Run()) // a machine may take longer than usual between the accept and what takes it back
	b.acts("Accept question 2")
	b.notice("Recorded: question 2 is accepted.")
	b.acts("Undo the yes to question 2")
	b.notice("Recorded: the yes to question 2 is taken back. Nothing was done.")
	s.ended(second)
	must(t, s.command("set", "undo-time", "3s").Run())
	third := s.turn(3)
	await(3)
	b.acts("Accept question 3")
	b.notice("Recorded: question 3 is accepted.")
	s.ended(third)
	fourth := s.turn(4)
	await(4)
	b.visit("/?session=" + fourth)
	b.acts("Stop this session")
	b.notice("Stopping. No further step is taken; what had already happened will be said.")
	s.ended(fourth)
	b.reload()
	if text := value[string](b, `document.getElementById("questions-heading").textContent`); text != "Questions: none open" {
		t.Errorf("at the end the page says %q", text)
	}
	for n, left := range map[int]bool{1: true, 2: true, 3: false, 4: true} {
		if s.left(n) != left {
			t.Errorf("folder %d has its duplicate: %v", n, !left)
		}
	}
	if said := b.said(); len(said) != 0 {
		t.Errorf("without scripts a live region said %q", said)
	}
}
