package kernel_test

import (
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// countdown lists when a session told how much time is left, after its beginning, and in which words.
func (w *world) countdown(t *testing.T, session string) (at []time.Duration, said []string) {
	t.Helper()
	var began time.Time
	for _, body := range w.bodies(session) {
		e, err := aaep.DecodeEvent([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if began.IsZero() {
			began = e.Time
		}
		if p, is := e.Payload.(aaep.ProgressUpdated); is {
			at, said = append(at, e.Time.Sub(began).Round(time.Second)), append(said, p.SummaryTerse)
		}
	}
	return at, said
}

// TestCountdown: while a question is open for more than a minute, its session tells that half of the time is left, and that a tenth
// is, to the second; not after an answer, and anew where there is more time (CONF-73).
func TestCountdown(t *testing.T) {
	for name, row := range map[string]struct {
		play func(w *world, q api.QuestionRow)
		at   []time.Duration
		said []string
	}{
		"nobody answers": {
			func(w *world, _ api.QuestionRow) { w.pass(6 * time.Minute) },
			[]time.Duration{150 * time.Second, 270 * time.Second},
			[]string{"2 minutes 30 seconds left for question 1.", "30 seconds left for question 1."},
		},
		"an answer after the first": {
			func(w *world, q api.QuestionRow) {
				w.pass(3 * time.Minute)
				w.say(q, "reject")
				w.pass(3 * time.Minute)
			},
			[]time.Duration{150 * time.Second},
			[]string{"2 minutes 30 seconds left for question 1."},
		},
		"more time at 160 s, then a restart": {
			func(w *world, q api.QuestionRow) {
				w.pass(160 * time.Second)
				if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person}); err != nil {
					w.t.Fatal(err)
				}
				w.restart()
				w.pass(10 * time.Minute)
			},
			[]time.Duration{150 * time.Second, 380 * time.Second, 556 * time.Second},
			[]string{"2 minutes 30 seconds left for question 1.", "3 minutes 40 seconds left for question 1.", "44 seconds left for question 1."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				row.play(w, w.asked())
				w.over(a.Turn)
				if at, said := w.countdown(t, a.Session); !slices.Equal(at, row.at) || !slices.Equal(said, row.said) {
					t.Errorf("told after %v: %q", at, said)
				}
				w.effectsAre(0)
			})
		})
	}
}
