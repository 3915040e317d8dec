package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// arrived is a third-party worker's command and the call that it is about, as far as both can be read.
type arrived struct {
	command utp.Command
	header  utp.Context
	service string      // that the subject names
	lineage utp.Lineage // of the call
	call    string
	wrong   error // what is wrong with the command itself
	reused  bool  // the id stands for another call
}

// commandError is why a command did not become a call. With answer set the worker gets a failed result;
// without it, the command names no call to answer.
type commandError struct {
	code    utp.Code
	message string
	answer  bool
}

func (e *commandError) Error() string { return string(e.code) + ": " + e.message }

func unanswerable(code utp.Code, message string) error {
	return &commandError{code: code, message: message}
}

// externalCommand handles a command that a third-party worker has published to a tool's subject. The
// command itself never reaches the tool: it becomes a call of the worker's turn like any other, asked
// for if policy says so, and is answered in the worker's own form. An invalid command is answered if it
// names its call, else only counted. Either way it is not sent again.
func (k *Kernel) externalCommand(ctx context.Context, from Caller, m utp.Message) (api.CommandAnswer, error) {
	a, err := readCommand(from, m)
	var out api.CommandAnswer
	if err == nil {
		out, err = k.adoptCommand(ctx, from, &a)
	}
	refused, is := errors.AsType[*commandError](err)
	switch {
	case err == nil:
		if out.State == api.CommandAdopted {
			k.external.adopted.Add(1)
		}
		return out, nil
	case !is:
		return api.CommandAnswer{}, store.ProtocolError(err)
	case !refused.answer:
		k.external.dropped.Add(1)
	default:
		if err := k.answerRefused(ctx, from, a, refused); err != nil {
			return api.CommandAnswer{}, store.ProtocolError(err)
		}
		k.external.answered.Add(1)
	}
	k.o.Logger.Debug("foreign command refused", "name", from.Name, "call", a.call, "code", refused.code, "answered", refused.answer)
	return api.CommandAnswer{}, api.NewFault(refused.code, refused.message)
}

// readCommand reads the message alone. It keeps the error in the result: the headers or the card may
// still name the call.
func readCommand(from Caller, m utp.Message) (arrived, error) {
	var a arrived
	subject, err := utp.ParseSubject(m.Subject)
	if err != nil || !subject.IsToolCommand() || subject.Version != utp.Version {
		return a, unanswerable(utp.CodeBadRequest, "the subject is not a tool's of "+utp.Version)
	}
	a.service = subject.Target
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
	a.command, a.header = command, header
	if a.command.ToolCallCardID == "" {
		a.command.ToolCallCardID = utp.NamedCard(m.Payload)
	}
	if a.header.AgentID != "" && a.header.AgentID != from.Name {
		return a, unanswerable(utp.CodeInvalidSourceActor, "the command names another agent than its sender")
	}
	a.call = a.header.ToolCallID
	a.lineage = lineageOf(a.header)
	return a, nil
}

// adoptCommand makes a call from the command, in one step of its turn.
func (k *Kernel) adoptCommand(ctx context.Context, from Caller, a *arrived) (api.CommandAnswer, error) {
	if err := k.o.Store.View(ctx, func(tx store.Tx) error { return a.identify(tx, from) }); err != nil {
		return api.CommandAnswer{}, err
	}
	var out api.CommandAnswer
	err := k.attempt(ctx, store.TurnRef{Turn: a.lineage.TurnID}, func(s *step) (err error) {
		out, err = s.adoptCommand(from, a)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = unanswerable(utp.CodeNotFound, "the command names no turn of the ledger")
	}
	return out, err
}

// identify fills in what the headers leave out from the command's own card, and finds contradictions
// between the two. The identity in the headers wins.
func (a *arrived) identify(tx store.Tx, from Caller) error {
	card, err := store.ReadCard(tx, a.command.ToolCallCardID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	content, derr := utp.DecodeToolCall(card)
	if err == nil && derr == nil && card.AuthorID == from.Name {
		a.complete(content)
	}
	switch {
	case a.call == "":
		return unanswerable(utp.CodeMissingToolCallID, "the command names no call, and no card of its sender's that does")
	case a.lineage.TurnID == "":
		return unanswerable(utp.CodeBadRequest, "the command names no turn, and no card of its sender's that does")
	}
	return nil
}

func (a *arrived) complete(content utp.CallCard) {
	wrong := func(code utp.Code, message string) {
		if a.wrong == nil {
			a.wrong = &commandError{code: code, message: message}
		}
	}
	if a.call != "" && a.call != content.ToolCallID {
		wrong(utp.CodeToolCallIDMismatch, "the card is about another call than the header")
		return
	}
	if a.lineage.TurnID != "" && content.Lineage.TurnID != "" && a.lineage.TurnID != content.Lineage.TurnID {
		wrong(utp.CodeAuthFailed, "the card belongs to another turn than the header")
		return
	}
	if a.command.ToolName != "" && a.command.ToolName != content.ToolName {
		wrong(utp.CodeBadRequest, "the command names another tool than its card")
	}
	if a.command.ToolName == "" {
		a.command.ToolName = content.ToolName
	}
	a.call, a.lineage = content.ToolCallID, content.Lineage.Or(a.lineage)
}

// adoptCommand adopts the command in one step.
func (s *step) adoptCommand(from Caller, a *arrived) (api.CommandAnswer, error) {
	st := s.rec.State
	if st.Agent != from.Name || st.Project != s.k.o.Project {
		return api.CommandAnswer{}, unanswerable(utp.CodeAuthFailed, "the command names no turn of its sender's")
	}
	known, reused, err := s.recordedCommand(a)
	if err != nil || known.State != "" {
		return known, err
	}
	a.reused = reused
	switch {
	case st.Status == turn.Ended:
		return known, unanswerable(utp.CodeTurnEnded, "the turn has ended; nothing waits for the command")
	case st.Status == turn.Queued:
		return known, unanswerable(utp.CodeStale, "nobody holds the turn; claim it first")
	case a.header.TurnEpoch > 0 && a.header.TurnEpoch != st.Epoch:
		return known, unanswerable(utp.CodeStale, "the turn is leased under another epoch; claim it again")
	case a.reused:
		return known, idReused(a.call)
	case a.wrong != nil:
		return known, &commandError{code: refusalCode(a.wrong), message: a.wrong.Error(), answer: true}
	case a.header.RecursionDepth >= turn.MaxDepth:
		return known, &commandError{code: utp.CodeRecursionDepthExceeded, message: "the command comes from too many agents deep", answer: true}
	case !s.k.active(st.Turn):
		return known, api.NewFault(utp.CodeStale, "nobody attends to the turn at the moment")
	}
	if err := s.checkOpenCalls(1); err != nil {
		return known, refusedFor(err)
	}
	c, err := s.callFromCommand(a.service, a.call, a.command, a.lineage)
	if err != nil {
		return known, refusedFor(err)
	}
	return api.CommandAnswer{State: api.CommandAdopted, Call: c.ID}, s.dispatch(turn.Adopt{Call: c})
}

// recordedCommand finds what the same call has led to before, and whether its id already stands for
// another call: one of another turn or step. A command with one of the ledger's own ids is never
// answered.
func (s *step) recordedCommand(a *arrived) (known api.CommandAnswer, reused bool, err error) {
	st := s.rec.State
	switch _, err := s.tx.Turn(store.TurnRef{Call: a.call}); {
	case err == nil:
		return known, false, unanswerable(utp.CodeConflict, "the id of the call is taken by another one; ids are unique in a project")
	case !errors.Is(err, store.ErrNotFound):
		return known, false, err
	}
	given, err := answersTo(s.tx, st, a.call)
	if err != nil {
		return known, false, err
	}
	if given.to(a.lineage.StepID) {
		return api.CommandAnswer{State: api.CommandAnswered}, false, s.wakeOrigin() // the first wakeup may have been lost
	}
	for _, c := range st.Calls {
		if c.Origin == nil || c.Origin.Call != a.call || c.ReplacedBy != "" || !c.State.Open() {
			continue
		}
		if a.lineage.StepID == "" || a.lineage.StepID == c.Step {
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
	return &commandError{code: utp.CodeConflict, answer: true, message: fmt.Sprintf(
		"the id %q stands for an earlier call, so this one was not made; give each call an id of its own, such as tc_ and 32 random hex digits", store.Clip(call, store.MaxName))}
}

func (s *step) answered(call string) (utp.ResultCard, error) {
	return answerOn(s.tx, answerID(s.rec.State.Project, call))
}

// refusalCode returns the code for a command that cannot be read.
func refusalCode(err error) utp.Code {
	if refused, is := errors.AsType[*commandError](err); is {
		return refused.code
	}
	return codeOf(err)
}

// refusedFor makes an answer from the error that kept a well-formed command from becoming a call. An
// error of the ledger itself stays an error.
func refusedFor(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &commandError{code: utp.CodeNotFound, message: "the card that the command names is not in the ledger", answer: true}
	}
	if _, is := errors.AsType[*utp.CardError](err); is {
		return &commandError{code: codeOf(err), message: err.Error(), answer: true}
	}
	if f, is := errors.AsType[*api.Fault](err); is && f.Code != utp.CodeBusy { // a busy command is to be sent again
		return &commandError{code: f.Code, message: f.Message, answer: true}
	}
	return err
}
