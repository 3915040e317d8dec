package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// uiAction handles the action of a user interface that is a third-party peer: it acts under its own name, for the person
// who runs the server. What is wrong with the command is its answer.
func (k *Kernel) uiAction(ctx context.Context, from Caller, m utp.Message) (api.ActionAnswer, error) {
	header, err := utp.DecodeHeader(m.Header)
	if err != nil {
		return api.ActionAnswer{}, api.NewFault(external.CodeOf(err), err.Error())
	}
	action, header, err := utp.DecodeUIAction(m.Payload, header)
	q := api.ActRequest{Agent: from.Name, Owner: k.o.Operator, Action: action.ActionID, Message: action.MessageID, Tool: action.ToolName, Args: action.Args, Tracestate: header.Tracestate}
	switch {
	case header.AgentID != "" && header.AgentID != from.Name:
		return api.ActionAnswer{}, api.NewFault(utp.CodeInvalidSourceActor, "the action names another agent than its sender")
	case header.ProjectID != "" && header.ProjectID != k.o.Project:
		return api.ActionAnswer{}, api.NewFault(utp.CodeBadRequest, "the action names another project than "+k.o.Project)
	case err != nil && q.Action == "":
		return api.ActionAnswer{}, api.NewFault(external.CodeOf(err), err.Error())
	case err != nil:
		return notBegun(q, external.CodeOf(err), err.Error()), nil
	}
	return k.act(ctx, from, q)
}

// act begins the turn of an action, or finds it again, and says how it stands.
func (k *Kernel) act(ctx context.Context, from Caller, q api.ActRequest) (api.ActionAnswer, error) {
	if code, message := checkAct(q); code != "" {
		return notBegun(q, code, message), nil
	}
	args, err := json.Marshal(api.OperatorArgs{Tool: q.Tool, Args: q.Args}, jsontext.PreserveRawStrings(true))
	if err != nil {
		return notBegun(q, utp.CodeInvalidArgs, "the arguments are not JSON: "+err.Error()), nil //nolint:nilerr // what is wrong with the action is its answer
	}
	begin := api.EnqueueRequest{
		Agent: q.Agent, Owner: q.Owner, Args: args, Request: "Call " + q.Tool, Key: store.SHA256Hex([]byte(cmp.Or(q.Message, q.Action))),
	}
	rec, _, err := k.begin(ctx, from, "action "+q.Agent, begin, func(s *step) error { return s.act(q) })
	if fault, is := errors.AsType[*api.Fault](err); is && slices.Contains(refusals, fault.Code) {
		return notBegun(q, fault.Code, fault.Message), nil
	}
	if err != nil {
		return api.ActionAnswer{}, err
	}
	return k.acknowledge(ctx, q, rec.State.Turn)
}

// refusals are the codes by which an action is refused, with nothing begun. Any other is an error of the request to the
// kernel.
var refusals = []utp.Code{
	utp.CodeToolDefinitionMissing, utp.CodeUINotAllowed, utp.CodeAgentInactive, utp.CodeTooManyTurns, utp.CodeConflict, utp.CodeTooLarge, utp.CodeBadRequest,
}

// notBegun acknowledges an action that was refused. An agent, or an owner, that has too many turns is busy.
func notBegun(q api.ActRequest, code utp.Code, message string) api.ActionAnswer {
	a := api.ActionAnswer{Action: q.Action, Agent: q.Agent, Message: q.Message, Status: api.ActionRejected, Code: code, Error: message}
	if code == utp.CodeTooManyTurns {
		a.Status, a.Code = api.ActionBusy, utp.CodeAgentBusy
	}
	return a
}

// checkAct returns what is wrong with the request itself, or "".
func checkAct(q api.ActRequest) (utp.Code, string) {
	switch {
	case q.Action == "" || q.Tool == "" || len(q.Args) == 0 || q.Args.Kind() == jsontext.KindNull:
		return utp.CodeMissingRequiredFields, "an action has action_id, tool_name and args"
	case max(len(q.Action), len(q.Message)) > store.MaxName:
		return utp.CodeBadRequest, "the ids of the action and of its message have at most 128 bytes each"
	case q.Args.Kind() != jsontext.KindBeginObject:
		return utp.CodeInvalidArgs, "the arguments of an action are an object"
	case len(q.Args) > api.ActionLimit:
		return utp.CodeTooLarge, fmt.Sprintf("the arguments of an action may have %d bytes", api.ActionLimit)
	}
	return "", ""
}

// act makes the turn of the step that of an action: with its one call, which is judged and asked about like any other.
func (s *step) act(q api.ActRequest) error {
	tool, err := store.ReadTool(s.tx, q.Tool)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && s.k.registry.Lacks(tool):
		return api.NewFault(utp.CodeToolDefinitionMissing, fmt.Sprintf("there is no tool %.128q", q.Tool))
	case err != nil:
		return err
	}
	options, err := utp.ParseOptions(tool.Definition.Options)
	if err != nil {
		return store.Unexpected("the options of "+q.Tool, err)
	}
	if !options.UIAllowed {
		return api.NewFault(utp.CodeUINotAllowed, fmt.Sprintf("the definition of %s does not have ui_allowed: true in its options", q.Tool))
	}
	s.rec.State.Outside, s.rec.State.Tracestate = true, utp.BoundTracestate(q.Tracestate)
	if err := s.dispatch(turn.Open{Action: true}); err != nil {
		return err
	}
	id, err := s.k.ids.ID(s.now.Wall)
	if err != nil {
		return err
	}
	c, err := s.make(admission.Request{Step: "step_" + id, Tool: q.Tool, Args: q.Args})
	if err != nil {
		return err
	}
	c.HostCall = q.Action
	return s.dispatch(turn.Adopt{Call: c})
}

// acknowledge says how an action stands.
func (k *Kernel) acknowledge(ctx context.Context, q api.ActRequest, id string) (api.ActionAnswer, error) {
	a := api.ActionAnswer{Action: q.Action, Agent: q.Agent, Message: q.Message, Status: api.ActionAccepted, Turn: id}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: id})
		if err != nil {
			return err
		}
		a.Session = rec.State.Session
		s := k.newStep(tx, k.clock.Now(), rec)
		c, has := rec.State.ActionCall()
		if has {
			a.Call = c.ID
		}
		if rec.State.Status != turn.Ended {
			return nil
		}
		return s.acknowledgeEnd(&a, c)
	})
	return a, store.ProtocolError(err)
}

// acknowledgeEnd says how an action has ended. A tool of the protocol may say itself which of the statuses it is (U-30).
func (s *step) acknowledgeEnd(a *api.ActionAnswer, c turn.Call) error {
	end := s.rec.State.End
	o := cmp.Or(c.Outcome, &turn.Outcome{Status: end.Status, Code: end.Code, Message: end.Message}) // without its call it is erased
	a.Status, a.Card = api.ActionDone, o.Card
	if o.Status != utp.StatusSuccess {
		a.Status, a.Code, a.Error = api.ActionRejected, cmp.Or(o.Code, utp.CodeUnknownError), o.Message
		return nil
	}
	if o.Card == "" {
		return nil
	}
	card, err := s.cards.Card(o.Card)
	if err != nil {
		return store.AsDamage(err)
	}
	result, err := utp.DecodeToolResult(card)
	if err != nil {
		return store.AsDamage(err)
	}
	var own struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(result.Result, &own) == nil && slices.Contains(ownStatuses, own.Status) { // any other result says nothing of it
		a.Status = own.Status
	}
	return nil
}

// ownStatuses are those that the result of a tool may say.
var ownStatuses = []string{api.ActionAccepted, api.ActionBusy, api.ActionRejected, api.ActionDone}
