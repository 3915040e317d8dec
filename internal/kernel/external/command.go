package external

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// maxMessage is the longest message of a refusal in bytes.
const maxMessage = 8 << 10

// Command is a third-party worker's command and the call that it is about, as far as both can be read.
type Command struct {
	Command utp.Command
	Service string      // that the subject names; "" is the kernel, for a tool of the PMO
	Lineage utp.Lineage // of the call
	Call    string

	header utp.Context
	wrong  error  // what is wrong with the command itself
	reused bool   // the id stands for another call
	tool   string // of the PMO that the subject names
}

// CommandError is why a command did not become a call. With Answer set the worker gets a failed result;
// without it, the command names no call to answer.
type CommandError struct {
	Code    utp.Code
	Message string
	Answer  bool
}

func (e *CommandError) Error() string { return string(e.Code) + ": " + e.Message }

func unanswerable(code utp.Code, message string) error {
	return &CommandError{Code: code, Message: message}
}

// ReadCommand reads the message alone. It keeps the error in the result: the headers or the card may
// still name the call.
func ReadCommand(from string, m utp.Message) (Command, error) {
	var a Command
	subject, err := utp.ParseSubject(m.Subject)
	a.tool = subject.PMOTool()
	if err != nil || !subject.IsToolCommand() && a.tool == "" || subject.Version != utp.Version {
		return a, unanswerable(utp.CodeBadRequest, "the subject is not a tool's of "+utp.Version)
	}
	if a.tool == "" {
		a.Service = subject.Target
	}
	if a.header, a.wrong = utp.DecodeHeader(m.Header); a.wrong == nil {
		a.header, a.wrong = a.header.At(subject)
	}
	if a.wrong != nil {
		a.header = utp.Context{} // no part of a contradictory context counts
	}
	command, header, err := utp.DecodeCommand(m.Payload, a.header)
	if a.wrong == nil {
		a.wrong = err
	}
	a.Command, a.header = command, header
	if a.Command.ToolCallCardID == "" {
		a.Command.ToolCallCardID = utp.NamedCard(m.Payload)
	}
	if a.header.AgentID != "" && a.header.AgentID != from {
		return a, unanswerable(utp.CodeInvalidSourceActor, "the command names another agent than its sender")
	}
	a.Call = a.header.ToolCallID
	a.Lineage = LineageOf(a.header)
	return a, nil
}

// Header is the context of the command, with the lineage that its card has filled in.
func (a *Command) Header() utp.Context {
	header := a.header
	header.TurnID, header.StepID, header.ParentStepID = a.Lineage.TurnID, a.Lineage.StepID, a.Lineage.ParentStepID
	return header
}

// Identify fills in what the headers leave out from the command's own card, and finds contradictions
// between the two. The identity in the headers wins.
func (a *Command) Identify(tx store.CardReader, from string) error {
	card, err := store.ReadCard(tx, a.Command.ToolCallCardID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	content, derr := utp.DecodeToolCall(card)
	if err == nil && derr == nil && card.AuthorID == from {
		a.complete(content)
	}
	if a.tool != "" && a.tool != a.Command.ToolName && a.wrong == nil {
		a.wrong = &CommandError{Code: utp.CodeBadRequest, Message: fmt.Sprintf(
			"the command names the tool %q; expected %s, as its subject says", store.Clip(a.Command.ToolName, store.MaxName), a.tool)}
	}
	switch {
	case a.Call == "":
		return unanswerable(utp.CodeMissingToolCallID, "the command names no call, and no card of its sender's that does")
	case a.Lineage.TurnID == "":
		return unanswerable(utp.CodeBadRequest, "the command names no turn, and no card of its sender's that does")
	}
	return nil
}

func (a *Command) complete(content utp.CallCard) {
	wrong := func(code utp.Code, message string) {
		if a.wrong == nil {
			a.wrong = &CommandError{Code: code, Message: message}
		}
	}
	if a.Call != "" && a.Call != content.ToolCallID {
		wrong(utp.CodeToolCallIDMismatch, "the card is about another call than the header")
		return
	}
	if a.Lineage.TurnID != "" && content.Lineage.TurnID != "" && a.Lineage.TurnID != content.Lineage.TurnID {
		wrong(utp.CodeAuthFailed, "the card belongs to another turn than the header")
		return
	}
	if a.Command.ToolName != "" && a.Command.ToolName != content.ToolName {
		wrong(utp.CodeBadRequest, "the command names another tool than its card")
	}
	if a.Command.ToolName == "" {
		a.Command.ToolName = content.ToolName
	}
	a.Call, a.Lineage = content.ToolCallID, content.Lineage.Or(a.Lineage)
}

// Judge decides about the command in its turn: it returns what the same call has led to before, or nothing if it is to
// become a call.
func (a *Command) Judge(tx Ledger, st turn.State, from, project string) (known api.CommandAnswer, err error) {
	if st.Agent != from || st.Project != project {
		return known, unanswerable(utp.CodeAuthFailed, "the command names no turn of its sender's")
	}
	if known, a.reused, err = a.recorded(tx, st); err != nil || known.State != "" {
		return known, err
	}
	switch {
	case st.Status == turn.Ended:
		err = unanswerable(utp.CodeTurnEnded, "the turn has ended; nothing waits for the command")
	case st.Status == turn.Queued:
		err = unanswerable(utp.CodeStale, "nobody holds the turn; claim it first")
	case a.header.TurnEpoch > 0 && a.header.TurnEpoch != st.Epoch:
		err = unanswerable(utp.CodeStale, "the turn is leased under another epoch; claim it again")
	case a.reused:
		err = idReused(a.Call)
	case a.wrong != nil:
		err = &CommandError{Code: refusalCode(a.wrong), Message: a.wrong.Error(), Answer: true}
	case a.header.RecursionDepth >= turn.MaxDepth:
		err = &CommandError{Code: utp.CodeRecursionDepthExceeded, Message: "the command comes from too many agents deep", Answer: true}
	}
	return known, err
}

// recorded finds what the same call has led to before, and whether its id already stands for
// another call: one of another turn or step. A command with one of the ledger's own ids is never
// answered.
func (a *Command) recorded(tx Ledger, st turn.State) (known api.CommandAnswer, reused bool, err error) {
	switch _, err := tx.Turn(store.TurnRef{Call: a.Call}); {
	case err == nil:
		return known, false, unanswerable(utp.CodeConflict, "the id of the call is taken by another one; ids are unique in a project")
	case !errors.Is(err, store.ErrNotFound):
		return known, false, err
	}
	given, err := AnswersTo(tx, st, a.Call)
	if err != nil {
		return known, false, err
	}
	if given.To(a.Lineage.StepID) {
		return api.CommandAnswer{State: api.CommandAnswered}, false, nil
	}
	for _, c := range st.Calls {
		if c.Origin == nil || c.Origin.Call != a.Call || c.ReplacedBy != "" || !c.State.Open() {
			continue
		}
		if a.Lineage.StepID == "" || a.Lineage.StepID == c.Step {
			return api.CommandAnswer{State: api.CommandAdopted, Call: c.ID}, false, nil
		}
		reused = true
	}
	reused = reused || given.projectAnswered
	if reused && given.free == "" {
		return known, true, unanswerable(utp.CodeConflict, "the id of the call was used again too often for a further answer; give each call an id of its own")
	}
	return known, reused, nil
}

func idReused(call string) error {
	return &CommandError{Code: utp.CodeConflict, Answer: true, Message: fmt.Sprintf(
		"the id %q stands for an earlier call, so this one was not made; give each call an id of its own, such as tc_ and 32 random hex digits", store.Clip(call, store.MaxName))}
}

// Answer returns the card that answers a refused command; none if its step has an answer.
func (a *Command) Answer(tx store.CardReader, st turn.State, refused *CommandError, now time.Time) ([]utp.Card, error) {
	lineage := a.Lineage
	lineage.StepID = cmp.Or(lineage.StepID, "step_unknown") // a worker fails the turn over a result without one
	given, err := AnswersTo(tx, st, a.Call)
	if err != nil || given.To(lineage.StepID) {
		return nil, err
	}
	author := "tool." + a.Service
	if a.Service == "" {
		author = "sys.kernel"
	}
	return given.card(utp.ResultCard{
		Project: st.Project, AuthorID: author, CreatedAt: now,
		FunctionName: cmp.Or(a.Command.ToolName, "unknown"), Lineage: lineage, Status: utp.StatusFailed, Command: a.Command.AfterExecution,
		Error: &utp.ToolError{Code: refused.Code, Message: store.Clip(refused.Message, maxMessage), Source: utp.SourceTool},
	}, a.reused)
}

// refusalCode returns the code for a command that cannot be read.
func refusalCode(err error) utp.Code {
	if refused, is := errors.AsType[*CommandError](err); is {
		return refused.Code
	}
	return CodeOf(err)
}

// RefusedFor makes an answer from the error that kept a well-formed command from becoming a call. An
// error of the ledger itself stays an error.
func RefusedFor(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &CommandError{Code: utp.CodeNotFound, Message: "the card that the command names is not in the ledger", Answer: true}
	}
	if _, is := errors.AsType[*utp.CardError](err); is {
		return &CommandError{Code: CodeOf(err), Message: err.Error(), Answer: true}
	}
	if f, is := errors.AsType[*api.Fault](err); is && f.Code != utp.CodeBusy { // a busy command is to be sent again
		return &CommandError{Code: f.Code, Message: f.Message, Answer: true}
	}
	return err
}

// LineageOf returns what headers say about where a call belongs.
func LineageOf(header utp.Context) utp.Lineage {
	return utp.Lineage{TurnID: header.TurnID, StepID: header.StepID, ParentStepID: header.ParentStepID}
}

// CodeOf returns the code of an error of package utp, else bad_request.
func CodeOf(err error) utp.Code {
	var coded interface{ Code() utp.Code }
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return utp.CodeBadRequest
}
