package browser_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// toQuestion leads by keyboard from anywhere to the answers of an open question, by the link at its top.
func (b *tab) toQuestion(n string) {
	b.t.Helper()
	b.until(`document.querySelector("#question-` + n + `")`)
	b.accessKey("q")
	b.focusIs("#questions-heading")
	b.tabTo("#question-" + n + " .jump a")
	b.press(kb.Enter)
	b.focusIs("#question-" + n + "-answers")
	b.settled()
}

// acts presses the button of that name, as it is reached by Tab.
func (b *tab) acts(name string) {
	b.t.Helper()
	b.tabToButton(name)
	b.press(kb.Enter)
}

// steady are the sentences without progress in percent, which depends on the time, and
// with the folder and the time of day as words.
func (s *server) steady(said []string) []string {
	percent := regexp.MustCompile(`^polite: \d+ percent done\.$`)
	clock := regexp.MustCompile(`\d\d:\d\d(:\d\d)?`)
	var all []string
	for _, line := range said {
		if !percent.MatchString(line) {
			all = append(all, clock.ReplaceAllString(strings.ReplaceAll(line, s.folder, "FOLDER"), "CLOCK"))
		}
	}
	return all
}

func (b *tab) saidExactly(want []string) {
	b.t.Helper()
	if got := b.server.steady(b.said()); !slices.Equal(got, want) {
		b.t.Errorf("the live regions said\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTurnIsSaid reads what the live regions say of a whole turn, in order, also with the
// page loaded again in the middle and at the end: nothing is lost, and nothing repeated but the
// question that is open.
func TestTurnIsSaid(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.hears("Question 1")
	asked := []string{
		"polite: tidy, photos/1 has started on this request: “tidy folder 1”.",
		"polite: Looking through FOLDER/1.",
		"polite: Comparing 2 files of equal size.",
		"assertive: Question 1, tidy, photos/1: Delete 1 duplicate file under FOLDER/1, and keep one copy, 22 bytes, cannot be undone. " +
			"This is for the request “tidy folder 1”. Answer by CLOCK.",
	}
	b.saidExactly(asked)
	b.reload()
	again := strings.Replace(asked[3], "assertive: ", "polite: ", 1)
	b.hears("polite: Question 1, tidy, photos/1: Delete")
	asked = append(asked, again)
	b.saidExactly(asked)
	b.toQuestion("1")
	b.acts("Accept question 1")
	s.ended(session)
	b.hears("Finished.")
	all := append(slices.Clone(asked),
		"assertive: Recorded: question 1 is accepted. Starts in 3 seconds. Undo takes it back.",
		"polite: What question 1 asked for begins now.",
		"polite: Deleted 1 file and freed 22 bytes.",
		"polite: The answer is ready: 2 lines.",
		"polite: Finished.",
	)
	b.saidExactly(all)
	b.focusIs("#notice-text")
	if !value[bool](b, `document.getElementById("notice-undo").hidden`) {
		t.Error("the yes is offered to be taken back although its work has begun")
	}
	steps := `[...document.querySelectorAll("#steps li")].map((l) => l.textContent).join("\n")`
	output := `[...document.querySelectorAll("#output .output")].map((o) => o.textContent).join("\n--\n")`
	stepsBefore, outputBefore := value[string](b, steps), value[string](b, output)
	if !strings.Contains(plain(outputBefore), "Deleted 1 file. Freed 22 bytes.") {
		t.Errorf("the answer is %q", outputBefore)
	}
	b.reload()
	b.connected()
	b.saidExactly(all)
	if after := value[string](b, steps); after != stepsBefore {
		t.Errorf("what happened is, as it came:\n%s\nand loaded again:\n%s", stepsBefore, after)
	}
	if after := value[string](b, output); after != outputBefore {
		t.Errorf("the answer is %q as it came, and %q loaded again", outputBefore, after)
	}
	if s.left(1) {
		t.Error("the duplicate is still there")
	}
}

// TestTwoLiveRegions: there is one polite and one assertive region, empty when the page
// comes, and neither questions nor steps nor the answer are ever in one.
func TestTwoLiveRegions(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	regions := func(when string) {
		t.Helper()
		const live = `[...document.querySelectorAll("[aria-live], [role=alert], [role=status], [role=log], [role=timer], [role=marquee], output")].map((e) => e.id + " " + e.ariaLive).join(", ")`
		if got := value[string](b, live); got != "live-assertive assertive, live-polite polite" {
			t.Errorf("%s the live regions are %q", when, got)
		}
		const other = `document.querySelectorAll("#live-assertive > :not(p), #live-polite > :not(p), #live-assertive p *, #live-polite p *").length`
		if n := value[int](b, other); n != 0 {
			t.Errorf("%s %d elements in a live region are not sentences", when, n)
		}
	}
	regions("with nothing to tell")
	if text := value[string](b, `document.getElementById("announcements").querySelectorAll("p:not([hidden])").length + ""`); text != "0" {
		t.Errorf("a page that comes says %s sentences by itself", text)
	}
	session := s.turn(1)
	b.toQuestion("1")
	regions("with a question")
	b.acts("Accept question 1")
	s.ended(session)
	b.hears("Finished.")
	b.until(`document.querySelector(".output")`)
	regions("with an answer")
	if said := strings.Join(b.said(), "\n"); strings.Contains(said, "Freed 22 bytes") {
		t.Errorf("the text of the answer was spoken: %s", said)
	}
}

// TestSayAgain repeats the last sentence on request.
func TestSayAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.hears("Question 1")
	b.accessKey("r")
	within(t, "it is said again", func() (bool, error) {
		said := b.said()
		last := said[len(said)-1]
		return strings.HasPrefix(last, "polite: Question 1, tidy, photos/1: Delete"), nil
	})
}

// TestNewcomer: somebody who comes to a session that runs is told how things stand, once, and the
// open question with each reload.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	s.turn(1)
	within(t, "a question is open", func() (bool, error) { return len(s.questions()) == 1, nil })
	b := s.login()
	b.hears("Question 1")
	said := b.said()
	b.reload()
	b.hears("polite: Question 1, tidy, photos/1: Delete")
	if again := b.said(); !slices.Equal(append(said, strings.Replace(said[len(said)-1], "assertive: ", "polite: ", 1)), again) {
		t.Errorf("said first %q, and with the page loaded again %q", said, again)
	}
	t.Logf("a newcomer hears %q", s.steady(said))
}
