package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// reference stands in a card for a value that is larger than [utp.InlineLimit].
type reference struct {
	SHA256 string `json:"$blob"`
	Size   int64  `json:"size"`
}

func referenced(v jsontext.Value) (reference, bool) {
	var r reference
	if len(v) > 200 || v.Kind() != '{' || json.Unmarshal(v, &r, json.RejectUnknownMembers(true)) != nil {
		return r, false
	}
	return r, len(r.SHA256) == sha256.Size*2
}

// outOfLine keeps a large value as a blob and returns what stands for it.
func (s *step) outOfLine(v jsontext.Value) (jsontext.Value, error) {
	if len(v) <= utp.InlineLimit {
		return v, nil
	}
	sum := sha256.Sum256(v)
	r := reference{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(v))}
	for at := 0; at < len(v); at += utp.ChunkLimit {
		piece := v[at:min(at+utp.ChunkLimit, len(v))]
		if err := s.tx.SaveBlob(utp.PutRequest{SHA256: r.SHA256, Size: r.Size, Offset: int64(at), Data: piece}); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, unexpected("a reference", err)
	}
	return raw, nil
}

// inLine reads a value back that outOfLine may have moved.
func inLine(tx Tx, v jsontext.Value) (jsontext.Value, error) {
	r, moved := referenced(v)
	if !moved {
		return v, nil
	}
	return whole(tx, r.SHA256)
}

func (s *step) lineage(c turn.Call) utp.Lineage {
	return utp.Lineage{TurnID: s.rec.State.Turn, StepID: c.Step, TraceID: s.trace()}
}

// trace is the trace id of the turn: the hex part of its own id.
func (s *step) trace() string { return s.rec.State.Turn[len("turn_"):] }

func (s *step) keepCallCard(c turn.Call, target string, r resolved) error {
	args, err := s.outOfLine(r.args)
	if err != nil {
		return err
	}
	card, err := utp.NewToolCall(utp.CallCard{
		ID: c.Card, Project: s.rec.State.Project, AuthorID: s.rec.State.Agent, CreatedAt: s.now.Wall,
		ToolCallID: c.ID, ToolName: c.Tool, Arguments: args, TargetSubject: target, Lineage: s.lineage(c),
		DefaultsApplied: r.defaults, FixedApplied: r.fixed, Envs: r.envs,
	})
	if err != nil {
		return fmt.Errorf("kernel: card of call %s: %w", c.ID, err)
	}
	s.batch.Cards = append(s.batch.Cards, card)
	return nil
}

// callCard finds the card of a call, also one that this very step makes.
func (s *step) callCard(c turn.Call) (utp.CallCard, error) {
	for _, card := range s.batch.Cards {
		if card.ID == c.Card {
			return utp.DecodeToolCall(card)
		}
	}
	card, err := s.tx.Card(c.Card)
	if err != nil {
		return utp.CallCard{}, err
	}
	return utp.DecodeToolCall(card)
}

// args are the resolved arguments of a call, with references where secrets are.
func (s *step) args(c turn.Call) (jsontext.Value, error) {
	card, err := s.callCard(c)
	if err != nil {
		return nil, unexpected("arguments of call "+c.ID, err)
	}
	return inLine(s.tx, card.Arguments)
}

// given are the arguments without what the operator's environment put into them.
func (s *step) given(c turn.Call) (jsontext.Value, error) {
	card, err := s.callCard(c)
	if err != nil {
		return nil, unexpected("arguments of call "+c.ID, err)
	}
	args, err := inLine(s.tx, card.Arguments)
	if err != nil || len(card.Envs) == 0 {
		return args, err
	}
	return withoutMembers(args, card.Envs)
}

// recordOutcome writes what an ended call leaves behind: its result card, the inbox
// row and the edge, in the transaction that ended it.
func (s *step) recordOutcome(id string) error {
	c, _ := s.rec.State.Find(id)
	o := c.Outcome
	if o == nil || s.rec.State.Turn == "" {
		return nil
	}
	if o.Card == "" { // ended by the kernel, not by a service
		made, err := s.keepResult(c, utp.ResultCard{
			Status: o.Status, Source: utp.SourceWorker,
			Error: &utp.ToolError{Code: o.Code, Message: o.Message, Source: utp.SourceWorker},
		})
		if err != nil {
			return err
		}
		o.Card = made
	}
	s.batch.Reports = append(s.batch.Reports, Report{
		Turn: s.rec.State.Turn, Call: c.ID, Card: o.Card, Status: o.Status, After: string(utp.Suspend), At: s.now.Wall,
	})
	s.batch.Edges = append(s.batch.Edges, s.edge(c, "report", "response"))
	return nil
}

// keepResult writes a tool.result card and returns its id.
func (s *step) keepResult(c turn.Call, r utp.ResultCard) (string, error) {
	id, err := s.k.id(s.now.Wall)
	if err != nil {
		return "", err
	}
	r.ID, r.Project, r.CreatedAt = "card_"+id, s.rec.State.Project, s.now.Wall
	r.AuthorID, r.ToolCallID, r.FunctionName = "tool."+c.Target, c.ID, c.Tool
	if c.Target == "" {
		r.AuthorID = "sys.kernel"
	}
	r.Lineage, r.Command = s.lineage(c), utp.Suspend
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

// outcome makes a card of what a service has to say. A result that is no JSON for us
// becomes a failure that says so; the call is not lost over it.
func (s *step) outcome(c turn.Call, status utp.Status, result utp.Body, failure *utp.ToolError) (turn.Outcome, error) {
	raw, err := body(s.tx, result)
	if errors.Is(err, ErrNotFound) {
		return turn.Outcome{}, fault(utp.CodeBadRequest, "the result's blob has not been put, or not completely")
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
	card := utp.ResultCard{Status: status, Result: raw, Error: failure, Source: utp.SourceTool}.Normalize()
	o.Status = card.Status
	if card.Error != nil {
		o.Code, o.Message = card.Error.Code, card.Error.Message
	}
	switch {
	case c.Late == o.Digest:
		// The same late result again; it is kept.
	case c.State == turn.Resolved, s.rec.State.Status == turn.Ended:
		s.late = card.Result
		o.Card, err = s.keepLate(c, card)
	case c.State == turn.Finished, c.State == turn.Over:
		// It will be refused; nothing is to be kept.
	default:
		o.Card, err = s.keepResult(c, card)
	}
	return o, err
}

// cardLate is the type of a result that came after its call was resolved: it is kept,
// and the call's one tool.result stays what it was.
const cardLate = "tool.late_result"

func (s *step) keepLate(c turn.Call, r utp.ResultCard) (string, error) {
	id, err := s.keepResult(c, r)
	if err != nil {
		return "", err
	}
	card := &s.batch.Cards[len(s.batch.Cards)-1]
	card.Type = cardLate
	if card.Metadata, err = utp.SetMember(card.Metadata, "type", jsontext.Value(`"`+cardLate+`"`)); err != nil {
		return "", unexpected("card of a late result", err)
	}
	return id, nil
}

// resultOf is the result that this step records for a call, when a service gave one
// and it is small enough to be told from.
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
		if _, moved := referenced(content.Result); moved {
			return nil, nil
		}
		return content.Result, nil
	}
	return nil, nil
}

// result reads a recorded result as a planner sees it.
func result(tx Tx, row ResultRow) (utp.CallResult, error) {
	r := utp.CallResult{Key: row.Key, Call: row.Call, Tool: row.Tool}
	card, err := tx.Card(row.Card)
	if err != nil {
		return r, err
	}
	content, err := utp.DecodeToolResult(card)
	if err != nil {
		return r, fmt.Errorf("kernel: %w", err)
	}
	r.Status = content.Status
	if content.Error != nil {
		r.Code, r.Message = content.Error.Code, content.Error.Message
	}
	if ref, moved := referenced(content.Result); moved {
		r.Result = utp.Body{SHA256: ref.SHA256, Size: ref.Size}
	} else {
		r.Result = utp.Body{Inline: content.Result}
	}
	return r, nil
}

// handOut makes a body of arguments for a service.
func (s *step) handOut(args jsontext.Value) (utp.Body, error) {
	if len(args) <= utp.InlineLimit {
		return utp.Body{Inline: args}, nil
	}
	raw, err := s.outOfLine(args)
	if err != nil {
		return utp.Body{}, err
	}
	r, _ := referenced(raw)
	return utp.Body{SHA256: r.SHA256, Size: r.Size}, nil
}
