package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
)

// TestManyQuestions: a thousand open questions are a list in pages, over the API and on the page, and each of them is on one
// page.
func TestManyQuestions(t *testing.T) {
	s := newScene(t)
	s.room.begin("sess_1", "ada")
	const all = 1000
	for n := range all {
		s.room.ask("sess_1", n+1, fmt.Sprintf("rpl_%032d", n+1))
	}
	seen, address := 0, "/api/v1/questions"
	for address != "" {
		w := s.do("GET", address, "ada", "")
		var list api.QuestionList
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != http.StatusOK || len(list.Questions) > 50 {
			t.Fatalf("%s: %d, %d questions, %v", address, w.Code, len(list.Questions), err)
		}
		for _, q := range list.Questions {
			if seen++; q.Number != seen {
				t.Fatalf("question %d stands in the place of %d", q.Number, seen)
			}
		}
		if address = ""; list.Next != 0 {
			address = fmt.Sprintf("/api/v1/questions?after=%d", list.Next)
		}
	}
	if seen != all {
		t.Errorf("%d questions are listed", seen)
	}
	s.login("ada")
	page := s.page("/", "@ada")
	wants(t, page, "Questions: 1000 open", "(1000 questions) Earshot", "1000 questions open: 1, 2, 3,", "50 and more.", `href="/questions?after=50"`)
	if strings.Contains(page, "question-51") || len(page) > 256<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	wants(t, s.page("/questions?after=50", "@ada"), "Question 51", "accept question 100<", `href="/questions?after=100"`)
	last := s.page("/questions?after=950", "@ada")
	if wants(t, last, "accept question 1000<"); strings.Contains(last, "More questions") {
		t.Error("there is more behind the last")
	}
	if w := s.do("GET", "/api/v1/questions?limit=0", "ada", ""); w.Code != http.StatusBadRequest {
		t.Errorf("a limit of 0: %d", w.Code)
	}
}
