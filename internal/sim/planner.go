package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// plan is what a turn's agent wants: the tools of each step, and how it goes about it.
type plan struct {
	Tag   string     `json:"tag"`
	Steps [][]string `json:"steps"`
	// Writes is what it tells while it plans.
	Writes writing `json:"writes,omitzero"`
	// Forgets is how often a field is missing in its answer.
	Forgets int `json:"forgets,omitzero"`
	// Hands: in the end somebody else is to take over.
	Hands bool `json:"hands,omitzero"`
	// Batch is what other agents are to do, in the step that is [delegating].
	Batch *batch `json:"batch,omitzero"`
	// Spawns are turns that it begins beside its calls.
	Spawns []spawned `json:"spawns,omitzero"`
}

// writing is what a planner tells.
type writing int

const (
	nothing   writing = iota
	sameText          // in every life the same
	otherText         // in each life something else
)

// asking stands for a question of the agent among the tools of a step, default is what
// holds when nobody answers.
const (
	asking        = "?"
	defaultAnswer = "grey"
)

// answers are what people say to an agent's question.
func answers() []string { return []string{"red", "blue"} }

// resultFields are those that some turns require.
func resultFields() []string { return []string{"title", "count"} }

// drawn is a plan.
func drawn(r *rand.Rand, tag string) plan {
	p := plan{Tag: tag, Writes: writing(r.IntN(int(otherText) + 1)), Hands: r.IntN(10) == 0}
	for range 1 + r.IntN(2) {
		var step []string
		for range 1 + r.IntN(3) {
			name := kits[r.IntN(len(kits))].name
			if name == "close" && r.IntN(3) > 0 {
				name = "look"
			}
			step = append(step, name)
		}
		if r.IntN(5) == 0 {
			step = append(step, asking)
		}
		p.Steps = append(p.Steps, step)
	}
	if r.IntN(3) == 0 { // the same again and again: what people give standing permissions for
		p.Steps = append(p.Steps, []string{"paint"}, []string{"paint", "paint"}, []string{"paint"})
	}
	return p
}

func (w *world) planOf(p *process) func(context.Context, jsontext.Value) (worker.Planner, error) {
	return func(ctx context.Context, args jsontext.Value) (worker.Planner, error) {
		wanted, err := planned(args)
		if err != nil {
			return nil, err
		}
		l := &planner{w: w, p: p, ctx: ctx, turn: worker.TurnOf(ctx), plan: wanted, seen: map[string]bool{}}
		w.judge.plans(l.turn.ID, wanted.Tag)
		return l, nil
	}
}

var errTwice = errors.New("sim: a result came twice")

// planner goes through its plan whatever becomes of the calls.
type planner struct {
	w       *world
	p       *process
	ctx     context.Context //nolint:containedctx // The turn's, while it is in these hands.
	turn    worker.Turn
	plan    plan
	seen    map[string]bool
	refused int // of them
}

// Observe implements [worker.Planner].
func (l *planner) Observe(r worker.Result) error {
	if l.seen[r.Key] {
		l.w.judge.wrongf("%s was given the result of %s twice in one transcript", l.p.name, r.Key)
		return errTwice
	}
	l.seen[r.Key] = true
	if r.Tool == utp.SubmitResult {
		l.refused++
	}
	l.w.judge.heard(l.turn.ID, r)
	if l.plan.Batch != nil && r.Tool == l.plan.Batch.Tool {
		l.w.judge.joins(l.p.name, *l.plan.Batch, r)
	}
	return nil
}

// Next implements [worker.Planner].
func (l *planner) Next() (worker.Decision, error) {
	text, err := l.write()
	if err != nil {
		return worker.Decision{}, err
	}
	done := 0
	for n, step := range l.plan.Steps {
		if done == len(l.seen) {
			if err := l.begin(n); err != nil {
				return worker.Decision{}, err
			}
			return l.step(n, step)
		}
		done += len(step)
	}
	if err := l.begin(len(l.plan.Steps)); err != nil {
		return worker.Decision{}, err
	}
	if l.plan.Hands {
		return worker.Decision{Handoff: &worker.Handoff{Reason: "Somebody else knows more."}}, nil
	}
	if text == "" {
		text = "Done."
	}
	return worker.Decision{Answer: &worker.Answer{Summary: "That was all.", Output: text, Fields: l.fields()}}, nil
}

func (l *planner) fields() []worker.Field {
	out := make([]worker.Field, 0, len(l.turn.ResultFields))
	for _, name := range l.turn.ResultFields {
		out = append(out, worker.Field{Name: name, Value: len(l.seen)})
	}
	if len(out) > 0 && l.refused < l.plan.Forgets {
		return out[1:]
	}
	return out
}

// write tells two sentences, which say after how many results they are written.
func (l *planner) write() (string, error) {
	if l.plan.Writes == nothing {
		return "", nil
	}
	who := "me"
	if l.plan.Writes == otherText {
		who = l.p.name
	}
	out, text := worker.Output(l.ctx), [2]string{}
	for part := range text {
		piece := fmt.Sprintf("After %d results part %d by %s. ", len(l.seen), part, who)
		if _, err := io.WriteString(out, piece); err != nil {
			return "", err //nolint:wrapcheck // It is the worker's own.
		}
		text[part] = piece
		nap(l.ctx, time.Duration(1+ofCall(l.p, piece).Int64N(int64(400*time.Millisecond))))
	}
	return text[0] + text[1], nil
}

func (l *planner) step(n int, step []string) (m worker.Decision, err error) {
	for i, name := range step {
		key := fmt.Sprintf("%s-%d-%d", l.plan.Tag, n, i)
		call := worker.Call{Key: key, Tool: name, Args: map[string]any{"name": key}, From: 0, To: 100}
		switch name {
		case asking:
			m.Question = &worker.Question{Key: key, Text: "Which colour?", Default: defaultAnswer, Within: 40 * time.Second}
			continue
		case delegating:
			if call, err = l.plan.Batch.call(key); err != nil {
				return m, err
			}
		}
		m.Calls = append(m.Calls, call)
	}
	return m, nil
}

// heard: what an agent is told of a call stays what it is, and is what people have said.
func (j *judge) heard(turn string, r worker.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	said := fmt.Sprintf("%s %s %s %s", r.Call, r.Status, r.Code, r.Value)
	key := turn + " " + r.Key
	if before := j.results[key]; before != "" && before != said && j.backs == 0 {
		j.brokenf("the result of %s of %s was %s and is %s", r.Key, turn, before, said)
	}
	j.results[key] = said
	a, answered := r.Answered()
	if r.Tool != utp.AskPerson || j.backs > 0 {
		return
	}
	word := ""
	if answered && decode(a.Answer, &word) != nil {
		j.brokenf("the answer to %s is %s", r.Call, a.Answer)
	}
	given, taken := j.answers[r.Call], j.acknowledged[r.Call]
	switch {
	case answered && a.Default && word != defaultAnswer, answered && !a.Default && !slices.Contains(given, word):
		j.brokenf("the agent hears %q in answer to %s; people have said %q", word, r.Call, given)
	case taken != "" && word != taken:
		j.brokenf("the agent hears %q in answer to %s; a person was told that %q is taken", word, r.Call, taken)
	}
}

// responds: a person answers, and is told that it was taken.
func (j *judge) responds(call, word string, taken bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !taken {
		j.answers[call] = append(j.answers[call], word)
		return
	}
	j.acknowledged[call] = word
}
