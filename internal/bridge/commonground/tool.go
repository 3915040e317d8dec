package commonground

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// tool is a row of their table of tools.
type tool struct {
	name, description, target, after string
	parameters, options              jsontext.Value
}

// equal reports whether nothing of a tool has changed.
func (t tool) equal(other tool) bool {
	return t.name == other.name && t.description == other.description && t.target == other.target && t.after == other.after &&
		bytes.Equal(t.parameters, other.parameters) && bytes.Equal(t.options, other.options)
}

// suffix ends the subjects on which Earshot commands the bridge.
const suffix = "call"

// definition is the tool as the bridge registers it with Earshot: theirs, but commanded at the bridge. Their own subject
// stays in the options, so that the digest, and every consent and review with it, covers where the command really goes.
func (t tool) definition(bridge string) (utp.Definition, error) {
	options := t.options
	if options.Kind() != jsontext.KindBeginObject {
		options = jsontext.Value("{}")
	}
	subject, err := jsontext.AppendQuote(nil, t.target)
	if err != nil {
		return utp.Definition{}, &utp.DefinitionError{Tool: t.name, Field: "target_subject", Found: "not text", Expected: "a subject", Err: err}
	}
	options, err = utp.SetMember(options, "commonground_subject", subject)
	if err != nil {
		return utp.Definition{}, &utp.DefinitionError{Tool: t.name, Field: "options", Found: "unreadable", Expected: "a JSON object", Err: err}
	}
	return utp.Definition{
		Tool: nameAt(bridge, t.name, t.target), Description: t.description, Parameters: t.parameters, Options: options,
		Target:         "cg." + utp.Version + ".{project_id}.{channel_id}.cmd.tool." + bridge + "." + suffix,
		AfterExecution: utp.AfterExecution(cmp.Or(t.after, string(utp.Suspend))),
	}, nil
}

// pmoTarget is where their PMO hears commands to one of its tools, as their table has it.
const pmoTarget = "cg." + utp.Version + ".{project_id}.{channel_id}.cmd.sys.pmo.internal."

// ofPMO reports whether a tool is one of their PMO's. The subject may be that of the table or of a card.
func ofPMO(name, subject string) bool {
	return strings.HasSuffix(subject, ".cmd.sys.pmo.internal."+name)
}

// nameAt is the name of a tool at Earshot. The PMO's tools have the names of those that Earshot serves itself, and stand
// beside them under the bridge's own.
func nameAt(bridge, name, subject string) string {
	if ofPMO(name, subject) {
		return bridge + "." + name
	}
	return name
}

// namesOf are the names that a tool of Earshot may have in their table.
func namesOf(bridge, ours string) []string {
	if theirs, beside := strings.CutPrefix(ours, bridge+"."); beside {
		return []string{ours, theirs}
	}
	return []string{ours}
}

// subject is where their service hears commands. Their table may hold any text.
func (t tool) subject(project, channel, agent string) (utp.Subject, error) {
	if t.target == pmoTarget+t.name {
		s := utp.Subject{
			Version: utp.Version, Project: project, Channel: channel,
			Category: utp.CategoryCommand, Component: utp.ComponentSystem, Target: utp.TargetPMO, Suffix: utp.SuffixInternal + "." + t.name,
		}
		return s, s.Validate()
	}
	return utp.RenderTarget(t.target, utp.TargetValues{Project: project, Channel: channel, Agent: agent})
}
