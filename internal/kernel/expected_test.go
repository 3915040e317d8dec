package kernel_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestWrongAnswer: an answer of another kind than was asked for is refused with what is expected,
// and the question stays open.
func TestWrongAnswer(t *testing.T) {
	var many []worker.Choice
	for n := range 10 {
		many = append(many, worker.Choice{Value: fmt.Sprint("c", n), Label: fmt.Sprint("Choice ", n)})
	}
	for name, tt := range map[string]struct {
		ask                  worker.Question
		wrong, right, expect string
	}{
		"a number":      {worker.Question{Kinds: []worker.Kind{worker.ANumber}}, "twelve", "12", "a number, such as 12 or 3.5"},
		"yes or no":     {worker.Question{Kinds: []worker.Kind{worker.YesNo}}, "perhaps", "no", "yes or no"},
		"a choice":      {worker.Question{Choices: many[:2]}, "c9", "c1", "one of its choices (c0, c1)"},
		"many choices":  {worker.Question{Choices: many}, "x", "c9", "one of its choices (c0, c1, c2, c3, c4, c5, c6, c7, and 2 more)"},
		"two kinds":     {worker.Question{Kinds: []worker.Kind{worker.YesNo, worker.ANumber}}, "x", "7", "yes or no or a number, such as 12 or 3.5"},
		"a consent":     {worker.Question{}, "yes", "accept", "accept or reject"},
		"a long answer": {worker.Question{Kinds: []worker.Kind{worker.Text}}, fmt.Sprintf("%20000d", 1), "short", "a text"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				wrong := func(q api.QuestionRow) error { _, err := w.reply(q, tt.wrong); return err }
				if name == "a consent" {
					w.work(one(burn))
				} else {
					tt.ask.Text = "What?"
					w.loop(asksOnce(tt.ask))
				}
				a := w.begin()
				q := w.asked()
				fault, is := errors.AsType[*api.Fault](wrong(q))
				want := "question 1 is still open; it expects " + tt.expect + "; nothing was recorded"
				if !is || fault.Code != utp.CodeBadRequest || fault.Message != want {
					t.Errorf("the refusal is %v; want %q", fault, want)
				}
				if now := w.asked(); now.Token != q.Token {
					t.Errorf("the question is %+v; it was %+v", now, q)
				}
				w.say(q, tt.right)
				w.over(a.Turn)
			})
		})
	}
}
