package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestReject: no mouse, one Tab after another, and the files stay.
func TestReject(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.toQuestion("1")
	b.acts("Reject question 1")
	b.focusIs("#notice-text")
	b.hears("polite: Recorded: question 1 is rejected. It is not done.")
	s.ended(session)
	b.hears("Finished.")
	if !s.left(1) {
		t.Error("the duplicate is gone")
	}
}

// TestAcceptAndUndo: after the yes the focus lies on the button that takes it back. That it is taken back is said once, on each page.
func TestAcceptAndUndo(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	other := b.beside()
	other.connected()
	session := s.turn(1)
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.focusIs("button Undo the yes to question 1")
	if text := value[string](b, `document.getElementById("notice-text").textContent`); text != "Recorded: question 1 is accepted." {
		t.Errorf("the notice is %q", text)
	}
	b.settled()
	b.press(kb.Enter)
	b.until(`document.getElementById("notice-text").textContent === "Recorded: the yes to question 1 is taken back. Nothing was done."`)
	b.focusIs("#notice-text")
	s.ended(session)
	const over = "polite: The work was stopped."
	b.hears(over)
	if !s.left(1) {
		t.Error("the duplicate is gone")
	}
	since := func(b *tab) (said []string) {
		for _, line := range b.said() {
			if said = append(said, line); strings.Contains(line, "question 1 is accepted") {
				said = said[:0]
			}
		}
		return said
	}
	if said := since(b); !slices.Equal(said, []string{over}) { // the focus has led to the rest
		t.Errorf("where the yes was taken back, the page says %q", said)
	}
	other.hears(over)
	if said := since(other); !slices.Equal(said, []string{"polite: Recorded: the yes to question 1 is taken back. Nothing was done.", over}) {
		t.Errorf("another page of the same person says %q", said)
	}
}

// TestMoreTime asks for more time: the deadline moves, the question stays where it was,
// open, with the focus on its button, and it is not asked again aloud as if it were new.
func TestMoreTime(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	before := s.questions()[0].Deadline
	b.acts("More time for question 1")
	b.hears("assertive: Question 1 has more time. Answer by ")
	after := s.questions()
	if len(after) != 1 || after[0].Number != 1 || after[0].Deadline <= before {
		t.Fatalf("the questions are %+v; the deadline was %s", after, before)
	}
	b.until(`document.querySelector("#question-1 time").getAttribute("datetime") > "` + before + `"`)
	b.until(`document.getElementById("notice-text").textContent === "Recorded: question 1 has more time."`)
	b.focusIs("button More time for question 1")
	if said := strings.Join(b.said(), "\n"); strings.Contains(said, "has changed") {
		t.Errorf("nothing that is shown has changed, and the page said\n%s", said)
	}
	b.acts("Reject question 1")
	b.hears("Recorded: question 1 is rejected")
	t.Logf("%q", b.said())
}

// TestStop stops the session that is shown.
func TestStop(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.hears("Question 1")
	b.until(`document.getElementById("session-stop")`)
	b.accessKey("s")
	b.focusIs("#session-heading")
	b.acts("Stop this session")
	b.focusIs("#notice-text")
	s.ended(session)
	b.hears("assertive: ")
	b.until(`!document.getElementById("session-stop")`)
	b.until(`!document.querySelector("[data-question]")`)
	if !s.left(1) {
		t.Error("the duplicate is gone")
	}
	t.Logf("%q", b.said())
}

// TestAccessKeyAtOnce: the focus is on the heading when the key that leads to it has been handled. What a person types next is not torn in
// two by a focus that moves later.
func TestAccessKeyAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	for letter, heading := range map[string]string{"q": "questions", "n": "start", "a": "sessions", "s": "session", "w": "whereami"} {
		if focus := value[string](b, `(() => {
			document.activeElement.blur();
			document.querySelector("header a[accesskey=`+letter+`]").click();
			return document.activeElement.id;
		})()`); focus != heading+"-heading" {
			t.Errorf("after the key %s the focus is on %q", letter, focus)
		}
	}
	if !value[bool](b, `document.querySelector("#start details").open`) {
		t.Error("the start box is shut")
	}
}

// TestTooSoon: a press within 700 ms of a change decides nothing, and that is said.
func TestTooSoon(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	b.tabToButton("Accept question 1")
	// Two presses in the question's first moments: the page's own clock is what counts, and stands where it was then.
	value[bool](b, `(() => {
		const question = document.getElementById("question-1");
		performance.now = () => 0;
		question.querySelector('form[action$="/accept"] button').click();
		question.querySelector("form").requestSubmit();
		return delete performance.now;
	})()`)
	b.hears("polite: Not taken: the question had only just appeared or changed.")
	if open := s.questions(); len(open) != 1 {
		t.Fatalf("open are %+v", open)
	}
	b.settled()
	b.acts("Accept question 1")
	b.hears("Recorded: question 1 is accepted")
}

// TestEscape: it decides nothing, wherever the focus is.
func TestEscape(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	for _, where := range []string{"the answers", "Reject", "Accept", "More time", "the details"} {
		if where != "the answers" {
			b.press(kb.Tab)
		}
		before := b.focus()
		b.press(kb.Escape)
		b.press(kb.Escape)
		if after := b.focus(); after != before {
			t.Errorf("Escape led from %s to %s", before, after)
		}
	}
	if open := s.questions(); len(open) != 1 {
		t.Errorf("after Escape open are %+v", open)
	}
}

// TestArrivalLeavesTheFocus: whatever comes, is answered elsewhere or ends, the focus
// stays where the person put it, also on what is drawn again.
func TestArrivalLeavesTheFocus(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.login()
	first := s.turn(1)
	b.until(`document.querySelector("#sessions-lists a")`)
	b.tabTo("#sessions-lists a")
	b.hears("Question 1")
	link := `document.activeElement.getAttribute("href")`
	mine := value[string](b, link)
	if !strings.Contains(mine, first) {
		t.Fatalf("the focus is on %q", mine)
	}
	second := s.turn(2)
	b.hears("Question 2")
	b.until(`document.querySelectorAll("[data-question]").length === 2`)
	if now := value[string](b, link); now != mine {
		t.Errorf("a question that came has led the focus to %q", now)
	}
	if out, code := s.terminal("reply", "2", "reject"); code != 0 {
		t.Fatal(out)
	}
	s.ended(second)
	b.hears("Finished.")
	if now := value[string](b, link); now != mine {
		t.Errorf("an end has led the focus to %q", now)
	}

	// A question under the focus that is answered elsewhere: the focus goes to the
	// nearest heading, for it would be nowhere.
	b.toQuestion("1")
	b.tabToButton("Accept question 1")
	if out, code := s.terminal("reply", "1", "reject"); code != 0 {
		t.Fatal(out)
	}
	b.focusIs("#questions-heading")
}

// toArguments leads from the answers of a question to the page of all of its arguments.
func (b *tab) toArguments(n string) {
	b.t.Helper()
	b.tabTo("#question-" + n + " summary")
	b.press(kb.Enter)
	b.tabTo("#question-" + n + " details a")
	b.press(kb.Enter)
}

// TestArguments reads everything that a question is about, and comes back.
func TestArguments(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	b.toArguments("1")
	b.until(`document.readyState === "complete" && document.title.startsWith("Arguments of question 1")`)
	text := plain(value[string](b, "document.body.innerText"))
	if !strings.Contains(text, s.folder+"/1") || !strings.Contains(text, "second.txt") {
		t.Errorf("the arguments are\n%s", text)
	}
	b.tabTo("main a")
	b.press(kb.Enter)
	b.connected()
	if hash := value[string](b, "location.hash"); hash != "#question-1" {
		t.Errorf("it leads back to %q", hash)
	}
	b.toQuestion("1")
	b.acts("Reject question 1")
	b.hears("Recorded: question 1 is rejected")
}

// TestWrongCode: it is said, next to the field that has the focus's turn.
func TestWrongCode(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.open()
	b.tabTo("#code")
	b.types("AAAA-AAAA")
	b.press(kb.Enter)
	b.until(`document.getElementById("code-error")`)
	if title := value[string](b, "document.title"); !strings.HasPrefix(title, "Not logged in") {
		t.Errorf("the title is %q", title)
	}
	if at := value[string](b, "document.activeElement.id"); at != "code" {
		t.Errorf("the focus is on %q, expected the field, which says first what is wrong", at)
	}
	b.types(strings.ReplaceAll(s.newCode(), "-", " "))
	b.press(kb.Enter)
	b.connected()
	b.tabToButton("Log out")
	b.press(kb.Enter)
	b.until(`location.pathname === "/login"`)
	b.visit("/")
	b.until(`location.pathname === "/login"`)
}
