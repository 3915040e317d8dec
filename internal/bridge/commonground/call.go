package commonground

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// place is where calls come from in their installation.
type place struct{ project, channel, agent string }

// call is a call of Earshot as it is written into their tables and sent on their stream. Its ids follow from the call's.
type call struct {
	id      string // the call's
	card    utp.Card
	context utp.Context
	trace   string
	subject string
	header  map[string][]string
	payload []byte
	// inbox and edge are the ids of the anchor and of the request edge; headers are those that the anchor repeats.
	inbox, edge                   string
	headers, anchor, edgeMetadata jsontext.Value
}

// newCall translates a command of Earshot, with the card that holds its arguments. Turn, step, call, depth, epoch and trace
// keep their ids; project, channel, agent and the tool's name are theirs.
func newCall(at place, t tool, command utp.Command, header utp.Context, ours utp.CallCard, now time.Time) (call, error) {
	subject, err := t.subject(at.project, at.channel, at.agent)
	if err != nil {
		return call{}, err
	}
	theirs := ours
	theirs.Project, theirs.AuthorID, theirs.TargetSubject, theirs.ToolName = at.project, at.agent, subject.String(), t.name
	command.ToolName = t.name
	c := call{id: ours.ToolCallID, subject: subject.String(), trace: ours.Lineage.TraceID}
	if c.card, err = utp.NewToolCall(theirs); err != nil {
		return call{}, err
	}
	c.context = header
	c.context.ProjectID, c.context.ChannelID, c.context.AgentID, c.context.ToolCallID = at.project, at.channel, at.agent, c.id
	c.context.ParentAgentID, c.context.ParentTurnID, c.context.ParentStepID = "", "", "" // nobody of their roster
	if err := c.context.CheckCommand(); err != nil {
		return call{}, err
	}
	if c.header, err = utp.EncodeHeader(c.context, utp.Stamp{At: now}); err != nil {
		return call{}, err
	}
	if c.payload, err = utp.EncodeCommand(command); err != nil {
		return call{}, err
	}
	err = c.rows(command)
	return c, err
}

// stamps are the headers of one message, which a row does not repeat.
var stamps = []string{utp.HeaderTimestamp, utp.HeaderVersion, utp.HeaderMsgType, utp.HeaderSender}

// rows makes the values of the edge and of the anchor.
func (c *call) rows(command utp.Command) error {
	h := strings.TrimPrefix(c.id, "tc_")
	c.inbox, c.edge = "inbox_cmd_anchor_"+h, "edge_"+h
	flat := map[string]string{}
	for name, values := range c.header {
		if !slices.Contains(stamps, name) {
			flat[name] = values[0]
		}
	}
	for into, value := range map[*jsontext.Value]any{
		&c.headers: flat,
		&c.anchor:  map[string]string{"kind": "command_anchor", "subject": c.subject, "correlation_id": c.id},
		&c.edgeMetadata: map[string]any{
			"subject": c.subject, "tool_call_id": c.id, "tool_name": command.ToolName, "step_id": c.context.StepID,
			"payload_keys": []string{"after_execution", "tool_call_card_id", "tool_name"},
		},
	} {
		raw, err := json.Marshal(value, json.Deterministic(true))
		if err != nil {
			return err //nolint:wrapcheck // texts alone
		}
		*into = raw
	}
	return nil
}
