package browser_test

import (
	"strings"
	"testing"
)

// TestGuardFollowsTheLayout: a question is answered elsewhere and goes, so that the next
// one's button comes to where the pointer is. A press in that moment accepts nothing.
func TestGuardFollowsTheLayout(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.login()
	s.turn(1)
	b.hears("Question 1")
	s.turn(2)
	b.hears("Question 2")
	b.until(`document.querySelector("#question-2")`)
	b.settled()
	value[bool](b, `(() => {
		const button = document.querySelector('form[action="/questions/2/accept"] button');
		new MutationObserver(() => {
			if (document.querySelector("#question-1") || window.pressed) return;
			window.pressed = true;
			requestAnimationFrame(() => {
				button.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
				button.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
			});
		}).observe(document.querySelector("#questions ol"), { childList: true });
		return true;
	})()`)
	s.terminal("reply", "1", "reject")
	b.until(`window.pressed`)
	b.hears("Question 1")
	b.settled()
	if said := strings.Join(b.said(), "\n"); strings.Contains(said, "yes to question 2") {
		t.Errorf("a press on a button that had just moved was taken:\n%s", said)
	}
	if open := s.questions(); len(open) != 1 || open[0].Number != 2 {
		t.Errorf("open are %+v; question 2 is to be", open)
	}
}

// TestLossIsSaid: anyone who cannot see that the connection is lost is told, once.
func TestLossIsSaid(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.hears("Question 1")
	s.kill()
	b.hears("The connection is lost. Questions may be waiting.")
}

// TestSecondPress: the button that takes a yes back has the focus once the yes is recorded, and a press that comes with it, such
// as the second one of a key that was pressed twice, takes nothing back.
func TestSecondPress(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.toQuestion("1")
	value[bool](b, `(() => {
		document.addEventListener("focusin", ({ target }) => {
			if (!target.closest("#notice-undo") || window.pressed) return;
			window.pressed = true;
			target.click();
		});
		return true;
	})()`)
	b.acts("Accept question 1")
	b.hears("Not taken: Undo had only just appeared or changed. Press again to take the yes back.")
	s.ended(session)
	if s.left(1) {
		t.Error("the yes was taken back by a press that was meant for something else")
	}
}
