package listing

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/wording"
)

// ToolLine tells of a tool in a line.
func ToolLine(t api.ToolDetail) string {
	missing := ""
	if t.Unserved() {
		missing = "; no service connected"
	}
	return fmt.Sprintf("%s: %s, %s risk, %s, %s; the policy says %s%s. %s",
		cause.OneLine(t.Tool), t.EffectiveClass, t.EffectiveRisk, wording.State(t), t.Enforcement, t.Decision, missing, legible.Value(cause.OneLine(t.Description)))
}

// Tool shows a tool in full, and how it asks with the arguments of an example; none makes one up.
func (p Printer) Tool(t api.ToolDetail, example jsontext.Value) error {
	p.sayf("Tool: %s", ToolLine(t))
	p.Field("Description", t.Description)
	p.Field("Target", t.Target)
	p.Field("After execution", string(t.AfterExecution))
	p.sayf("The service says: %s.", wording.Claimed(t.Definition))
	p.sayf("What counts: %s, %s risk.", t.EffectiveClass, t.EffectiveRisk)
	p.sayf("Enforcement: %s.", wording.Enforcement(t.Enforcement))
	p.Field("Digest", t.Digest)
	p.Document("Parameters", t.Parameters)
	p.Document("Options", t.Options)
	for _, change := range wording.Changes(t) {
		p.sayf("Changed since the last review: %s", change)
	}
	return p.preview(t, example)
}

// preview says how a tool is asked for once it is reviewed.
func (p Printer) preview(t api.ToolDetail, args jsontext.Value) error {
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		return cause.Fail(err, "the question cannot be previewed", "")
	}
	asked := narrator.Preview(t.Definition, wording.ClassOr("", t), wording.RiskOr("", t), args)
	p.sayf("Once reviewed, with the arguments %s, it is asked for like this:", legible.Value(cause.OneLine(string(asked.Args))))
	p.sayf("  %s", legible.Line(strings.TrimSuffix(asked.Action, ".")+"."))
	p.sayf("  What happens: %s", legible.Line(asked.Consequence))
	if asked.Hint != "" {
		p.sayf("  Hint: %s", legible.Line(asked.Hint))
	}
	if asked.Doing != "" {
		p.sayf("When it starts: %s", legible.Line(asked.Doing))
	}
	if !asked.ToolText {
		p.Line("It brings no sentence of its own, so its name, its description and its values are said.")
	}
	for _, path := range asked.Covers {
		p.sayf("It claims that its sentence stands for all of %s, however many: nobody has to read those values before a yes.", legible.Value(path))
	}
	return nil
}
