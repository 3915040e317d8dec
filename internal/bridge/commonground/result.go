package commonground

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// report is a row of the bridge's inbox at theirs: their service has reported a call.
type report struct {
	inbox, call string
	payload     jsontext.Value
	// tool, subject and metadata are those of the call's own card, which the bridge wrote.
	tool     string
	subject  string
	metadata jsontext.Value
}

// ours is the name of the tool at Earshot.
func (r report) ours(at identity) string { return nameAt(at.name, r.tool, r.subject) }

// lineage is that of the call's own card.
func (r report) lineage() utp.Lineage {
	var l utp.Lineage
	_ = json.Unmarshal(r.metadata, &l) // without it the kernel goes by the call alone
	return l
}

// resultCard is the card that a report names.
func (r report) resultCard() (string, utp.AfterExecution, error) {
	p, _, err := utp.DecodeReport(r.payload, utp.Context{})
	if p.ToolResultCardID == "" {
		return "", "", err
	}
	return p.ToolResultCardID, p.AfterExecution, nil
}

// result translates a result card of theirs. Turn, step and call keep their ids. The author becomes the bridge, which is the
// service as Earshot knows it; what they wrote of status, result, error and what follows stays.
func result(to identity, r report, theirs utp.Card, after utp.AfterExecution) (utp.ResultCard, error) {
	f, err := utp.DecodeToolResult(theirs, after)
	switch {
	case err != nil:
		return f, err
	case f.ToolCallID != r.call:
		return f, &utp.CardError{Reason: utp.CodeToolCallIDMismatch, Card: theirs.ID, Field: "the call", Found: utp.Shown(f.ToolCallID), Expected: utp.Shown(r.call)}
	case f.FunctionName != r.tool:
		return f, &utp.CardError{Reason: utp.CodeBadRequest, Card: theirs.ID, Field: "metadata.function_name", Found: utp.Shown(f.FunctionName), Expected: utp.Shown(r.tool)}
	}
	f.Project, f.AuthorID, f.Lineage, f.FunctionName = to.project, to.author(), r.lineage(), r.ours(to)
	return f, nil
}

// identity is the bridge as a peer of Earshot.
type identity struct{ project, name string }

func (i identity) author() string { return "tool." + i.name }

// failed is a result of the bridge's own. Its card's id follows from the call's: what is told twice is told once.
func (i identity) failed(call, tool string, l utp.Lineage, e *utp.ToolError, now time.Time) utp.ResultCard {
	e.Source = utp.SourceTool
	return utp.ResultCard{
		ID: "bridge_" + strings.TrimPrefix(call, "tc_"), Project: i.project, AuthorID: i.author(), CreatedAt: now, ToolCallID: call,
		FunctionName: tool, Lineage: l, Status: utp.StatusFailed, Command: utp.Suspend, Error: e,
	}
}

// unreadable says that their service has answered, and that nobody knows what: if the call had an effect, that has happened.
func unreadable(err error) *utp.ToolError {
	return &utp.ToolError{Code: utp.CodeOutcomeUnknown, Message: "CommonGround's service has answered, and its result cannot be used: " + err.Error()}
}

// unsent says that the command has not left.
func unsent(code utp.Code, message string) *utp.ToolError {
	return (&utp.ToolError{Code: code, Message: message, Retryable: code == utp.CodeUpstreamUnavailable}).Untouched()
}
