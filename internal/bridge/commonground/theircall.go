package commonground

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// theirCall is a call that an agent of theirs makes.
type theirCall struct {
	context utp.Context
	command utp.Command
	anchor  anchor
	card    utp.CallCard
	tool    string // at Earshot
	args    jsontext.Value
	until   time.Time // when they wait no longer
}

// anchor is how their sender has entered the call: what a result has to agree with.
type anchor struct {
	target  string // of the worker's wakeups
	channel string
	depth   int
	epoch   int
	trace   string
	headers map[string]string
}

// refusal says why a call is not made.
type refusal struct {
	code    utp.Code
	message string
}

func (r *refusal) Error() string  { return r.message }
func (r *refusal) Code() utp.Code { return r.code }

// readCommand reads a command. The error says what is wrong with it; who sent it may be known all the same.
func readCommand(m jetstream.Msg) (theirCall, error) {
	var c theirCall
	header, err := utp.DecodeHeader(m.Headers())
	if err != nil {
		return c, err
	}
	at, err := utp.ParseSubject(m.Subject())
	if err == nil {
		header, err = header.At(at)
	}
	if err != nil {
		return c, err
	}
	c.context = header
	command, merged, err := utp.DecodeCommand(m.Data(), header)
	if err != nil {
		return c, err
	}
	c.command, c.context = command, merged
	return c, nil
}

// check says what is wrong with a call; nil is nothing.
func (c *theirCall) check(at place, t tool, subject string) error {
	want, err := t.subject(at.project, c.context.ChannelID, c.context.AgentID)
	switch {
	case err != nil:
		return err
	case want.String() != subject:
		return &refusal{utp.CodeBadRequest, "the command came on " + utp.Shown(subject) + "; expected the subject of its tool, " + want.String()}
	case c.tool == "":
		return &refusal{utp.CodeAuthFailed, "Earshot's bridge does not serve " + utp.Shown(t.name) + "; its operator names it with --serve, or the agent that it asks with --ask"}
	case c.card.ToolCallID != "" && c.card.ToolCallID != c.context.ToolCallID:
		return &refusal{utp.CodeToolCallIDMismatch, "the card is that of the call " + utp.Shown(c.card.ToolCallID) + "; expected " + c.context.ToolCallID}
	case c.card.ToolName != t.name:
		return &refusal{utp.CodeBadRequest, "the card calls " + utp.Shown(c.card.ToolName) + "; expected " + t.name}
	case len(c.card.Envs) > 0:
		return &refusal{utp.CodeBadRequest, "arguments from the environment (options.envs) are not served; leave them out of the tool"}
	}
	return nil
}

// defaultPatience is how long they wait for a call whose tool does not say it.
const defaultPatience = 5 * time.Minute

// patience is how long their worker waits for a call of the tool.
func (t tool) patience() time.Duration {
	var o struct {
		Suspend float64 `json:"suspend_timeout_seconds"`
		Timeout float64 `json:"timeout_seconds"`
	}
	if json.Unmarshal(t.options, &o) != nil {
		return defaultPatience
	}
	const most = 24 * 60 * 60 // as long as the stream keeps a command
	for _, seconds := range []float64{o.Suspend, o.Timeout} {
		if seconds > 0 {
			return time.Duration(min(seconds, most) * float64(time.Second))
		}
	}
	return defaultPatience
}

// base is what every result of the call has. Its id follows from the call's: what is told twice is told once.
func (c theirCall) base(at place, now time.Time) utp.ResultCard {
	command := c.command.AfterExecution
	if !command.Valid() {
		command = utp.Suspend
	}
	return utp.ResultCard{
		ID: "earshot_" + c.short(), Project: at.project, AuthorID: "tool." + at.agent, CreatedAt: now, ToolCallID: c.context.ToolCallID,
		FunctionName: cmp.Or(c.command.ToolName, c.card.ToolName, "unknown"), Command: command,
		Lineage: c.card.Lineage.Or(utp.Lineage{TurnID: c.context.TurnID, StepID: c.context.StepID, TraceID: c.anchor.trace, ParentStepID: c.context.ParentStepID}),
	}
}

// short stands for the call: their ids may be any text, and are unique in one project only.
func (c theirCall) short() string {
	sum := sha256.Sum256([]byte(c.context.ProjectID + "\n" + c.context.ToolCallID))
	return hex.EncodeToString(sum[:16])
}

// result is what Earshot's call came to. Nothing but a success reads as one.
func (c theirCall) result(at place, call api.AgentCall, now time.Time) utp.ResultCard {
	r := c.base(at, now)
	r.Status, r.Result = call.Status, call.Result
	if call.Status != utp.StatusSuccess {
		r.Error = &utp.ToolError{Code: cmp.Or(call.Code, utp.CodeInternalError), Message: cmp.Or(call.Message, "Earshot gives no reason"), Source: utp.SourceTool}
	}
	return r.Normalize()
}

// refused is a result of the bridge's own: the call was not made, or nobody waits for it any more.
func (c theirCall) refused(at place, code utp.Code, message string, now time.Time) utp.ResultCard {
	r := c.base(at, now)
	r.Status, r.Error = utp.StatusFailed, &utp.ToolError{Code: code, Message: message, Source: utp.SourceTool}
	if code == utp.CodeToolTimeout {
		r.Status = utp.StatusTimeout
	}
	return r.Normalize()
}

// unwritable stands for a result that their database does not take. What was done stays done.
func (c theirCall) unwritable(at place, r utp.ResultCard, now time.Time) utp.ResultCard {
	message := "the call ended with the status " + string(r.Status) + ", and CommonGround's database does not take its result"
	return c.refused(at, utp.CodeOutcomeUnknown, message, now)
}

// answerRows are what a result writes into their tables.
type answerRows struct {
	card                           utp.Card
	context                        utp.Context
	anchor                         anchor
	source                         string
	inbox, edge                    string
	headers, payload, edgeMetadata jsontext.Value
}

// rows are the card, the row of the worker's inbox and the edge of a result.
func (c theirCall) rows(r utp.ResultCard) (a answerRows, err error) {
	if a.card, err = utp.NewToolResult(r); err != nil {
		return a, err
	}
	if a.payload, err = utp.EncodeReport(r.Report()); err != nil {
		return a, err
	}
	a.context, a.anchor, a.source = c.context, c.anchor, r.AuthorID
	a.inbox, a.edge = "inbox_earshot_"+c.short(), "edge_report_"+c.short()
	headers := maps.Clone(c.anchor.headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers[utp.HeaderToolCallID], headers[utp.HeaderRecursionDepth] = c.context.ToolCallID, strconv.Itoa(c.anchor.depth)
	for into, value := range map[*jsontext.Value]any{
		&a.headers:      headers,
		&a.edgeMetadata: map[string]any{"message_type": "tool_result", "inbox_id": a.inbox, "recursion_depth": c.anchor.depth},
	} {
		if *into, err = json.Marshal(value, json.Deterministic(true)); err != nil {
			return a, err //nolint:wrapcheck // texts and numbers
		}
	}
	return a, nil
}
