package cards

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Result reads a recorded result as a planner sees it.
func Result(tx store.Tx, row store.ResultRow) (api.CallResult, error) {
	card, err := store.ReadCard(tx, row.Card)
	if err != nil {
		return api.CallResult{}, err
	}
	return ResultOn(card, row)
}

// ResultOn returns a call's result from its result card.
func ResultOn(card utp.Card, row store.ResultRow) (api.CallResult, error) {
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

// ArgsOf returns the arguments of a call whose result is in a transcript.
func ArgsOf(tx store.Tx, row store.ResultRow) (api.Body, error) {
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

// ResultValue reads a recorded result, also one that this transaction adds, if it is small enough to be
// reported.
func (t *Tx) ResultValue(row store.ResultRow) (jsontext.Value, error) {
	card, err := t.Card(row.Card)
	if err != nil {
		return nil, store.AsDamage(err)
	}
	r, err := ResultOn(card, row)
	if err != nil {
		return nil, err
	}
	return r.Result.Inline, nil
}
