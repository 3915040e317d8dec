package tool

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Complete fills in what a definition omits, always with the cautious value, and validates the rest. The class defaults
// to irreversible; the risk to low for read, medium for idempotent and reversible, and high for irreversible. The turn
// is suspended until the result arrives. The target is the part of the name before the first dot: words.count is a tool
// of the service words. The error is a [*utp.DefinitionError].
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
		if suffix == "" || suffix == utp.SuffixReconcile { // that suffix belongs to a notice
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
