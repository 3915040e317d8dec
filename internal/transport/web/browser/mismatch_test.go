package browser_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// TestNumberAndToken: the number of one question with the token of another changes neither, by
// the API and by the page's form, and the person is told so.
func TestNumberAndToken(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.login()
	s.turn(1)
	b.hears("Question 1")
	s.turn(2)
	b.hears("Question 2")
	b.until(`document.querySelectorAll("[data-question]").length === 2`)
	token := func(n int) string {
		return value[string](b, fmt.Sprintf(`document.querySelector("#question-%d [name=token]").value`, n))
	}
	open := s.questions()
	for path, body := range map[string]map[string]string{
		"/api/v1/questions/1/reply":  {"decision": "accept", "reply_token": token(2)},
		"/api/v1/questions/2/reply":  {"decision": "reject", "reply_token": token(1)},
		"/api/v1/questions/1/extend": {"reply_token": token(2)},
		"/api/v1/questions/1/undo":   {"reply_token": token(2)},
		"/api/v1/questions/1/stop":   {"reply_token": token(2)},
	} {
		if status := s.apiAs(s.person(), http.MethodPost, path, body, nil); status != http.StatusConflict {
			t.Errorf("%s: %d; want 409", path, status)
		}
	}
	value[bool](b, fmt.Sprintf(`(() => {
		for (const field of document.querySelectorAll("#question-1 [name=token]")) field.value = %q;
		return true;
	})()`, token(2)))
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.hears("the reply token does not belong to question 1")
	if now := s.questions(); !slices.Equal(now, open) {
		t.Errorf("the questions were %+v and are %+v", open, now)
	}
}
