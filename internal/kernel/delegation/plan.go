package delegation

import (
	"cmp"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// defaultDeadline is how long a call waits for its turns unless it says otherwise (UTP, "Tools of the PMO").
const defaultDeadline = 15 * time.Minute

// Plan is what the arguments of a call ask for.
type Plan struct {
	// Waits: the call ends with its turns, and Within bounds the time. Otherwise it ends when they have begun.
	Waits, FailFast bool
	Within          time.Duration
	Tasks           []Task
}

// Task is one turn that a call asks for.
type Task struct {
	Agent, Instruction string
	// ContextBox is the box that its context comes from; History says that it is the one that the asking turn writes to.
	ContextBox string
	History    bool
}

// Args returns the arguments of the task's turn: what it is to do, under the name that the agent in the box reads.
func (t Task) Args() (jsontext.Value, error) {
	return encode(struct {
		Text string `json:"text"`
	}{t.Instruction})
}

// encode always writes the same value alike.
func encode(v any) (jsontext.Value, error) {
	raw, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("writing what a task says: %w", err)
	}
	return raw, nil
}

// Batch are the turns of the plan, before they begin.
func (p Plan) Batch() *turn.Batch {
	b := &turn.Batch{Waits: p.Waits, FailFast: p.FailFast}
	for i, t := range p.Tasks {
		b.Children = append(b.Children, turn.Child{Index: i, Agent: t.Agent})
	}
	return b
}

// contextBox is the box of the first task; "" if there is none, or if the plan could not be read any more.
func (p Plan) contextBox() string {
	if len(p.Tasks) == 0 {
		return ""
	}
	return p.Tasks[0].ContextBox
}

// task is one of [ForkJoin], and the arguments of [DelegateAsync].
type task struct {
	Strategy    string `json:"target_strategy"`
	Target      string `json:"target_ref"`
	Instruction string `json:"instruction"`
	ContextBox  string `json:"context_box_id"`
}

func (t task) plan() Task {
	return Task{Agent: t.Target, Instruction: t.Instruction, ContextBox: t.ContextBox}
}

// Read reads the arguments of a tool. They are of the shape that its schema asks for; the error says what else is wrong.
func Read(tool string, args jsontext.Value) (p Plan, err error) {
	switch tool {
	case AskExpert:
		var a struct {
			Expert   string `json:"expert_profile"`
			Question string `json:"question"`
			History  bool   `json:"include_history"`
			Deadline int    `json:"deadline_seconds"`
		}
		err = json.Unmarshal(args, &a)
		p = Plan{Waits: true, Within: within(a.Deadline), Tasks: []Task{{Agent: a.Expert, Instruction: a.Question, History: a.History}}}
	case DelegateAsync:
		var a task
		err = json.Unmarshal(args, &a)
		p = Plan{Tasks: []Task{a.plan()}}
	case LaunchPrincipal:
		var a struct {
			Profile     string `json:"profile_name"`
			Instruction string `json:"instruction"`
		}
		err = json.Unmarshal(args, &a)
		p = Plan{Tasks: []Task{{Agent: a.Profile, Instruction: a.Instruction}}}
	case ForkJoin:
		var a struct {
			Tasks    []task `json:"tasks"`
			FailFast bool   `json:"fail_fast"`
			Deadline int    `json:"deadline_seconds"`
		}
		err = json.Unmarshal(args, &a)
		p = Plan{Waits: true, FailFast: a.FailFast, Within: within(a.Deadline)}
		for _, t := range a.Tasks {
			p.Tasks = append(p.Tasks, t.plan())
		}
	default:
		return p, fmt.Errorf("%s is not a tool that has other agents do something", tool)
	}
	if err != nil {
		return Plan{}, fmt.Errorf("the arguments of %s: %w", tool, err)
	}
	return p, p.check()
}

func within(seconds int) time.Duration { return cmp.Or(turn.Seconds(seconds), defaultDeadline) }

func (p Plan) check() error {
	for i, t := range p.Tasks {
		if !utp.ValidToken(t.Agent) {
			return fmt.Errorf("task %d names the agent %s; expected the name of an agent: A-Z a-z 0-9 _ -", i, utp.Shown(t.Agent))
		}
	}
	return nil
}
