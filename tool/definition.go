package tool

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Complete fills in what a definition leaves out, with the cautious value each time, and
// checks the rest: the class is irreversible, the risk low for read, medium for what can
// be repeated or undone, and high otherwise; the turn is suspended until the result is
// there; and the target is what stands before the first dot of the name: words.count is
// a tool of the service words. The error is a [*utp.DefinitionError].
func Complete(d utp.Definition) (utp.Definition, error) {
	if d.Class == "" {
		d.Class = utp.Irreversible
	}
	if d.Risk == "" {
		d.Risk = riskOf(d.Class)
	}
	if d.AfterExecution == "" {
		d.AfterExecution = utp.Suspend
	}
	if len(d.Parameters) == 0 {
		d.Parameters = jsontext.Value(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	if d.Target == "" {
		service, suffix, _ := strings.Cut(d.Tool, ".")
		if suffix == "" || suffix == utp.SuffixReconcile { // the latter is a notice's
			suffix = "run"
		}
		d.Target = "cg." + utp.Version + ".{project_id}.{channel_id}.cmd.tool." + service + "." + strings.ReplaceAll(suffix, ".", "_")
	}
	return d, d.Validate()
}

func riskOf(c utp.Class) utp.Risk {
	switch c {
	case utp.Read:
		return utp.RiskLow
	case utp.Idempotent, utp.Reversible:
		return utp.RiskMedium
	default:
		return utp.RiskHigh
	}
}

// targetOf is the service that a definition names.
func targetOf(d utp.Definition) (string, error) {
	s, err := utp.RenderTarget(d.Target, utp.TargetValues{Project: "p", Channel: "c", Agent: "a"})
	return s.Target, err
}
