package credentialfile

import (
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Roles returns the kinds of external principals, by their words.
func Roles() map[string]bus.Kind {
	return map[string]bus.Kind{"tool": bus.Tool, "agent": bus.Agent, "operator": bus.Operator, "foreign": bus.External}
}

// RoleNames lists those words for people.
const RoleNames = "tool, agent, operator or foreign"

// Kind returns the kind for a word.
func Kind(role, hint string) (bus.Kind, error) {
	kind, known := Roles()[role]
	if known {
		return kind, nil
	}
	found := "missing"
	if role != "" {
		found = fmt.Sprintf("%q", cause.OneLine(role))
	}
	return "", cause.Misuse("the role is "+found+"; expected "+RoleNames, hint)
}

// Reload is the result of reloading the files in a running server. Running is false without one.
type Reload struct {
	Running bool
	Answer  api.Credentials
}

// Counts says when the addition takes effect.
func (t Reload) Counts() string {
	switch {
	case !t.Running:
		return "They count from the next start of `earshot up --nats-listen ADDRESS`."
	case t.Answer.URL == "":
		return "The server that runs lets no processes in; they count once it is started with --nats-listen ADDRESS."
	}
	return "They count now: it can come to " + t.Answer.URL + "."
}
