package postgres_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestImportBoxes: the boxes of one database come into another with the turns that used them, in their order and with
// their numbers, whichever is imported first, and once; what is erased there leaves them and does not come back.
func TestImportBoxes(t *testing.T) {
	t.Parallel()
	there, here := &town{t: t, active: 1}, &town{t: t}
	there.open(nowhere(t))
	here.open(nowhere(t))
	var turns []string
	for _, boxes := range []api.Boxes{{OutputBox: "b1"}, {ContextBox: "b1", OutputBox: "b1"}, {ContextBox: "b1", OutputBox: "b1"}} {
		turns = append(turns, there.passesOn(boxes))
	}
	want := there.box("b1")
	if len(want) != 8 || want[2].Use != api.BoxRead || want[7].Turn != turns[2] || want[0].Card != "card_"+turns[0] {
		t.Fatalf("the box has %+v", want)
	}
	slices.Reverse(turns)
	for range 2 {
		for _, id := range turns {
			here.ask(api.OpImport, api.ImportRequest{Turn: id, Records: there.records(id), Last: true}, nil)
		}
		if got := here.box("b1"); !slices.Equal(got, want) {
			t.Errorf("the box has\n%+v\nand had\n%+v", got, want)
		}
	}
	var card api.CardsAnswer
	if here.ask(api.OpCards, api.CardsRequest{ID: want[0].Card}, &card); len(card.Cards) != 1 {
		t.Errorf("%d cards have the id %s", len(card.Cards), want[0].Card)
	}
	here.ask(api.OpErase, api.EraseRequest{Turns: turns[:1]}, nil)
	here.ask(api.OpImport, api.ImportRequest{Turn: turns[0], Records: there.records(turns[0]), Last: true}, nil)
	if got := here.box("b1"); !slices.Equal(got, want[:5]) {
		t.Errorf("after its last turn was erased the box has %+v, want %+v", got, want[:5])
	}
}

// passesOn plays a turn that reads its context, adds a card to its output, twice, and answers with a text.
func (w *town) passesOn(boxes api.Boxes) (id string) {
	w.t.Helper()
	var begun api.EnqueueAnswer
	w.ask(api.OpEnqueue, api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`), Owner: "ann", Boxes: boxes}, &begun)
	as := func(op string, q, into any) {
		w.t.Helper()
		if err := rpc.Ask(w.t.Context(), peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}, op, q, into); err != nil {
			w.t.Fatalf("%s: %v", op, err)
		}
	}
	var claim api.ClaimAnswer
	as(api.OpClaim, api.ClaimRequest{Agent: "tidy", Worker: "wrk_0"}, &claim)
	at := claim.WorkerRequest("wrk_0")
	if boxes.ContextBox != "" {
		as(api.OpReadBox, api.ReadBoxRequest{WorkerRequest: at, Box: boxes.ContextBox}, &api.ReadBoxAnswer{})
	}
	raw := fmt.Sprintf(`{"card_id":"card_%[1]s","tenant_id":"default","content":{"__type__":"TextContent","text":"I look first."},"metadata":{"type":"agent.thought",`+
		`"project_id":"default","author_id":"tidy","created_at":"2026-11-20T15:17:37.523565+00:00","agent_turn_id":"%[1]s"}}`, begun.Turn)
	for range 2 {
		as(api.OpCard, api.CardRequest{Card: jsontext.Value(raw), Box: boxes.OutputBox}, nil)
	}
	as(api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess, Summary: "Done.", Output: fmt.Sprint("All of ", begun.Turn)}, nil)
	return begun.Turn
}

func (w *town) box(id string) []api.BoxEntry {
	w.t.Helper()
	var a api.BoxesAnswer
	w.ask(api.OpBoxes, api.BoxesRequest{Owner: "ann", Box: id}, &a)
	return a.Entries
}

// records exports a turn.
func (w *town) records(id string) (all []jsontext.Value) {
	w.t.Helper()
	for cursor := ""; ; {
		var a api.ExportAnswer
		w.ask(api.OpExport, api.ExportRequest{Turn: id, Cursor: cursor}, &a)
		all = append(all, a.Records...)
		if cursor = a.Cursor; cursor == "" {
			return all
		}
	}
}
