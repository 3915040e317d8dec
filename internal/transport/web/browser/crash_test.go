package browser_test

import (
	"slices"
	"strings"
	"testing"
)

// TestServerKilled kills the server under an open page, twice, with a question open: the
// page says once that it is back, tells the open question again, is still logged in, and has
// lost and repeated nothing else; the question has its number and its deadline, and can be
// answered.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.hears("Question 1")
	b.until(`document.querySelector("#steps li")`)
	before, open := b.said(), s.questions()
	steps := `[...document.querySelectorAll("#steps li")].map((l) => l.textContent).join("\n")`
	for round := range 2 {
		s.kill()
		b.until(`document.getElementById("connection").textContent.startsWith("The connection is lost")`)
		s.start()
		b.connected()
		within(t, "it is said that it is back", func() (bool, error) {
			return len(connectedAgain(b)) == round+1, nil
		})
		if now := s.questions(); !slices.Equal(now, open) {
			t.Fatalf("the questions were %+v and are %+v", open, now)
		}
		b.until(`document.querySelector("#question-1")`)
		if n := value[int](b, `document.querySelectorAll("[data-question]").length`); n != 1 {
			t.Errorf("%d questions are shown", n)
		}
	}
	again := strings.Replace(before[len(before)-1], "assertive: ", "polite: ", 1)
	if rest := withoutConnection(b.said()); !slices.Equal(rest, append(before, again, again)) {
		t.Errorf("before the crash it said\n%q\nand with it, and the question told again after each\n%q", before, rest)
	}
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.hears("Finished.")
	s.ended(session)
	if s.left(1) {
		t.Error("the duplicate is still there")
	}
	said := slices.DeleteFunc(withoutConnection(b.said()), func(line string) bool { return line == again })
	if again := slices.Compact(slices.Sorted(slices.Values(said))); len(again) != len(said) {
		t.Errorf("something was said twice: %q", said)
	}
	for _, want := range []string{"Recorded: question 1 is accepted", "Deleted 1 file and freed 22 bytes.", "The answer is ready"} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%q was not said: %q", want, said)
		}
	}
	if n := len(connectedAgain(b)); n != 2 {
		t.Errorf("it was said %d times that it is back, want once for each of 2 crashes", n)
	}
	live := value[string](b, steps)
	b.reload()
	b.connected()
	if loaded := value[string](b, steps); loaded != live {
		t.Errorf("what happened is, as it came:\n%s\nand loaded again:\n%s", live, loaded)
	}
}

// TestServerKilledAtWork kills the server while what was accepted is about to begin: the page hears
// that nothing was done, is asked again under the same number, and hears how it ended.
func TestServerKilledAtWork(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.hears("Recorded: question 1 is accepted")
	s.kill()
	b.until(`document.getElementById("connection").textContent.startsWith("The connection is lost")`)
	s.start()
	b.connected()
	b.hears("Earshot restarted after your yes to question 1. Nothing was done. You will be asked again.")
	if !s.left(1) {
		t.Error("it was done all the same")
	}
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.hears("Finished.")
	s.ended(session)
	if n := len(connectedAgain(b)); n != 1 {
		t.Errorf("it was said %d times that it is back", n)
	}
	said := strings.Join(b.said(), "\n")
	if n := strings.Count(said, "Recorded: question 1 is accepted"); n != 2 {
		t.Errorf("a yes was recorded %d times:\n%s", n, said)
	}
	for _, once := range []string{"Deleted 1 file", "The answer is ready", "Finished."} {
		if n := strings.Count(said, once); n != 1 {
			t.Errorf("%q was said %d times:\n%s", once, n, said)
		}
	}
}

func connectedAgain(b *tab) []string {
	return slices.DeleteFunc(b.said(), func(line string) bool { return line != "polite: Connected again." })
}

// withoutConnection leaves out what is said of the connection itself. Its loss is said after
// four seconds, which starting the server again can take on a loaded machine.
func withoutConnection(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(one string) bool {
		return one == "polite: Connected again." || strings.HasPrefix(one, "assertive: The connection is lost.")
	})
}
