package delegation

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// The names of the tools.
const (
	DelegateAsync   = "delegate_async"
	LaunchPrincipal = "launch_principal"
	AskExpert       = "ask_expert"
	ForkJoin        = "fork_join"
)

// provisionAgent is the tool of UTP with which agents make agents. Here an operator does: otherwise an agent would give
// itself helpers, with tools that nobody has agreed to.
const provisionAgent = "provision_agent"

// Unknown says why there is no such tool, and what to do instead.
func Unknown(tool string) string {
	if tool != provisionAgent {
		return "the registry has no tool " + tool
	}
	return "an agent does not define agents; an operator does, with `earshot agents add`; " +
		"to have work done side by side, or apart from this turn, ask an agent that there is, with " + ForkJoin + " or " + DelegateAsync
}

// Definition returns the definition of one of the tools. To begin a turn changes nothing by itself, and whatever that turn
// wants to do is judged for itself: so all of them count as reading. A policy may deny them, or have a person asked.
func Definition(name string) (utp.Definition, bool) {
	i := slices.IndexFunc(definitions(), func(d utp.Definition) bool { return d.Tool == name })
	if i < 0 {
		return utp.Definition{}, false
	}
	return definitions()[i], true
}

// Names returns the names of the tools.
func Names() []string {
	names := make([]string, len(definitions()))
	for i := range definitions() {
		names[i] = definitions()[i].Tool
	}
	return names
}

// Definitions returns those of all tools, in the order of their names.
func Definitions() []utp.Definition { return slices.Clone(definitions()) }

var definitions = sync.OnceValue(func() []utp.Definition {
	return []utp.Definition{
		define(AskExpert, "Ask another agent, and wait for its answer. The agent sees only the question, so say in it all that it needs to know.",
			`{"properties":{
			"expert_profile":{"type":"string","minLength":1,"maxLength":128,"description":"The name of the agent."},
			"question":{"type":"string","minLength":1,"maxLength":65536},
			"include_history":{"type":"boolean","description":"Give it the box that this turn writes to, as its context."},
			"deadline_seconds":`+deadlineSchema+`
		},"required":["expert_profile","question"]}`,
			`{"consent":{"action":"Ask the agent {agent}.","consequence":"`+consequence+`","facts":{"agent":{"text":"/expert_profile"}}},
			"doing":{"text":"Asking the agent {agent}."}}`),
		define(DelegateAsync, "Have another agent do something, without waiting for it. You do not get its answer.",
			`{"properties":`+taskSchema+`,"required":["target_strategy","target_ref","instruction"]}`,
			`{"consent":{"action":"Have the agent {agent} do something.","consequence":"`+consequence+`","facts":{"agent":{"text":"/target_ref"}}},
			"doing":{"text":"Handing a task to the agent {agent}."}}`),
		define(ForkJoin, "Have several agents, or one agent several times, do something at the same time, and wait for all of them. "+
			"The results stand in the order of the tasks.",
			fmt.Sprintf(`{"properties":{
			"tasks":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object","additionalProperties":false,
				"properties":`+taskSchema+`,"required":["target_strategy","target_ref","instruction"]}},
			"fail_fast":{"type":"boolean","description":"Stop the others as soon as one has failed."},
			"deadline_seconds":`+deadlineSchema+`
		},"required":["tasks"]}`, turn.MaxBatch),
			`{"consent":{"action":"Have {tasks, plural, one {an agent work on one task} other {agents work on # tasks}}.",
			"consequence":"`+consequence+`","facts":{"tasks":{"count":"/tasks/*"}}},
			"doing":{"text":"Handing out {tasks, plural, one {one task} other {# tasks}}."}}`),
		define(LaunchPrincipal, "Have another agent take over a piece of work, without waiting for it. You do not get its answer.",
			`{"properties":{
			"profile_name":{"type":"string","minLength":1,"maxLength":128,"description":"The name of the agent."},
			"instruction":{"type":"string","minLength":1,"maxLength":65536}
		},"required":["profile_name","instruction"]}`,
			`{"consent":{"action":"Have the agent {agent} take over.","consequence":"`+consequence+`","facts":{"agent":{"text":"/profile_name"}}},
			"doing":{"text":"Handing work over to the agent {agent}."}}`),
	}
})

const (
	consequence = "Whatever it wants to do is judged, and asked about, for itself."
	taskSchema  = `{
		"target_strategy":{"type":"string","enum":["new","reuse"],"description":"Both begin a turn of the agent."},
		"target_ref":{"type":"string","minLength":1,"maxLength":128,"description":"The name of the agent."},
		"instruction":{"type":"string","minLength":1,"maxLength":65536,"description":"What it is to do. It sees nothing else."},
		"context_box_id":{"type":"string","maxLength":128}
	}`
	deadlineSchema = `{"type":"integer","minimum":1,"maximum":86400,"description":"How long to wait. Default: 900."}`
)

// define completes a definition. Its options are the words in which people hear of it.
func define(name, description, schema, options string) utp.Definition {
	return utp.Definition{
		Tool: name, Description: description, Parameters: jsontext.Value(`{"type":"object","additionalProperties":false,` + schema[1:]),
		Target:         "cg." + utp.Version + ".{project_id}.{channel_id}.cmd.tool.pmo." + name,
		AfterExecution: utp.Suspend, Class: utp.Read, Risk: utp.RiskLow, Options: jsontext.Value(options),
	}
}
