package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep/outline"
)

// several is a scene with three questions that are answered together: one of them needs all of its arguments to be read.
func several(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.room.begin("sess_1", "tidy Downloads")
	s.room.ask("sess_1", 2, tokenA)
	s.room.askAbout("sess_1", 3, tokenB, map[string]any{"arguments": outline.Outline{Left: 1}})
	s.room.askAbout("sess_1", 4, tokenD, map[string]any{"arguments": outline.Outline{Left: 1}})
	s.room.arguments[3] = `{"text":"read me"}`
	s.room.arguments[4] = `{"text":"` + strings.Repeat("x", 20<<10) + `"}`
	s.login("ada")
	return s
}

const tokenD = "rpl_dddddddddddddddddddddddddddddddd"

// TestTogetherShowsAll: each question is shown with all of its arguments, which counts as read, and one form answers them:
// Reject is the first of its buttons. What has no room is not ticked.
func TestTogetherShowsAll(t *testing.T) {
	t.Parallel()
	s := several(t)
	wants(t, s.page("/", "@ada"), `<p id="together"><a href="/questions/together">Answer 3 <span class="unseen">questions </span>together</a></p>`)
	s.room.looked = nil
	page := s.page("/questions/together", "@ada")
	golden(t, "together.html", page)
	wants(t, page, `name="question" value="2" checked`, `name="question" value="3" checked`, `name="question" value="4">`,
		"read me", "Its arguments do not fit here.", tokenA, tokenB, tokenD)
	lacks(t, page, "/accept", "<script", `href="#question-2-answers"`)
	if reject, accept := strings.Index(page, `value="reject"`), strings.Index(page, `value="accept"`); reject < 0 || accept < reject {
		t.Errorf("reject stands at %d, accept at %d", reject, accept)
	}
	if strings.LastIndex(page, `type="checkbox"`) > strings.Index(page, "<button") {
		t.Error("a button comes before the last question")
	}
	if !slices.Equal(s.room.looked, []bool{false, false, false}) {
		t.Errorf("the questions and the arguments of two of them are shown: only looked at: %v", s.room.looked)
	}
	s.login("lis")
	lacks(t, s.page("/", "@lis"), "together")
	if w := s.do("GET", "/questions/together", "@lis", "", "Accept", "text/html"); w.Code != 403 {
		t.Errorf("a listener gets the form: %d", w.Code)
	}
}

// TestTogetherWithoutOne: a question that is answered while the page is made keeps the others from nobody.
func TestTogetherWithoutOne(t *testing.T) {
	t.Parallel()
	s := several(t)
	delete(s.room.arguments, 3)
	wants(t, s.page("/questions/together", "@ada"), `name="question" value="2" checked`, `name="question" value="3">`)
}

// TestTogether: each ticked question is answered by itself, with the token that was shown; one that fails holds up no other,
// and each accept can be taken back by itself.
func TestTogether(t *testing.T) {
	t.Parallel()
	s := several(t)
	tokens := "&token-2=" + tokenA + "&token-3=rpl_00000000000000000000000000000000&token-4=" + tokenD
	w := s.submit("/questions/together", "@ada", "form="+s.form+"&decision=accept&question=2&question=3&question=4"+tokens)
	if w.Code != 303 || w.Header().Get("Location") != "/#notice" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	page := s.page("/", "@ada")
	wants(t, page, "2 of 3 questions are answered as asked.", "Recorded: question 2 is accepted.", `action="/questions/2/undo"`, `action="/questions/4/undo"`,
		"Question 3 is not open any more, or has been asked again. Nothing was recorded.")
	lacks(t, page, `action="/questions/3/undo"`)
	if got := strings.Join(s.room.noticed, ", "); got != "2 by ada on page, 4 by ada on page" {
		t.Errorf("noted as told: %s", got)
	}
}

// TestTogetherIsRefused: a form of elsewhere, without a decision, or without the questions that were read, answers nothing.
func TestTogetherIsRefused(t *testing.T) {
	t.Parallel()
	s := several(t)
	form := "form=" + s.form
	for name, tt := range map[string]struct {
		fields string
		code   int
	}{
		"no form token":       {"decision=accept&question=2&token-2=" + tokenA, 403},
		"no decision":         {form + "&question=2&token-2=" + tokenA, 400},
		"another decision":    {form + "&decision=maybe&question=2&token-2=" + tokenA, 400},
		"no question's token": {form + "&decision=accept&question=2", 400},
		"no number":           {form + "&decision=accept&question=two&token-two=" + tokenA, 400},
		"too many":            {form + "&decision=reject" + strings.Repeat("&question=2", 51) + "&token-2=" + tokenA, 400},
		"none ticked":         {form + "&decision=accept", 303},
	} {
		if w := s.submit("/questions/together", "@ada", tt.fields); w.Code != tt.code {
			t.Errorf("%s: %d; want %d", name, w.Code, tt.code)
		}
	}
	if len(s.room.words) != 0 {
		t.Errorf("the hub got %+v", s.room.words)
	}
}
