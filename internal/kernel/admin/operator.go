package admin

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// callPage, cardPage, toolPage and deadPage are how many of each one answer holds at most.
const callPage, cardPage, toolPage, deadPage = 100, 50, 50, 200

// pageBudget counts how many bytes are left in one message. The first row always fits.
type pageBudget struct {
	remaining int
	rows      int
}

func newPageBudget() pageBudget { return pageBudget{remaining: api.InlineLimit} }

func (r *pageBudget) fits(value any) (bool, error) {
	raw, err := json.Marshal(value, jsontext.PreserveRawStrings(true))
	if err != nil {
		return false, store.Unexpected("a row", err)
	}
	if r.remaining -= len(raw); r.remaining < 0 && r.rows > 0 {
		return false, nil
	}
	r.rows++
	return true, nil
}

// turnNamed returns a reference to a turn by its id or its session's.
func turnNamed(name string) store.TurnRef {
	if strings.HasPrefix(name, "sess_") {
		return store.TurnRef{Session: name}
	}
	return store.TurnRef{Turn: name}
}

// TurnDetail returns a turn with its receipts and a page of its calls.
func (ad *Admin) TurnDetail(ctx context.Context, q api.TurnRequest) (api.TurnDetail, error) {
	var a api.TurnDetail
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(turnNamed(q.Name))
		if err != nil {
			return err
		}
		if a, err = detailOf(tx, rec); err != nil {
			return err
		}
		calls, err := tx.Calls(store.CallFilter{Turn: rec.State.Turn, After: q.After, Limit: callPage})
		if err != nil {
			return err
		}
		var receipts []store.Receipt
		if q.After == "" {
			if receipts, err = tx.Receipts(rec.State.Session); err != nil {
				return err
			}
		}
		return fillDetail(&a, calls, receipts)
	})
	return a, err
}

func fillDetail(a *api.TurnDetail, calls []turn.Call, receipts []store.Receipt) error {
	r := newPageBudget()
	for _, receipt := range receipts {
		if fits, err := r.fits(receipt); err != nil || !fits {
			return err
		}
		a.Receipts = append(a.Receipts, store.ReceiptDetail(receipt))
	}
	r.rows = 0
	a.More = len(calls) == callPage
	for _, c := range calls {
		d := callDetail(c)
		fits, err := r.fits(d)
		if err != nil {
			return err
		}
		if !fits {
			a.More = true
			return nil
		}
		a.Calls = append(a.Calls, d)
	}
	return nil
}

func detailOf(tx store.Tx, rec store.Record) (api.TurnDetail, error) {
	s := rec.State
	end, err := sessionEnd(tx, s)
	if err != nil {
		return api.TurnDetail{}, err
	}
	a := api.TurnDetail{
		Turn: s.Turn, Session: s.Session, Project: s.Project, Channel: s.Channel, Agent: s.Agent, Name: s.Name, Owner: s.Owner, Status: string(s.Status),
		Created: rec.Created, Erased: rec.Erased, Imported: rec.Imported, Request: rec.Request, Args: rec.Args, Step: s.Step, Applied: s.Applied,
		End: end,
	}
	if s.End != nil {
		a.Message, a.Deliverable = s.End.Message, s.End.Deliverable
	}
	return a, nil
}

func callDetail(c turn.Call) api.CallDetail {
	d := api.CallDetail{
		ID: c.ID, Key: c.Key, Step: c.Step, Number: c.Number, Tool: c.Tool, Kind: string(c.Kind), Target: c.Target, Definition: c.Definition, Class: c.Class, Risk: c.Risk,
		Decision: string(c.Decision), State: string(c.State), Comment: c.Comment, Lang: c.Lang, Question: c.Question, Digest: c.Digest, Arguments: c.Arguments,
		Policy: c.Policy, Card: c.Card, Started: c.StartedAt, Replaces: c.Replaces, ReplacedBy: c.ReplacedBy,
	}
	if o := c.Outcome; o != nil {
		d.Status, d.Code, d.Message, d.Result = o.Status, o.Code, o.Message, o.Card
	}
	return d
}

// Cards returns one card, or a page of a turn's cards.
func (ad *Admin) Cards(ctx context.Context, q api.CardsRequest) (api.CardsAnswer, error) {
	var a api.CardsAnswer
	f := store.CardFilter{Turn: q.Turn, After: q.After, Limit: cardPage}
	if q.ID != "" {
		f = store.CardFilter{IDs: []string{q.ID}, Limit: 1}
	}
	if q.ID == "" && q.Turn == "" {
		return a, api.NewFault(utp.CodeBadRequest, "cards are asked for by card_id, or by turn_id")
	}
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		a = api.CardsAnswer{}
		cards, err := tx.Cards(f)
		if err == nil && q.ID != "" && len(cards) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		r := newPageBudget()
		for _, c := range cards {
			raw, err := utp.EncodeCard(c)
			if err != nil {
				return store.Unexpected("a card", err)
			}
			if fits, err := r.fits(jsontext.Value(raw)); err != nil || !fits {
				a.More = true
				return err
			}
			a.Cards = append(a.Cards, raw)
		}
		a.More = q.ID == "" && len(cards) == cardPage
		return nil
	})
	return a, err
}

// Tools returns one registered tool, or a page of all.
func (ad *Admin) Tools(ctx context.Context, q api.ToolsRequest) (api.ToolsAnswer, error) {
	var a api.ToolsAnswer
	f := store.ToolFilter{After: q.After, Limit: toolPage}
	if q.Tool != "" {
		f = store.ToolFilter{Names: []string{q.Tool}}
	}
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		a = api.ToolsAnswer{}
		tools, err := tx.Tools(f)
		if err == nil && q.Tool != "" && len(tools) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		r := newPageBudget()
		for _, t := range tools {
			d := ad.toolDetail(t)
			if fits, err := r.fits(d); err != nil || !fits {
				a.More = true
				return err
			}
			a.Tools = append(a.Tools, d)
		}
		a.More = q.Tool == "" && len(tools) == toolPage
		return nil
	})
	return a, err
}

func (ad *Admin) toolDetail(t store.Tool) api.ToolDetail {
	d := api.ToolDetail{
		Definition: t.Definition, Digest: t.Digest, Reviewed: t.Reviewed, EffectiveClass: t.EffectiveClass(), EffectiveRisk: t.EffectiveRisk(),
		Decision: string(ad.o.Decide(t)), Enforcement: t.Enforcement(),
		ServiceConnected: ad.o.Connected(t),
	}
	if !t.Reviewed {
		d.Seen = t.LastReviewed
	}
	return d
}

// Reviewed applies an operator's review of a tool.
func (ad *Admin) Reviewed(ctx context.Context, q api.ReviewRequest) (api.ToolDetail, error) {
	var a api.ToolDetail
	if !q.Class.Valid() || !q.Risk.Valid() {
		return a, api.NewFault(utp.CodeBadRequest, "a class is read, idempotent, reversible or irreversible, and a risk low, medium or high")
	}
	if err := ad.review(ctx, q); err != nil {
		return a, err
	}
	return ad.ToolNamed(ctx, q.Tool)
}

// ToolNamed returns one registered tool.
func (ad *Admin) ToolNamed(ctx context.Context, name string) (api.ToolDetail, error) {
	var a api.ToolDetail
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		t, err := store.ReadTool(tx, name)
		a = ad.toolDetail(t)
		return err
	})
	return a, err
}

// Remove removes a tool from the registry.
func (ad *Admin) Remove(ctx context.Context, q api.RemoveRequest) (struct{}, error) {
	return struct{}{}, store.Update(ctx, ad.o.Ledger, func(tx store.Tx) error {
		t, err := store.ReadTool(tx, q.Tool)
		if err != nil {
			return err
		}
		a, err := ad.Operated(api.AuditAct{Act: api.ActRemove, Subject: q.Tool, Digest: t.Digest, By: q.By})
		if err != nil {
			return err
		}
		return tx.Save(store.Batch{Removed: []string{q.Tool}, Acts: a})
	})
}
