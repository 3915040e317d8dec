package web_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// TestResponseTypes: a clarification is answered with a text, true or false, or a number. Of another value it is said what is taken.
func TestResponseTypes(t *testing.T) {
	t.Parallel()
	s := played(t)
	for body, want := range map[string]api.Response{
		`"true"`:  {Text: "true"},
		`"leave"`: {Text: "leave"},
		`true`:    {Text: "true", Type: api.ResponseBool},
		`false`:   {Text: "false", Type: api.ResponseBool},
		`12.5`:    {Text: "12.5", Type: api.ResponseNumber},
	} {
		w := s.do("POST", "/api/v1/questions/2/reply", "ada", `{"response":`+body+`}`)
		if got := s.room.words[len(s.room.words)-1].Response; w.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, the hub got %+v", body, w.Code, w.Body, got)
		}
	}
	before := len(s.room.words)
	for _, body := range []string{`["a"]`, `{"yes":true}`, `null`, `""`} {
		w := s.do("POST", "/api/v1/questions/2/reply", "ada", `{"response":`+body+`}`)
		if w.Code != http.StatusBadRequest || len(s.room.words) != before {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		if body != `""` {
			wants(t, w.Body.String(), `the body's response is `, `expected a text, true or false, or a number`)
		}
	}
}

// TestSecondsLeft: how long a question can still be answered is said in seconds, by the server's clock.
func TestSecondsLeft(t *testing.T) {
	t.Parallel()
	s := played(t)
	for i, left := range []time.Duration{90 * time.Second, -time.Second} {
		s.room.questions[0].Deadline = noon.Add(left)
		wants(t, s.do("GET", "/api/v1/questions", "ada", "").Body.String(), `"seconds_left":`+[]string{"90", "0"}[i])
	}
}
