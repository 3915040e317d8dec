package operate

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// each asks for page after page until there are no more. Page asks for what is behind the last row of the page before, and says
// how many rows it has got, and whether there are more.
func each(page func() (n int, more bool, err error)) error {
	for {
		n, more, err := page()
		if err != nil || !more || n == 0 {
			return err
		}
	}
}

// EachTool calls do with each registered tool, by name.
func EachTool(ctx context.Context, ask Ask, do func(api.ToolDetail) error) error {
	after := ""
	return each(func() (int, bool, error) {
		var page api.ToolsAnswer
		if err := ask(ctx, api.OpTools, api.ToolsRequest{After: after}, &page); err != nil {
			return 0, false, err
		}
		for _, t := range page.Tools {
			if err := do(t); err != nil {
				return 0, false, err
			}
			after = t.Tool
		}
		return len(page.Tools), page.More, nil
	})
}

// EachAgent calls do with the definition of each agent that has one, by name.
func EachAgent(ctx context.Context, ask Ask, do func(api.AgentDetail) error) error {
	after := ""
	return each(func() (int, bool, error) {
		var page api.AgentsAnswer
		if err := ask(ctx, api.OpAgents, api.AgentsRequest{After: after}, &page); err != nil {
			return 0, false, err
		}
		for _, a := range page.Agents {
			if err := do(a); err != nil {
				return 0, false, err
			}
			after = a.Name
		}
		return len(page.Agents), page.More, nil
	})
}

// EachCard calls do with each card of a turn's calls; do says which id it has.
func EachCard(ctx context.Context, ask Ask, turn string, do func(card jsontext.Value) (id string, err error)) error {
	after := ""
	return each(func() (int, bool, error) {
		var page api.CardsAnswer
		err := ask(ctx, api.OpCards, api.CardsRequest{Turn: turn, After: after}, &page)
		for _, raw := range page.Cards {
			if err == nil {
				after, err = do(raw)
			}
		}
		return len(page.Cards), page.More, err
	})
}

// EachBox calls do with each box, by its owner and its id.
func EachBox(ctx context.Context, ask Ask, do func(api.BoxDetail) error) error {
	var q api.BoxesRequest
	return each(func() (int, bool, error) {
		var page api.BoxesAnswer
		if err := ask(ctx, api.OpBoxes, q, &page); err != nil {
			return 0, false, err
		}
		for _, b := range page.Boxes {
			if err := do(b); err != nil {
				return 0, false, err
			}
			q.AfterOwner, q.AfterBox = b.Owner, b.Box
		}
		return len(page.Boxes), page.More, nil
	})
}

// EachBoxEntry calls do with each entry of a box, in their order.
func EachBoxEntry(ctx context.Context, ask Ask, box api.BoxDetail, do func(api.BoxEntry) error) error {
	q := api.BoxesRequest{Owner: box.Owner, Box: box.Box}
	return each(func() (int, bool, error) {
		var page api.BoxesAnswer
		if err := ask(ctx, api.OpBoxes, q, &page); err != nil {
			return 0, false, err
		}
		for _, e := range page.Entries {
			if err := do(e); err != nil {
				return 0, false, err
			}
			q.After = e.N
		}
		return len(page.Entries), page.More, nil
	})
}

// EachDead calls do with each message that was put aside, oldest first.
func EachDead(ctx context.Context, ask Ask, do func(api.DeadDetail) error) error {
	after := int64(0)
	return each(func() (int, bool, error) {
		var page api.DeadAnswer
		if err := ask(ctx, api.OpDead, api.DeadRequest{After: after}, &page); err != nil {
			return 0, false, err
		}
		for _, one := range page.Dead {
			if err := do(one); err != nil {
				return 0, false, err
			}
			after = one.ID
		}
		return len(page.Dead), page.More, nil
	})
}

// EachEntry calls do with each entry of the audit chain, oldest first.
func EachEntry(ctx context.Context, ask Ask, do func(api.AuditEntry) error) error {
	after := int64(0)
	return each(func() (int, bool, error) {
		var page api.AuditAnswer
		if err := ask(ctx, api.OpAudit, api.AuditRequest{After: after}, &page); err != nil {
			return 0, false, err
		}
		for _, e := range page.Entries {
			if err := do(e); err != nil {
				return 0, false, err
			}
			after = e.N
		}
		return len(page.Entries), page.More, nil
	})
}

// Turn reads a turn with all of its calls.
func Turn(ctx context.Context, ask Ask, name string) (api.TurnDetail, error) {
	var whole api.TurnDetail
	for after := ""; ; {
		var page api.TurnDetail
		if err := ask(ctx, api.OpTurn, api.TurnRequest{Name: name, After: after}, &page); err != nil {
			return whole, err
		}
		if after == "" {
			whole = page
		} else {
			whole.Calls = append(whole.Calls, page.Calls...)
		}
		if !page.More || len(page.Calls) == 0 {
			whole.More = false
			return whole, nil
		}
		after = page.Calls[len(page.Calls)-1].ID
	}
}

// CallResult is a call with what its result card holds.
type CallResult struct {
	api.CallDetail

	Content jsontext.Value `json:"result,omitzero"`
}

// LastCall reads the last call of a turn, with its result; nil where there is none.
func LastCall(ctx context.Context, ask Ask, turn string) (*CallResult, error) {
	t, err := Turn(ctx, ask, turn)
	if err != nil || len(t.Calls) == 0 {
		return nil, err
	}
	last := &CallResult{CallDetail: t.Calls[len(t.Calls)-1]}
	if last.Result == "" {
		return last, nil
	}
	var page api.CardsAnswer
	if err := ask(ctx, api.OpCards, api.CardsRequest{ID: last.Result}, &page); err != nil {
		return nil, err
	}
	for _, raw := range page.Cards {
		var card struct {
			Content jsontext.Value `json:"content"`
		}
		_ = json.Unmarshal(raw, &card) // one of a newer program may have more, and still has this
		last.Content = card.Content
	}
	return last, nil
}
