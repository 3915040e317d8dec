package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// clerk is the agent that others ask, beside each other; nobody may ask a stranger.
const (
	clerk    = "clerk"
	stranger = "stranger"
)

// delegating stands for a call of other agents among the tools of a step.
const delegating = "@"

// batch is a call that other agents do: what each of them wants.
type batch struct {
	Tool     string `json:"tool"`
	Tasks    []task `json:"tasks"`
	FailFast bool   `json:"fail_fast,omitzero"`
	Seconds  int    `json:"seconds,omitzero"`
}

type task struct {
	Agent string `json:"agent"`
	Plan  plan   `json:"plan"`
}

// mayStart lets the agents ask each other.
func mayStart(_, other string) bool { return other == agent || other == clerk }

// delegates adds to a plan what others are to do, and to their plans, so many levels deep.
func (p *plan) delegates(r *rand.Rand, levels int) {
	if levels == 0 || r.IntN(2) == 0 {
		return
	}
	b := batch{Tool: []string{delegation.ForkJoin, delegation.ForkJoin, delegation.AskExpert, delegation.DelegateAsync, delegation.LaunchPrincipal}[r.IntN(5)]}
	n := 1
	if b.Tool == delegation.ForkJoin {
		n, b.FailFast = 1+r.IntN(3), r.IntN(3) == 0
	}
	if r.IntN(4) == 0 {
		b.Seconds = 1 + r.IntN(60)
	}
	for i := range n {
		below := drawn(r, fmt.Sprintf("%s.%d", p.Tag, i))
		below.Steps = below.Steps[:1]
		below.delegates(r, levels-1)
		b.Tasks = append(b.Tasks, task{Agent: []string{agent, clerk, clerk, clerk, stranger}[r.IntN(5)], Plan: below})
	}
	p.Batch = &b
	at := r.IntN(len(p.Steps))
	p.Steps[at] = append(p.Steps[at], delegating)
}

// chain is a plan that asks another agent, which asks another one, deeper than turns may be nested.
func chain(tag string) plan {
	p := plan{Tag: fmt.Sprintf("%s.%d", tag, turn.MaxDepth+1), Steps: [][]string{{"look"}}}
	for n := turn.MaxDepth; n >= 0; n-- {
		asked := batch{Tool: delegation.AskExpert, Seconds: 7200, Tasks: []task{{Agent: []string{agent, clerk}[n%2], Plan: p}}}
		p = plan{Tag: fmt.Sprintf("%s.%d", tag, n), Steps: [][]string{{delegating}}, Batch: &asked}
	}
	return p
}

// call is the batch as a worker asks for it. What a task says is a plan.
func (b *batch) call(key string) (worker.Call, error) {
	type one struct {
		Strategy    string `json:"target_strategy"`
		Target      string `json:"target_ref"`
		Instruction string `json:"instruction"`
	}
	var all []one
	for _, t := range b.Tasks {
		text, err := json.Marshal(t.Plan)
		if err != nil {
			return worker.Call{}, fmt.Errorf("sim: a plan: %w", err)
		}
		all = append(all, one{"new", t.Agent, string(text)})
	}
	c := worker.Call{Key: key, Tool: b.Tool}
	switch b.Tool {
	case delegation.ForkJoin:
		c.Args = struct {
			Tasks    []one `json:"tasks"`
			FailFast bool  `json:"fail_fast"`
			Seconds  int   `json:"deadline_seconds,omitzero"`
		}{all, b.FailFast, b.Seconds}
	case delegation.AskExpert:
		c.Args = struct {
			Expert   string `json:"expert_profile"`
			Question string `json:"question"`
			Seconds  int    `json:"deadline_seconds,omitzero"`
		}{all[0].Target, all[0].Instruction, b.Seconds}
	case delegation.LaunchPrincipal:
		c.Args = struct {
			Profile     string `json:"profile_name"`
			Instruction string `json:"instruction"`
		}{all[0].Target, all[0].Instruction}
	default:
		c.Args = all[0]
	}
	return c, nil
}

// planned reads the plan of a turn from its arguments: what a person has asked for, or the task of another agent.
func planned(args []byte) (plan, error) {
	var wanted struct {
		plan

		Text string `json:"text"`
	}
	if err := decode(args, &wanted); err != nil || wanted.Text == "" {
		return wanted.plan, err
	}
	var p plan
	err := decode([]byte(wanted.Text), &p)
	return p, err
}

// joined is what a call of other agents leads to.
type joined struct {
	Results []joinedOne `json:"results"`
	joinedOne
}

type joinedOne struct {
	Index  int        `json:"task_index"`
	Status utp.Status `json:"status"`
	Agent  string     `json:"agent_id"`
	Turn   string     `json:"agent_turn_id"`
}

// joins holds the result of a batch against what was asked for: each task once and in its place, with the turn that did it.
func (j *judge) joins(who string, b batch, r worker.Result) {
	var got joined
	if err := decode(r.Value, &got); err != nil {
		j.wrongf("the result of %s is %s", r.Call, r.Value)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	results := got.Results
	if b.Tool != delegation.ForkJoin {
		results = []joinedOne{got.joinedOne}
	}
	if !j.beganAny(r.Call, b) && r.Status != utp.StatusSuccess {
		return // it says why it was not begun
	}
	if len(results) != len(b.Tasks) {
		j.brokenf("%s hears of %d of %d tasks of %s", who, len(results), len(b.Tasks), r.Call)
		return
	}
	for i, one := range results {
		tag, began := j.tags[one.Turn]
		if one.Index != i || one.Status == "" || one.Agent != b.Tasks[i].Agent || began && tag != b.Tasks[i].Plan.Tag {
			j.brokenf("%s hears %+v of task %d of %s, which is %s of %s; the turn did %s",
				who, one, i, r.Call, b.Tasks[i].Plan.Tag, b.Tasks[i].Agent, tag)
		}
	}
	j.w.did(joinedBatch)
}

// beganAny reports whether a turn of a batch has begun.
func (j *judge) beganAny(call string, b batch) bool {
	for i := range b.Tasks {
		if j.begun[taskOf(call, i)] != "" {
			return true
		}
	}
	return false
}
