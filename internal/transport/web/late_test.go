package web_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// lost is the refusal of a word that came second.
func lost() *web.Refusal {
	return &web.Refusal{
		Kind: api.KindConflict, Code: "done", Message: "question 2 was accepted",
		Closed: &api.Closed{Question: 2, Resolution: "accepted", By: "bob", Surface: "terminal", At: noon},
	}
}

func expired() *web.Refusal {
	return &web.Refusal{
		Kind: api.KindConflict, Code: "done", Message: "too late", Closed: &api.Closed{Question: 2, Resolution: "expired", At: noon.Add(-time.Minute)},
	}
}

// TestLateOnThePage: who comes second or too late is told so on the page: who was first,
// where, and what was decided, or when the time ended.
func TestLateOnThePage(t *testing.T) {
	t.Parallel()
	for answer, refusal := range map[string]*web.Refusal{
		"Question 2 was accepted by bob in the terminal, at 00:00:00. Your answer came after that and did not count.": lost(),
		"Too late: the time to answer question 2 ended at 23:59:00 on 31 December. Nothing was done.":                 expired(),
		"Question 2: has been asked again since. Look at it.":                                                         {Kind: api.KindConflict, Message: "has been asked again since", Hint: "look at it"},
	} {
		s := played(t)
		s.login("ada")
		s.room.fail = refusal
		w := s.submit("/questions/2/accept", "@ada", "form="+s.form+"&session=sess_2&token="+tokenA)
		if w.Code != 303 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		s.room.fail = nil
		wants(t, s.page("/", "@ada"), `<span id="notice-text" tabindex="-1">`+answer)
	}
}

// TestMismatch: the number of one question with the token of another is refused with 409 by the
// API, for a reply and for more time, and told on the page where the form was sent.
func TestMismatch(t *testing.T) {
	t.Parallel()
	s := played(t)
	for target, body := range map[string]string{
		"/api/v1/questions/2/reply":  `{"decision":"accept","reply_token":"` + tokenB + `"}`,
		"/api/v1/questions/2/extend": `{"reply_token":"` + tokenB + `"}`,
		"/api/v1/questions/3/reply":  `{"response":"leave","reply_token":"` + tokenA + `"}`,
		"/api/v1/questions/2/undo":   `{"reply_token":"` + tokenB + `"}`,
	} {
		if w := s.do("POST", target, "ada", body); w.Code != 409 || !strings.Contains(w.Body.String(), `"code":"conflict"`) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	s.login("ada")
	for _, act := range []string{"accept", "reject", "more-time", "undo"} {
		w := s.submit("/questions/2/"+act, "@ada", "form="+s.form+"&session=sess_2&token="+tokenB)
		if w.Code != 303 {
			t.Fatalf("%s: %d %s", act, w.Code, w.Body)
		}
		wants(t, s.page("/", "@ada"), `<span id="notice-text" tabindex="-1">Question 2: the reply token does not belong to question 2.`)
	}
	if len(s.room.won) > 0 {
		t.Errorf("answered: %v", s.room.won)
	}
}

// TestLateByTheAPI: the API says it in words and as members.
func TestLateByTheAPI(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.room.fail = lost()
	w := s.do("POST", "/api/v1/questions/2/reply", "ada", `{"decision":"accept"}`)
	var got struct {
		Error struct {
			Code   string     `json:"code"`
			Closed api.Closed `json:"closed"`
		} `json:"error"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 409 || got.Error.Code != "done" || got.Error.Closed != *lost().Closed {
		t.Errorf("%d %s %v", w.Code, w.Body, err)
	}
}

// TestLateOnTheWire (CONF-56, C-57): a subscriber of the protocol is told nothing of it.
func TestLateOnTheWire(t *testing.T) {
	t.Parallel()
	for _, refusal := range []*web.Refusal{lost(), expired()} {
		s := played(t)
		w := s.do("POST", "/aaep/v1/subscriptions", "ada", `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"x","capabilities":{}}`)
		var accepted struct {
			ID string `json:"subscription_id"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &accepted); err != nil || accepted.ID == "" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		s.room.fail = refusal
		w = s.do("POST", "/aaep/v1/replies", "ada", `{"type":"confirmation.reply","reply_token":"`+tokenA+`","decision":"accept","subscription_id":"`+accepted.ID+`","timestamp":"2026-03-01T12:00:00.000Z"}`)
		if w.Code != 204 || w.Body.Len() != 0 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// TestParkedOnThePage: a question of a session that is not under way here says so, and offers
// only what is taken.
func TestParkedOnThePage(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	s.room.change(func() {
		for i := range s.room.questions {
			s.room.questions[i].Parked = true
		}
	})
	page := s.page("/", "@ada")
	wants(t, page, "Parked: its session is not under way on this server, so an accept would start nothing.", "Reject<span class=\"unseen\"> question 2")
	lacks(t, page, "accept question 2<", "More time", "> question 3</span></button>", "Answer by")
	w := s.do("GET", "/api/v1/questions", "ada", "")
	if strings.Count(w.Body.String(), `"parked":true`) != 2 {
		t.Errorf("the list is %s", w.Body)
	}
}

// TestUntilOnThePage: a question that waits, and one without a limit, say so.
func TestUntilOnThePage(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"waiting": "It waits until somebody who can answer is shown it, at most until", "unlimited": "There is no time limit; it stays open until",
	} {
		s := played(t)
		s.login("ada")
		s.room.change(func() {
			q := &s.room.questions[0]
			q.Event = []byte(strings.Replace(string(q.Event), `"extensions":{"earshot":{`, `"extensions":{"earshot":{"`+flag+`":true,`, 1))
			if !strings.Contains(string(q.Event), flag) {
				t.Fatalf("the event is %s", q.Event)
			}
		})
		wants(t, s.page("/", "@ada"), want)
	}
}

// TestPreferences: each sets their own, by a body that says it.
func TestPreferences(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if w := s.do("PUT", "/api/v1/preferences", "ada", `{"answer_seconds":86400}`); w.Code != 200 || w.Body.String() != `{"answer_seconds":86400}`+"\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.do("PUT", "/api/v1/preferences", "ada", `{"undo_seconds":20}`); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.do("GET", "/api/v1/preferences", "lis", ""); w.Code != 200 || w.Body.String() != `{"answer_seconds":86400,"undo_seconds":20}`+"\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for as, status := range map[string]int{"lis": 403, "bot": 403, "": 401} {
		if w := s.do("PUT", "/api/v1/preferences", as, `{"answer_seconds":1}`); w.Code != status {
			t.Errorf("%q: %d %s", as, w.Code, w.Body)
		}
	}
	for _, body := range []string{`{}`, `{"answer_seconds":"1"}`, `{"answer_seconds":1,"owner":"eve"}`, `[]`} {
		if w := s.do("PUT", "/api/v1/preferences", "ada", body); w.Code != 400 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}
