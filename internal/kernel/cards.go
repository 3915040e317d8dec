package kernel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// outOfLine saves a large value as a blob and returns a reference to it.
func (s *step) outOfLine(v jsontext.Value) (jsontext.Value, error) {
	out, pieces, err := argument.OutOfLine(v)
	if err != nil || len(pieces) == 0 {
		return out, err
	}
	return out, s.tx.Save(store.Batch{Blobs: pieces}) // at once: this step may read it again
}

func (s *step) lineage(c turn.Call) utp.Lineage {
	return utp.Lineage{TurnID: s.rec.State.Turn, StepID: c.Step, TraceID: s.trace()}
}

func (s *step) trace() string { return turn.TraceID(s.rec.State.Turn) }

func (s *step) saveCallCard(c turn.Call, target string, r argument.Resolved) error {
	args, err := s.outOfLine(r.Args)
	if err != nil {
		return err
	}
	card, err := utp.NewToolCall(utp.CallCard{
		ID: c.Card, Project: s.rec.State.Project, AuthorID: s.rec.State.Agent, CreatedAt: s.now.Wall,
		ToolCallID: c.ID, ToolName: c.Tool, Arguments: args, TargetSubject: target, Lineage: s.lineage(c),
		DefaultsApplied: r.Defaults, FixedApplied: r.Fixed, Envs: r.Envs,
	})
	if err != nil {
		return fmt.Errorf("kernel: card of call %s: %w", c.ID, err)
	}
	s.batch.Cards = append(s.batch.Cards, card)
	return nil
}

// callCard finds the card of a call, also one that this step makes.
func (s *step) callCard(c turn.Call) (utp.CallCard, error) {
	card, err := s.card(c.Card)
	if err != nil {
		return utp.CallCard{}, store.AsDamage(err)
	}
	content, err := utp.DecodeToolCall(card)
	if err != nil {
		return content, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return content, nil
}

func (s *step) card(id string) (utp.Card, error) {
	for _, card := range s.batch.Cards {
		if card.ID == id {
			return card, nil
		}
	}
	return store.ReadCard(s.tx, id)
}

// args returns the resolved arguments of a call, with references in place of secrets.
func (s *step) args(c turn.Call) (jsontext.Value, error) {
	card, err := s.callCard(c)
	if err != nil {
		return nil, store.Unexpected("arguments of call "+c.ID, err)
	}
	args, err := store.ReadValue(s.tx, card.Arguments)
	return args, store.AsDamage(err)
}

// givenArguments returns the arguments without what the operator's environment filled in.
func (s *step) givenArguments(c turn.Call) (jsontext.Value, error) {
	card, err := s.callCard(c)
	if err != nil {
		return nil, store.Unexpected("arguments of call "+c.ID, err)
	}
	args, err := store.ReadValue(s.tx, card.Arguments)
	if err != nil || len(card.Envs) == 0 {
		return args, store.AsDamage(err)
	}
	return argument.Without(args, card.Envs)
}

// recordOutcome writes the records of an ended call, in the transaction that ended it: its result card
// and the inbox row.
func (s *step) recordOutcome(id string) error {
	c, _ := s.rec.State.Find(id)
	o := c.Outcome
	if o == nil || s.rec.State.Turn == "" {
		return nil
	}
	if o.Card == "" { // ended by the kernel, not by a service
		made, err := s.saveOwnResult(c)
		if err != nil {
			return err
		}
		o.Card = made
	}
	s.batch.Reports = append(s.batch.Reports, store.Report{
		Turn: s.rec.State.Turn, Call: c.ID, Card: o.Card, Status: o.Status, After: string(cmp.Or(o.After, c.After, utp.Suspend)), At: s.now.Wall,
	})
	if err := s.boxed(c.ID, o.Card); err != nil {
		return err
	}
	return s.ended(c)
}

// saveOwnResult writes the result card of a call that no service has ended, and returns its id.
func (s *step) saveOwnResult(c turn.Call) (string, error) {
	o := c.Outcome
	r := utp.ResultCard{Status: o.Status, Source: utp.SourceWorker}
	if o.Status == utp.StatusTimeout {
		r.Source = utp.SourceWatchdog
	}
	if o.Status != utp.StatusSuccess {
		r.Error = &utp.ToolError{Code: o.Code, Message: o.Message, Source: r.Source}
	}
	if c.Batch != nil && c.State == turn.Finished {
		var err error
		if r.Result, err = s.delegated(c); err != nil {
			return "", err
		}
	}
	return s.saveResult(c, r)
}

// saveResult writes a tool.result card and returns its id.
func (s *step) saveResult(c turn.Call, r utp.ResultCard) (string, error) {
	id, err := s.k.ids.ID(s.now.Wall)
	if err != nil {
		return "", err
	}
	r.ID, r.Project, r.CreatedAt = "card_"+id, s.rec.State.Project, s.now.Wall
	r.AuthorID, r.ToolCallID, r.FunctionName = "tool."+c.Target, c.ID, c.Tool
	if c.Target == "" {
		r.AuthorID = "sys.kernel"
	}
	r.Lineage, r.Command = s.lineage(c), cmp.Or(c.After, utp.Suspend)
	if r.Result, err = s.outOfLine(r.Result); err != nil {
		return "", err
	}
	card, err := utp.NewToolResult(r)
	if err != nil {
		return "", fmt.Errorf("kernel: result of call %s: %w", c.ID, err)
	}
	s.batch.Cards = append(s.batch.Cards, card)
	return r.ID, nil
}

// outcome makes a card from a service's result. A result that is not valid JSON becomes a failure that
// says so, so that the call is not lost.
func (s *step) outcome(c turn.Call, status utp.Status, result api.Body, failure *utp.ToolError) (turn.Outcome, error) {
	raw, err := store.ReadBody(s.tx, result)
	if errors.Is(err, store.ErrNotFound) {
		return turn.Outcome{}, api.NewFault(utp.CodeBadRequest, "the result's blob has not been put, or not completely")
	}
	if err != nil {
		return turn.Outcome{}, err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n", status, raw)
	if failure != nil {
		fmt.Fprintf(sum, "%s\n%s\n", failure.Code, failure.Message)
	}
	o := turn.Outcome{Status: status, Digest: hex.EncodeToString(sum.Sum(nil))}
	if c.Outcome != nil && c.Outcome.Digest == o.Digest {
		return *c.Outcome, nil // the same result again
	}
	if argument.TooDeep(raw) {
		status, raw, failure = utp.StatusFailed, nil, &utp.ToolError{
			Code: utp.CodeResultNotSerializable, Message: fmt.Sprintf("the result is nested deeper than %d levels", argument.MaxNesting),
		}
	}
	card := utp.ResultCard{
		Status: status, Result: raw, Error: serviceError(failure), Source: utp.SourceTool, Command: cmp.Or(c.After, utp.Suspend),
	}.Normalize()
	o.Status, o.After = card.Status, card.AfterExecution
	if card.Error != nil {
		o.Code, o.Message, o.Untouched = card.Error.Code, card.Error.Message, card.Error.IsUntouched()
	}
	switch {
	case !c.Conclusive(o), o.TooLate() && (c.State == turn.Started || c.State == turn.LeaseExpired):
		// No result: a question about the outcome follows, or the call is asked for again.
	case c.Late == o.Digest:
		// The same late result again; it is recorded already.
	case c.State == turn.Resolved, s.rec.State.Status == turn.Ended:
		s.late = card.Result
		o.Card, err = s.saveLate(c, card)
	case c.State == turn.Finished, c.State == turn.Closed:
		// It will be refused; nothing is recorded.
	default:
		o.Card, err = s.saveResult(c, card)
	}
	return o, err
}

// serviceError returns a service's error, cut to the limits of the ledger. Of the gate's own codes, a
// service may use only those for an unknown outcome, a stop request, and a consent too old to begin.
func serviceError(e *utp.ToolError) *utp.ToolError {
	if e == nil {
		return nil
	}
	out := *e
	out.Message, out.Code = store.Clip(e.Message, maxMessage), utp.Code(store.Clip(string(e.Code), store.MaxName))
	switch out.Code {
	case utp.CodeConsentDeclined, utp.CodeConsentExpired, utp.CodeConsentWithdrawn, utp.CodeDeniedByPolicy:
		out.Code = utp.CodeUnknownError
	default:
	}
	return &out
}

func (s *step) saveLate(c turn.Call, r utp.ResultCard) (string, error) {
	id, err := s.saveResult(c, r)
	if err != nil {
		return "", err
	}
	card := &s.batch.Cards[len(s.batch.Cards)-1]
	if *card, err = store.Retyped(*card, store.CardLate); err != nil || !c.Class.Effectful() {
		return id, err
	}
	return id, s.addAct(api.AuditAct{
		Act: api.ActLate, Call: c.ID, Fence: c.Fence, Subject: id, Detail: string(r.Status), Digest: store.SHA256Hex(card.Content), By: c.Target,
	})
}

// resultOf returns the result that this step records for a call, if a service gave one and it is small
// enough to be reported.
func (s *step) resultOf(c turn.Call) (jsontext.Value, error) {
	if c.Outcome == nil || c.Outcome.Card == "" {
		return nil, nil
	}
	for _, card := range s.batch.Cards {
		if card.ID != c.Outcome.Card {
			continue
		}
		content, err := utp.DecodeToolResult(card)
		if err != nil {
			return nil, fmt.Errorf("kernel: %w", err)
		}
		if _, moved := store.ReferenceIn(content.Result); moved {
			return nil, nil
		}
		return content.Result, nil
	}
	return nil, nil
}

// result reads a recorded result as a planner sees it.
func result(tx store.Tx, row store.ResultRow) (api.CallResult, error) {
	card, err := store.ReadCard(tx, row.Card)
	if err != nil {
		return api.CallResult{}, err
	}
	return resultOn(card, row)
}

// resultOn returns a call's result from its result card.
func resultOn(card utp.Card, row store.ResultRow) (api.CallResult, error) {
	r := api.CallResult{Key: row.Key, Call: row.Call, Tool: row.Tool}
	content, err := utp.DecodeToolResult(card)
	if err != nil {
		return r, fmt.Errorf("kernel: %w", err)
	}
	r.Status, r.Step = content.Status, content.Lineage.StepID
	if content.Error != nil {
		r.Code, r.Message = content.Error.Code, content.Error.Message
	}
	r.Result = argument.Body(content.Result)
	return r, nil
}

// callArguments returns the arguments of a call whose result is in a transcript.
func callArguments(tx store.Tx, row store.ResultRow) (api.Body, error) {
	card, err := store.ReadCard(tx, "card_"+strings.TrimPrefix(row.Call, "tc_"))
	if err != nil {
		return api.Body{}, err
	}
	content, err := utp.DecodeToolCall(card)
	if err != nil {
		return api.Body{}, fmt.Errorf("kernel: %w", err)
	}
	args := content.Arguments
	if _, moved := store.ReferenceIn(args); !moved && len(content.Envs) > 0 {
		if args, err = argument.Without(args, content.Envs); err != nil {
			return api.Body{}, err
		}
	}
	return argument.Body(args), nil
}

// handOut makes a request body from arguments, for a service.
func (s *step) handOut(args jsontext.Value) (api.Body, error) {
	if len(args) <= api.InlineLimit {
		return api.Body{Inline: args}, nil
	}
	raw, err := s.outOfLine(args)
	return argument.Body(raw), err
}
