package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/earshot-dev/earshot/worker"
)

// besideFocus demands that the focus is where it is to be, with a reason beside it that describes
// it.
func (b *tab) besideFocus(focus, reason string) {
	b.t.Helper()
	b.focusIs(focus)
	b.until(fmt.Sprintf(`(() => {
		const reason = document.getElementById(document.activeElement.getAttribute("aria-describedby"));
		return reason !== null && reason.closest("form") === document.activeElement.closest("form") && reason.textContent === %q;
	})()`, reason))
}

// TestFailedPress: what keeps a press from counting is said, stands beside its button, and leaves
// the focus there; once it counts, the reason is gone.
func TestFailedPress(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	b.tabToButton("Accept question 1")
	swap := func(token string) string {
		return value[string](b, fmt.Sprintf(`(() => {
			const fields = document.querySelectorAll("#question-1 [name=token]");
			const before = fields[0].value;
			for (const field of fields) field.value = %q;
			return before;
		})()`, token))
	}
	token := swap("rpl_00000000000000000000000000000000")
	b.press(kb.Enter)
	const reason = "Question 1 is not open any more, or has been asked again. Nothing was recorded."
	b.hears("assertive: " + reason)
	b.besideFocus("button Accept question 1", reason)
	b.accessible(axe, "a press that failed")
	swap(token)
	b.press(kb.Enter)
	b.hears("Recorded: question 1 is accepted")
	b.focusInNotice()
	if n := value[int](b, `document.querySelectorAll(".reason").length`); n != 0 {
		t.Errorf("%d reasons are left", n)
	}
}

// TestUndoThatFails: a yes that could not be taken back this time is offered to be taken back still.
func TestUndoThatFails(t *testing.T) {
	t.Parallel()
	s := prepare(t, 1)
	policy := filepath.Join(s.home, "policy.yaml")
	must(t, os.WriteFile(policy, []byte("rules:\n  - tool: files.delete\n    decide: ask\n    start_within: 10m\n    undo: 5m\n"), 0o600))
	s.args = []string{"--policy", policy}
	s.start()
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.focusIs("button Undo the yes to question 1")
	b.hears("Starts in 5 minutes") // by then the stream has offered to take it back, too, and does not do so again
	b.settled()
	swap := `((action) => { document.getElementById("notice-undo").action = action; return true; })`
	value[bool](b, swap+`("/questions/99/undo")`)
	b.press(kb.Enter)
	const reason = "Question 99 is not open any more, or has been asked again. Nothing was recorded."
	b.hears("assertive: " + reason)
	b.besideFocus("button Undo the yes to question 1", reason)
}

// TestPressWithoutAServer: a press that reaches nobody is told as a failed one is.
func TestPressWithoutAServer(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	s.kill()
	b.acts("Accept question 1")
	const reason = "The server did not answer, so it is not known whether this arrived. Try again when the connection is back."
	b.hears("assertive: " + reason)
	b.besideFocus("button Accept question 1", reason)
}

// TestWrongAnswer: an answer of another kind than was asked for is told with what is expected; what
// was typed and the focus stay, and the next answer counts.
func TestWrongAnswer(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serveAgent(t, asks(worker.Question{Text: "How many?", Kinds: []worker.Kind{worker.ANumber}}))
	b := s.login()
	session := s.begin(asker, "count", nil)
	b.toQuestion("1")
	b.tabTo("#question-1-response")
	b.types("twelve")
	b.press(kb.Enter)
	const reason = "Question 1 is still open; it expects a number, such as 12 or 3.5; nothing was recorded."
	b.hears("assertive: " + reason)
	b.besideFocus("#question-1-response", reason)
	if typed := value[string](b, `document.activeElement.value + " " + document.activeElement.getAttribute("aria-invalid")`); typed != "twelve true" {
		t.Errorf("the field holds %q", typed)
	}
	b.accessible(axe, "a wrong answer")
	b.press("a", chromedp.ModifierCtrl)
	b.types("12")
	b.press(kb.Enter)
	b.hears("Recorded: question 1 is answered")
	b.focusIs("#notice-text")
	s.ended(session)
}

// TestMoreTimeKeepsTyping: more time, given from here or from elsewhere, leaves what is typed and
// the focus as they are.
func TestMoreTimeKeepsTyping(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, asks(worker.Question{Text: "What is it about?"}))
	b := s.login()
	session := s.begin(asker, "ask", nil)
	b.toQuestion("1")
	b.tabTo("#question-1-response")
	b.types("half an ")
	deadline := `document.querySelector("#question-1 time").getAttribute("datetime")`
	before := value[string](b, deadline)
	if out, code := s.terminal("extend", "1"); code != 0 {
		t.Fatal(out)
	}
	b.until(deadline + ` > "` + before + `"`)
	b.focusIs("#question-1-response")
	b.types("answer")
	before = value[string](b, deadline)
	b.acts("More time for question 1")
	b.until(deadline + ` > "` + before + `"`)
	b.focusIs("button More time for question 1")
	for range 2 { // back over the button that answers
		b.press(kb.Tab, chromedp.ModifierShift)
	}
	b.focusIs("#question-1-response")
	b.press(kb.Enter)
	b.hears("Recorded: question 1 is answered")
	s.ended(session)
	b.until(`document.body.innerText.includes('"half an answer"')`)
	if said := strings.Join(b.said(), "\n"); strings.Contains(said, "has changed") || strings.Count(said, "has more time") != 2 {
		t.Errorf("the page said\n%s", said)
	}
}

// TestChangedQuestion: where anything that is shown of a question changes, that is said, and the
// focus leaves its controls for its heading.
func TestChangedQuestion(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	b.tabToButton("Accept question 1")
	s.kill()
	s.folder = t.TempDir() // its turn stays parked: a yes would start nothing
	s.start()
	b.hears("assertive: Question 1 has changed. Read it again before you answer it.")
	b.focusIs("#question-1-heading")
	if text := value[string](b, `document.querySelector("#question-1").textContent`); !strings.Contains(text, "Parked") || strings.Contains(text, "accept question 1") {
		t.Errorf("the question is %q", text)
	}
}
