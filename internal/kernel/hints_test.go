package kernel_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// hintsOf are the events of one suffix that were published, in their order.
func hintsOf[E any](w *world, suffix string) (all []E) {
	w.t.Helper()
	w.settle()
	w.bus.mu.Lock()
	defer w.bus.mu.Unlock()
	for _, m := range w.bus.heard {
		if s, err := utp.ParseSubject(m.subject); err != nil || s.Component != utp.ComponentAgent || s.Category == utp.CategoryCommand || s.Suffix != suffix {
			continue
		}
		var e E
		if err := json.Unmarshal(m.payload, &e); err != nil {
			w.t.Errorf("%s: %v", m.payload, err)
		}
		all = append(all, e)
	}
	return all
}

// TestHintsOfADeadline: a turn that waits tells for which tool, if it is one, and by when it must have its result: not while a
// person is asked, and from the yes on.
func TestHintsOfADeadline(t *testing.T) {
	inWorld(t, func(w *world) { w.hints = true }, func(t *testing.T, w *world) {
		began := w.clock.now()
		w.work(one(paint))
		a := w.begin()
		q := w.asked()
		states := hintsOf[utp.AgentState](w, utp.SuffixState)
		if last := states[len(states)-1].Metadata; last.Tool != paint || last.Deadline != "" || last.Waiting != 1 {
			t.Errorf("while a person is asked: %+v", last)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		named := slices.ContainsFunc(hintsOf[utp.AgentState](w, utp.SuffixState), func(s utp.AgentState) bool {
			at, err := time.Parse(time.RFC3339Nano, s.Metadata.Deadline)
			return err == nil && at.After(began) && s.Status == "suspended"
		})
		if !named {
			t.Errorf("no deadline in %+v", hintsOf[utp.AgentState](w, utp.SuffixState))
		}
	})
}

// TestHintsOfAStepThatFails: the step of a turn that is stopped while it waits has failed.
func TestHintsOfAStepThatFails(t *testing.T) {
	inWorld(t, func(w *world) { w.hints = true }, func(t *testing.T, w *world) {
		w.work(one(paint))
		a := w.begin()
		w.asked()
		w.stops(a)
		w.over(a.Turn)
		var phases []string
		for _, s := range hintsOf[utp.AgentStep](w, utp.SuffixStep) {
			if phases = append(phases, s.Phase); s.Step == "" {
				t.Errorf("a step without an id: %+v", s)
			}
		}
		if want := []string{utp.PhaseStarted, utp.PhaseExecuting, utp.PhaseFailed}; !slices.Equal(phases, want) {
			t.Errorf("heard %q; want %q", phases, want)
		}
	})
}

// TestHintsOfAnAction: who follows events hears how an action of a user interface ended, with the card of its result.
func TestHintsOfAnAction(t *testing.T) {
	inWorld(t, func(w *world) { w.hints = true }, func(t *testing.T, w *world) {
		words, ui := w.stranger("words"), w.stranger("screen")
		words.serves(utp.Read, `{"ui_allowed":true}`)
		m := utp.Message{Header: map[string][]string{utp.HeaderAgentID: {"screen"}}, Payload: []byte(`{"action_id":"ui-1","tool_name":"` + wordCount + `","args":{"name":"x"}}`)}
		var a api.ActionAnswer
		ui.must(api.OpUIAction, m, &a)
		_, header, card := words.command()
		words.finishes(header, card)
		w.over(a.Turn)
		ui.must(api.OpUIAction, m, &a)
		tasks := hintsOf[utp.AgentTask](w, utp.SuffixTask)
		if len(tasks) != 1 || tasks[0].Turn != a.Turn || tasks[0].Status != utp.StatusSuccess || tasks[0].Result == nil || *tasks[0].Result != a.Card || a.Card == "" {
			t.Errorf("the events %+v; the acknowledgement %+v", tasks, a)
		}
	})
}

// TestHintsOfAnAnswer: the text that belongs to no step with calls ends with its turn.
func TestHintsOfAnAnswer(t *testing.T) {
	inWorld(t, func(w *world) { w.hints = true }, func(t *testing.T, w *world) {
		w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
			_, err := worker.Output(ctx).Write([]byte("Seen it all. "))
			if err != nil {
				return worker.Decision{}, err
			}
			return done("Seen.")
		})
		a := w.begin()
		w.over(a.Turn)
		var types []string
		for _, c := range hintsOf[utp.AgentChunk](w, utp.SuffixChunk) {
			types = append(types, c.Type)
		}
		if got := strings.Join(types, " "); got != "start content end" {
			t.Errorf("heard %q", got)
		}
	})
}
