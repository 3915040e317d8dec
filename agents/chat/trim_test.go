package chat_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/chat"
	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// reader reads notes until it has read so many.
func reader(t *testing.T, notes int, seen func(llm.Request)) chat.Model {
	t.Helper()
	return model(func(_ context.Context, q llm.Request, l llm.Listener) (llm.Answer, error) {
		seen(q)
		if n := len(q.Messages) / 2; n < notes {
			return llm.Answer{Stop: llm.Ended, Calls: []llm.Call{{ID: "a", Name: "notes_read", Args: `{}`}}}, nil
		}
		return llm.Answer{Text: "Read.", Stop: llm.Ended}, l.Text("Read.")
	})
}

func long(n int) func(worker.Call) worker.Result {
	return func(worker.Call) worker.Result {
		return worker.Result{Status: utp.StatusSuccess, Value: jsontext.Value(`"` + strings.Repeat("x", n) + `"`)}
	}
}

// TestTrimmed: before the window is full older results are left out. The latest stays, the person is told once for each
// time, and what is left out stays left out, so that a server's cache is of use.
func TestTrimmed(t *testing.T) {
	t.Parallel()
	const window = 10_000
	var left []int
	m := reader(t, 12, func(q llm.Request) {
		size, out := 0, 0
		for i, msg := range q.Messages {
			for _, r := range msg.Results {
				size += len(r.Text)
				if strings.Contains(r.Text, "was left out because") {
					out++
					if i == len(q.Messages)-1 {
						t.Error("the latest result is left out")
					}
				}
			}
		}
		if size > 3*window {
			t.Errorf("the results have %d bytes, of a window of %d tokens", size, window)
		}
		left = append(left, out)
	})
	tr := newTurn(t, chat.Options{Model: m, Window: window})
	tr.result = long(5000)
	var end *worker.Answer
	for end == nil {
		tr.restart()
		end = tr.step()
	}
	changes := 0
	for i := 1; i < len(left); i++ {
		if left[i] < left[i-1] {
			t.Errorf("results came back: %v", left)
		}
		if left[i] > left[i-1] {
			changes++
		}
	}
	if changes == 0 || changes > 6 || left[len(left)-1] == 0 {
		t.Errorf("left out were %v", left)
	}
}

// TestTrimmedIsTold: also that a single result is too long.
func TestTrimmedIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bytes, notes int
		want         string
	}{
		"older results": {5000, 5, "Older results were left out of what the model sees.\n\nRead."},
		"one result":    {100_000, 1, "A long result is shown to the model only in part.\n\nRead."},
		"neither":       {10, 5, "Read."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTurn(t, chat.Options{Model: reader(t, tt.notes, func(llm.Request) {}), Window: 10_000})
			tr.result = long(tt.bytes)
			if end := tr.run(); end.Output != tt.want {
				t.Errorf("told %q; want %q", end.Output, tt.want)
			}
		})
	}
}

// TestTooLong: a server that can read less than it was thought to is believed, and for the rest of the turn.
func TestTooLong(t *testing.T) {
	t.Parallel()
	requests, refused := 0, 0
	m := model(func(ctx context.Context, q llm.Request, l llm.Listener) (llm.Answer, error) {
		requests++
		size := 0
		for _, msg := range q.Messages {
			for _, r := range msg.Results {
				size += len(r.Text)
			}
		}
		if size > 20_000 {
			refused++
			return llm.Answer{}, &llm.ServerError{Status: 400, Message: "prompt is too long", TooLong: true}
		}
		return reader(t, 8, func(llm.Request) {}).Ask(ctx, q, l)
	})
	tr := newTurn(t, chat.Options{Model: m, Window: 100_000})
	tr.result = long(6000)
	if end := tr.run(); end.Status != utp.StatusSuccess || refused == 0 || refused > 4 {
		t.Errorf("ended %+v after %d requests, of which %d were too long", end, requests, refused)
	}
}
