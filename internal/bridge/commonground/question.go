package commonground

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// askExpert is the tool of Earshot with which one agent asks another and waits for its answer.
const askExpert = "ask_expert"

// asking begins the names of the tools at theirs that ask an agent of Earshot.
const asking = "ask_"

// asked returns the agent of Earshot that a tool of theirs asks; "" is none.
func (p *provider) asked(theirs string) string {
	name, asks := strings.CutPrefix(theirs, asking)
	if !asks || !slices.Contains(p.o.Ask, name) {
		return ""
	}
	return name
}

// question are the arguments of [askExpert] for a question of theirs. The agent has as long as their worker waits; the same
// command makes the same arguments.
func question(agent string, args jsontext.Value, patience time.Duration) (jsontext.Value, error) {
	var theirs struct {
		Question string `json:"question"`
	}
	if err := json.Unmarshal(args, &theirs, json.RejectUnknownMembers(true)); err != nil || strings.TrimSpace(theirs.Question) == "" {
		return nil, &refusal{utp.CodeBadRequest, `the arguments are not {"question": TEXT}, which is all that the agent ` + agent + ` is given`}
	}
	raw, err := json.Marshal(struct {
		Agent    string `json:"expert_profile"`
		Question string `json:"question"`
		Deadline int    `json:"deadline_seconds"`
	}{agent, theirs.Question, int(math.Ceil(patience.Seconds()))})
	if err != nil {
		return nil, &refusal{utp.CodeBadRequest, "the question cannot be passed on"}
	}
	return raw, nil
}
