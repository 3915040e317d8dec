package narrate

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Preview is how a tool is announced once it is reviewed, for its reviewer.
type Preview struct {
	// Args are the arguments that the rest is about.
	Args jsontext.Value `json:"arguments"`
	// Action and Consequence are the texts of a question, Doing the text when the call starts.
	Action      string `json:"action"`
	Consequence string `json:"consequence"`
	Hint        string `json:"hint,omitzero"`
	Doing       string `json:"doing,omitzero"`
	// ToolText means that the action is in the tool's own words.
	ToolText bool `json:"own_words"`
	// Covers are the lists that the action summarizes, whose values need not be read before an accept.
	Covers []string `json:"covers,omitzero"`
}

// Preview shows how a tool of a class and a risk is announced with arguments. Without any it uses an example that
// matches the parameters in types and names, but not in patterns or limits.
func (n *Narrator) Preview(d utp.Definition, class utp.Class, risk utp.Risk, args jsontext.Value) Preview {
	if len(args) == 0 {
		args = sample(d.Parameters)
	}
	s := &eventBuilder{narrator: n, t: kernel.Notification{
		Call: turn.Call{Tool: d.Tool, Class: class, Risk: risk},
		Tool: store.Tool{Definition: d, Reviewed: true}, Args: args,
	}}
	action, facts := s.action(s.arguments())
	consequence, _ := s.consequence(facts)
	w := s.wording().Consent
	return Preview{
		Args: args, Action: n.text(action), Consequence: n.text(consequence), Doing: n.text(s.doing()),
		Hint: w.Hint, ToolText: action.Verbatim != "", Covers: w.Covers,
	}
}

// text renders one parameter; "" if that fails.
func (n *Narrator) text(p Param) string {
	var out strings.Builder
	if p.none() || n.speaker.localizer.writeParam(&out, p, 0) != nil {
		return ""
	}
	return out.String()
}

// maxSampleDepth limits an example of a recursive schema.
const maxSampleDepth = 6

// sample returns an example of a schema's values.
func sample(raw jsontext.Value) jsontext.Value {
	out, err := json.Marshal(sampleOf(parseSchema(raw), "example", 0), json.Deterministic(true))
	if err != nil {
		return jsontext.Value(`{}`)
	}
	return out
}

func sampleOf(n schemaNode, name string, depth int) any {
	switch given := n.example(); {
	case given != nil:
		return given
	case depth > maxSampleDepth:
		return map[string]any{}
	}
	for _, schema := range n.alternatives() {
		if !schema.any {
			return sampleOf(schema, name, depth+1)
		}
	}
	kind := string(n.Type)
	switch {
	case n.Properties != nil || strings.Contains(kind, "object"):
		members := map[string]any{}
		for member, raw := range n.Properties {
			members[member] = sampleOf(schemaAt(raw, n.root), member, depth+1)
		}
		return members
	case strings.Contains(kind, "array"):
		items := make([]any, 0, 2)
		for i := range 2 {
			if len(n.Items) > 0 {
				items = append(items, sampleOf(schemaAt(n.Items, n.root), name+" "+strconv.Itoa(i+1), depth+1))
			}
		}
		return items
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		return math.Max(n.Minimum, 2)
	case strings.Contains(kind, "boolean"):
		return true
	}
	return name
}

// example returns a value that the schema itself contains.
func (n schemaNode) example() any {
	for _, list := range [][]jsontext.Value{n.Examples, {n.Default, n.Const}, n.Enum} {
		for _, raw := range list {
			if len(raw) > 0 {
				return raw
			}
		}
	}
	return nil
}
