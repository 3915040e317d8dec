package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// long is a call of a tool whose arguments no event shows whole.
func long(tool string) []worker.Call {
	step := one(tool)
	step[0].Args = map[string]any{"name": "x", "text": strings.Repeat("what it does ", 400)}
	return step
}

// read reads a page of a question's arguments as somebody.
func (w *world) read(q api.QuestionRow, by, surface string, offset int64) (int64, error) {
	data, _, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number, Offset: offset, By: by, Surface: surface})
	return int64(len(data)), err
}

// TestNotSeen: a yes to what cannot be undone counts only from who was shown, or has read, all that it is about:
// the same person, on the same surface, from the first byte on.
func TestNotSeen(t *testing.T) {
	type attempt struct {
		by, surface string
		taken       bool
	}
	for _, tt := range []struct {
		name  string
		reads func(*testing.T, *world, api.QuestionRow)
		attempt
	}{
		{"nobody has read it", func(*testing.T, *world, api.QuestionRow) {}, attempt{person, "page", false}},
		{"read", func(t *testing.T, w *world, q api.QuestionRow) { must(t)(w.read(q, person, "page", 0)) }, attempt{person, "page", true}},
		{"read elsewhere", func(t *testing.T, w *world, q api.QuestionRow) { must(t)(w.read(q, person, "terminal", 0)) }, attempt{person, "page", false}},
		{"read by another", func(t *testing.T, w *world, q api.QuestionRow) { must(t)(w.read(q, "bob", "page", 0)) }, attempt{person, "page", false}},
		{"read from the middle on", func(t *testing.T, w *world, q api.QuestionRow) { must(t)(w.read(q, person, "page", 1000)) }, attempt{person, "page", false}},
		{"read on another device", func(t *testing.T, w *world, q api.QuestionRow) {
			if _, _, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number, By: person, Surface: "page", Credential: "login:desk"}); err != nil {
				t.Fatal(err)
			}
		}, attempt{person, "page", false}},
		{"only looked at", func(t *testing.T, w *world, q api.QuestionRow) {
			if _, _, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number, Peek: true, By: person, Surface: "page"}); err != nil {
				t.Fatal(err)
			}
		}, attempt{person, "page", false}},
		{"read by nobody in particular", func(t *testing.T, w *world, q api.QuestionRow) { must(t)(w.read(q, "", "", 0)) }, attempt{person, "page", false}},
		{"read before more time was asked for", func(t *testing.T, w *world, q api.QuestionRow) {
			must(t)(w.read(q, person, "page", 0))
			if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person, Surface: "page"}); err != nil {
				t.Fatal(err)
			}
		}, attempt{person, "page", true}},
		{"read before the kernel died", func(t *testing.T, w *world, q api.QuestionRow) {
			must(t)(w.read(q, person, "page", 0))
			w.restart()
		}, attempt{person, "page", true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(long(burn))
				a := w.begin()
				tt.reads(t, w, w.asked())
				q := w.asked()
				_, err := w.answer(api.ReplyRequest{Token: q.Token, Decision: "accept", By: tt.by, Surface: tt.surface, Lists: true})
				if tt.taken {
					if err != nil {
						t.Fatal(err)
					}
					w.succeeded(a.Turn)
					w.effectsAre(1)
					return
				}
				wantFault(t, err, utp.CodeArgumentsNotSeen)
				if again := w.asked(); again.Token != q.Token || again.Number != q.Number {
					t.Errorf("the question is %+v; it was %+v", again, q)
				}
				w.say(w.asked(), "reject") // a no is always taken
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// TestManyReaders: so many can read a question that the first is forgotten, and has to read it again; no reader makes
// the turn grow for ever.
func TestManyReaders(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(long(burn))
		a := w.begin()
		q := w.asked()
		w.reads(q)
		for i := range 20 {
			must(t)(w.read(q, fmt.Sprintf("reader%d", i), "page", 0))
		}
		if n := len(w.record(a.Turn).Presented[0].Read); n != 16 {
			t.Errorf("%d readers are remembered; want 16", n)
		}
		_, err := w.reply(q, "accept")
		wantFault(t, err, utp.CodeArgumentsNotSeen)
		w.reads(q)
		w.say(q, "accept")
		w.succeeded(a.Turn)
	})
}

// TestListed: who shows what an event lists need read nothing apart from it; who shows its texts alone does, where
// they do not say all of it.
func TestListed(t *testing.T) {
	wordy := fmt.Sprintf(`{"consent":{"action":%q,"consequence":%[1]q}}`, strings.Repeat("It burns what there is. ", 124))
	for _, tt := range []struct {
		name, options string
		shows         store.Shows
		lists, taken  bool
	}{
		{"told, by the texts alone", `{}`, store.ShowsInText, false, true},
		{"told", `{}`, store.ShowsInText, true, true},
		{"listed, by the texts alone", wordy, store.ShowsInList, false, false},
		{"listed", wordy, store.ShowsInList, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				if err := w.now.kernel.Registry().Register(w.ctx, target, definition(burn, utp.Irreversible, tt.options)); err != nil {
					t.Fatal(err)
				}
				w.review(map[string]utp.Class{burn: utp.Irreversible})
				w.work(one(burn))
				a := w.begin()
				q := w.asked()
				if shows := w.record(a.Turn).Presented[0].Shows; shows != tt.shows {
					t.Errorf("the question shows %q, want %q", shows, tt.shows)
				}
				_, err := w.answer(api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Surface: "page", Lists: tt.lists})
				if tt.taken {
					if err != nil {
						t.Fatal(err)
					}
					w.succeeded(a.Turn)
					return
				}
				wantFault(t, err, utp.CodeArgumentsNotSeen)
				w.say(q, "reject")
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// TestReversibleNeedNotBeRead: what can be undone, and is of no high risk, may be accepted by what is told of it.
func TestReversibleNeedNotBeRead(t *testing.T) {
	inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: put, Decide: turn.Ask}} }, func(t *testing.T, w *world) {
		w.work(long(put))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		w.pass(time.Second)
	})
}

// must demands that there is no error.
func must(t *testing.T) func(int64, error) {
	t.Helper()
	return func(_ int64, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNames: a session is named after its agent and what it is about; a second one gets a number, which no other gets
// while either is open.
func TestNames(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		begin := func(label, request string) (api.EnqueueAnswer, string) {
			t.Helper()
			a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: []byte(`{}`), Label: label, Request: request})
			if err != nil {
				t.Fatal(err)
			}
			return a, w.turn(a.Turn).Name
		}
		stop := func(a api.EnqueueAnswer) {
			t.Helper()
			if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
				t.Fatal(err)
			}
		}
		named := func(label, request, want string) api.EnqueueAnswer {
			t.Helper()
			a, got := begin(label, request)
			if got != want {
				t.Errorf("the session is named %q; want %q", got, want)
			}
			return a
		}
		first := named("photos/big", "", "tidy, photos/big")
		second := named("photos/big", "", "tidy 2, photos/big")
		named("music", "", "tidy, music")
		stop(first)
		third := named("photos/big", "", "tidy 3, photos/big")
		stop(second)
		fourth := named("photos/big", "", "tidy 4, photos/big")
		stop(third)
		stop(fourth)
		named("photos/big", "", "tidy, photos/big")
		named("", "Find what is twice.", "tidy, Find what is twice")
		named("", strings.Repeat("word ", 30), "tidy, word word word word word word word word word…")
		named("", "", "tidy")
		named("", "", "tidy 2")
		rows, err := w.hub.Sessions(w.ctx, true)
		if err != nil || !slices.ContainsFunc(rows, func(r api.SessionRow) bool { return r.Name == "tidy, music" }) {
			t.Errorf("the list: %+v, %v", rows, err)
		}
	})
}
