package utp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of a report's row in an inbox (UTP, "Reports").
const (
	InboxToolResult = "tool_result"
	InboxTimeout    = "timeout" // a deadline reports in place of the tool
)

// inboxPending is the status of a row that no worker has taken yet.
const inboxPending = "pending"

// InboxRow is a report as a row of a worker's inbox (UTP, "Reports"): its identity in columns and headers, and a
// payload of just the report's three keys. If the payload contains a control field, or the headers lack the call, depth
// or trace, a worker fails the row or the whole turn.
type InboxRow struct {
	ID          string // inbox_<uuid7 hex>
	MessageType string // tool_result or timeout
	// Context is the call's whole context: its project, channel, agent, turn, epoch, step, call, depth and trace are
	// required.
	Context Context
	Report  Report
}

// inboxColumns is a row as a JSON object with the names of its database columns.
type inboxColumns struct {
	ID          string            `json:"inbox_id"`
	Project     string            `json:"project_id"`
	Channel     string            `json:"channel_id"`
	Agent       string            `json:"agent_id"`
	MessageType string            `json:"message_type"`
	Correlation string            `json:"correlation_id"`
	Turn        string            `json:"agent_turn_id"`
	Epoch       int               `json:"turn_epoch"`
	Headers     map[string]string `json:"context_headers"`
	Payload     jsontext.Value    `json:"payload"`
	Status      string            `json:"status"`
}

// EncodeInboxRow writes a row as a JSON object with the names of its database columns. The error is a [*HeaderError] or
// a [*PayloadError].
func EncodeInboxRow(r InboxRow) ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	payload, err := EncodeReport(r.Report)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	for name, values := range r.Context.headers() {
		headers[name] = values[0]
	}
	c := r.Context
	out, err := json.Marshal(inboxColumns{
		ID: r.ID, Project: c.ProjectID, Channel: c.ChannelID, Agent: c.AgentID, MessageType: r.MessageType,
		Correlation: c.ToolCallID, Turn: c.TurnID, Epoch: c.TurnEpoch, Headers: headers, Payload: payload, Status: inboxPending,
	}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("inbox row: %w", err)
	}
	return out, nil
}

// DecodeInboxRow reads a row. The columns take precedence over outdated headers, such as the epoch of 0 in the rows of
// turns. A header that names something else is refused, and so is a control field in the payload. The error is a
// [*HeaderError] or a [*PayloadError].
func DecodeInboxRow(raw []byte) (InboxRow, error) {
	var in inboxColumns
	if err := json.Unmarshal(raw, &in); err != nil {
		return InboxRow{}, &PayloadError{Reason: CodeInvalidPayload, Found: "malformed: " + clip(err.Error()), Expected: "an inbox row", Err: err}
	}
	header := make(map[string][]string, len(in.Headers))
	for name, value := range in.Headers {
		header[name] = []string{value}
	}
	c, err := DecodeHeader(header)
	if err != nil {
		return InboxRow{}, err
	}
	if c, err = in.override(c); err != nil {
		return InboxRow{}, err
	}
	r := InboxRow{ID: in.ID, MessageType: in.MessageType, Context: c}
	if err := bare(in.Payload); err != nil {
		return InboxRow{}, err
	}
	if r.Report, _, err = DecodeReport(in.Payload, c); err != nil {
		return InboxRow{}, err
	}
	return r, r.validate()
}

// override replaces header values with those of the columns.
func (in inboxColumns) override(c Context) (Context, error) {
	for _, column := range []struct {
		name, value string
		of          *string
	}{
		{HeaderProjectID, in.Project, &c.ProjectID},
		{HeaderChannelID, in.Channel, &c.ChannelID},
		{HeaderAgentID, in.Agent, &c.AgentID},
		{HeaderTurnID, in.Turn, &c.TurnID},
		{HeaderToolCallID, in.Correlation, &c.ToolCallID},
	} {
		if *column.of != "" && *column.of != column.value {
			return c, &HeaderError{Name: column.name, Found: Shown(*column.of), Expected: Shown(column.value) + ", as the column says"}
		}
		*column.of = column.value
	}
	c.TurnEpoch = in.Epoch
	return c, nil
}

// bare refuses a payload that contains a control field.
func bare(raw jsontext.Value) error {
	p, err := decodePayload(raw)
	if err != nil {
		return err
	}
	for name := range p {
		if slices.Contains(controlFields, name) {
			return &PayloadError{Reason: CodeInvalidPayload, Field: name, Found: "in the payload", Expected: "nothing here: it stands in the row"}
		}
	}
	return nil
}

// controlFields must not appear in the payload of a row (UTP, "Headers").
var controlFields = []string{
	"project_id", "channel_id", "channel", "agent_id", "agent_turn_id", "turn_epoch", "step_id", "tool_call_id", "trace_id", "traceparent",
	"tracestate", "parent_agent_id", "parent_agent_turn_id", "parent_step_id", "parent_traceparent", "recursion_depth", "source_agent_id",
}

func (r InboxRow) validate() error {
	if !validID(r.ID) || strings.Contains(r.ID, " ") {
		return &PayloadError{Reason: CodeInvalidPayload, Field: "inbox_id", Found: Shown(r.ID), Expected: idRule}
	}
	if r.MessageType != InboxToolResult && r.MessageType != InboxTimeout {
		return &PayloadError{Reason: CodeInvalidPayload, Field: "message_type", Found: Shown(r.MessageType), Expected: "tool_result or timeout"}
	}
	return r.Context.CheckCommand()
}
