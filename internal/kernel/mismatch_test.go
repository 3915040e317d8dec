package kernel_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestNumberAndToken: a request whose number and token belong to different questions is a
// conflict, and changes neither of them: in one turn and in two, with the token of an open
// question, one that was replaced, and one of a question that has ended.
func TestNumberAndToken(t *testing.T) {
	two := []worker.Call{
		{Key: "k1", Tool: burn, Args: map[string]any{"name": "x"}, To: 100},
		{Key: "k2", Tool: burn, Args: map[string]any{"name": "y"}, To: 100},
	}
	for name, turns := range map[string][][]worker.Call{"in one turn": {two}, "in two turns": {one(burn), one(burn)}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(turns[0])
				var begun []string
				for range turns {
					begun = append(begun, w.begin().Turn)
				}
				_, five := w.twoAsked()
				spent := five.Token
				if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Question: five.Number, Token: five.Token, By: person}); err != nil {
					t.Fatal(err)
				}
				four, five := w.twoAsked()
				w.mismatched(four.Number, five.Token)
				w.mismatched(five.Number, four.Token)
				w.mismatched(four.Number, spent)
				if again4, again5 := w.twoAsked(); again4.Token != four.Token || again5.Token != five.Token || !again4.Deadline.Equal(four.Deadline) {
					t.Errorf("the questions were %+v and %+v, and are %+v and %+v", four, five, again4, again5)
				}
				if _, err := w.hub.Answer(w.ctx, api.ReplyRequest{Question: five.Number, Token: five.Token, Decision: "reject", By: person}); err != nil {
					t.Errorf("the number and the token of one question: %v", err)
				}
				w.mismatched(four.Number, five.Token)
				w.say(four, "accept")
				for _, id := range begun {
					w.over(id)
				}
				w.effectsAre(1)
			})
		})
	}
}

// twoAsked waits for two open questions.
func (w *world) twoAsked() (first, second api.QuestionRow) {
	w.t.Helper()
	var rows []api.QuestionRow
	w.until("two questions are to be open", func() bool {
		rows = w.questions()
		return len(rows) == 2
	})
	if rows[0].Number > rows[1].Number {
		rows[0], rows[1] = rows[1], rows[0]
	}
	return rows[0], rows[1]
}

// mismatched says every word about a question with the token of another.
func (w *world) mismatched(number int, token string) {
	w.t.Helper()
	r := api.ReplyRequest{Question: number, Token: token, By: person, Surface: "page"}
	yes, no, words := r, r, r
	yes.Decision, no.Decision, words.Response = "accept", "reject", "leave"
	for what, say := range map[string]func() (api.ReplyAnswer, error){
		"accept":  func() (api.ReplyAnswer, error) { return w.hub.Answer(w.ctx, yes) },
		"reject":  func() (api.ReplyAnswer, error) { return w.hub.Answer(w.ctx, no) },
		"respond": func() (api.ReplyAnswer, error) { return w.hub.Answer(w.ctx, words) },
		"extend":  func() (api.ReplyAnswer, error) { return w.hub.Extend(w.ctx, r) },
		"undo":    func() (api.ReplyAnswer, error) { return w.hub.Undo(w.ctx, r) },
		"stop":    func() (api.ReplyAnswer, error) { return w.hub.Stop(w.ctx, r) },
	} {
		w.t.Log(what)
		_, err := say()
		wantFault(w.t, err, utp.CodeConflict)
		if err != nil && !strings.Contains(err.Error(), "nothing was changed") {
			w.t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNumberAndTokenOfAStranger: who may not answer a question does not learn whose token it is.
func TestNumberAndTokenOfAStranger(t *testing.T) {
	inWorld(t, ruled(&rights{}), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.owned()
		q := w.asked()
		for _, by := range []string{"bob", agentName} {
			_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Question: q.Number + 1, Token: q.Token, Decision: "accept", By: by})
			wantFault(t, err, utp.CodeNotFound)
		}
		_, err := w.hub.Answer(w.ctx, api.ReplyRequest{Question: q.Number + 1, Token: q.Token, Decision: "accept", By: person})
		wantFault(t, err, utp.CodeConflict)
		_, err = w.hub.Answer(w.ctx, api.ReplyRequest{Question: q.Number, Token: "rpl_none", Decision: "accept", By: person})
		wantFault(t, err, utp.CodeNotFound)
		if state := w.last(a.Turn).State; state != turn.Asked {
			t.Errorf("the call is %s; want asked", state)
		}
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(0)
	})
}
