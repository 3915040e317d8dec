package browser_test

import (
	"slices"
	"strings"
	"testing"
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

// TestFirstScreen: a question with 300 characters of arguments has both of its buttons on the first screen of a phone that is
// 320 pixels wide, and on the first two screens of a window at 400 percent. The buttons come after the last argument.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	const to, subject = "friends@example.org", "Saturday"
	s := serveMail(t)
	b := s.login()
	s.mail(to, subject, letter(to, subject))
	b.until(`document.querySelector("#question-1")`)
	for _, tt := range []struct {
		name                   string
		width, height, screens int64
	}{{"320 pixels", 320, 640, 1}, {"400 percent", 320, 256, 2}} {
		b.emulate(tt.width, tt.height, 1)
		b.reload()
		b.connected()
		for _, act := range []string{"reject", "accept"} {
			button := `form[action='/questions/1/` + act + `'] button`
			end, last := b.bottom(button), b.bottom(`#question-1 .values > div:last-child`)
			t.Logf("%s: %s ends at %d pixels, the arguments at %d", tt.name, act, end, last)
			if limit := int(tt.height * tt.screens); end > limit {
				t.Errorf("%s: %s ends at %d pixels; the limit is %d", tt.name, act, end, limit)
			}
			if top := end - value[int](b, `document.querySelector("`+button+`").offsetHeight`); top < last {
				t.Errorf("%s: %s begins at %d, over the arguments, which end at %d", tt.name, act, top, last)
			}
		}
		b.narrow(tt.name)
		b.shot("first-screen-" + tt.name)
	}
	if text := plain(value[string](b, `document.querySelector("#question-1 .values").textContent`)); !strings.Contains(text, letter(to, subject)) {
		t.Errorf("the arguments are %q", text)
	}
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
