package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/utp"
)

// thought is a card that a worker writes down, as v1r4 has it.
func thought(turnID, author, id, text string) string {
	return fmt.Sprintf(`{"card_id":%q,"tenant_id":"home","content":{"__type__":"TextContent","text":%q},`+
		`"metadata":{"type":"agent.thought","role":"assistant","project_id":"home","author_id":%q,"created_at":"2026-11-20T15:17:37.523565+00:00","agent_turn_id":%q}}`,
		id, text, author, turnID)
}

// TestAddedCards (UTP, "Cards"): a worker adds cards to its own turn while it has it, once however often it sends them, and
// to the output box if it says so. They go the way of all cards of the turn: the next turn reads them, an export has them,
// and they are erased with it.
func TestAddedCards(t *testing.T) {
	inWorld(t, func(w *world) { w.restored, w.unjudged = true, true }, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		add := func(raw, box string) error {
			return s.ask(api.OpCard, api.CardRequest{Card: jsontext.Value(raw), Box: box}, nil)
		}
		begin := func(boxes api.Boxes) api.EnqueueAnswer {
			a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: "peer", Args: jsontext.Value(`{}`), Request: "count", Owner: person, Boxes: boxes})
			if err != nil {
				t.Fatal(err)
			}
			w.follow(a.Session)
			return a
		}
		a := begin(api.Boxes{OutputBox: "b1", ContextBox: "b0"})
		mine := thought(a.Turn, "peer", "card_t1", "I look first.")
		wantFault(t, add(mine, "b1"), utp.CodeStale)
		var c api.ClaimAnswer
		s.must(api.OpClaim, api.ClaimRequest{Agent: "peer", Worker: "seat"}, &c)
		for range 2 {
			if err := add(mine, "b1"); err != nil {
				t.Fatal(err)
			}
		}
		profile := strings.NewReplacer("agent.thought", "sys.profile", `"TextContent","text":"x"`, `"JsonContent","data":{"name":"counter"}`).Replace(thought(a.Turn, "peer", "card_t2", "x"))
		if err := add(profile, ""); err != nil {
			t.Fatal(err)
		}
		if err := add(profile, "b1"); err != nil { // into the box, later
			t.Fatal(err)
		}
		got := w.boxEntries(person, "b1")
		if len(got) != 2 || got[0].Card != "card_t1" || got[1].Card != "card_t2" || got[0].Turn != a.Turn || got[0].Call != "" || got[0].Agent != "peer" {
			t.Errorf("the box has %+v", got)
		}
		var read api.CardRequest
		if s.must(api.OpRead, api.ReadRequest{Card: "card_t1"}, &read); !strings.Contains(string(read.Card), "I look first.") {
			t.Errorf("the card is %s", read.Card)
		}
		wantFault(t, w.stranger("other").ask(api.OpRead, api.ReadRequest{Card: "card_t1"}, &read), utp.CodeNotFound)
		for name, row := range map[string]struct {
			raw, box string
			code     utp.Code
		}{
			"another text under the id": {thought(a.Turn, "peer", "card_t1", "No."), "", utp.CodeConflict},
			"another box":               {thought(a.Turn, "peer", "card_x", "x"), "b0", utp.CodeAuthFailed},
			"another author":            {thought(a.Turn, "other", "card_x", "x"), "", utp.CodeAuthFailed},
			"no turn":                   {thought("", "peer", "card_x", "x"), "", utp.CodeNotFound},
			"an unknown turn":           {thought("turn_"+strings.Repeat("0", 32), "peer", "card_x", "x"), "", utp.CodeNotFound},
			"an answer":                 {strings.Replace(thought(a.Turn, "peer", "card_x", "x"), "agent.thought", "task.deliverable", 1), "", utp.CodeBadRequest},
			"an unknown type":           {strings.Replace(thought(a.Turn, "peer", "card_x", "x"), "agent.thought", "earshot.consent", 1), "", utp.CodeBadRequest},
			"a file":                    {strings.Replace(thought(a.Turn, "peer", "card_x", "x"), "TextContent", "FileContent", 1), "", utp.CodeBadRequest},
			"of a call":                 {strings.Replace(thought(a.Turn, "peer", "card_x", "x"), `"content"`, `"tool_call_id":"tc_1","content"`, 1), "", utp.CodeBadRequest},
			"a card of the kernel's":    {thought(a.Turn, "peer", external.AnswerPrefix+"x", "x"), "", utp.CodeBadRequest},
		} {
			if err := add(row.raw, row.box); !isFault(err, row.code) {
				t.Errorf("%s: %v, want %s", name, err, row.code)
			}
		}
		err := w.as(kernel.AgentCaller, agentName, api.OpCard, api.CardRequest{Card: jsontext.Value(thought(a.Turn, agentName, "card_x", "x"))}, nil)
		wantFault(t, err, utp.CodeNotFound)
		s.delivers(c)
		w.over(a.Turn)
		wantFault(t, add(thought(a.Turn, "peer", "card_x", "x"), "b1"), utp.CodeTurnEnded)
		entries := w.boxEntries(person, "b1")
		records := w.exported(a.Turn)
		w.elsewhere()
		w.imports(a.Turn, records, 3)
		if got := w.boxEntries(person, "b1"); !slices.Equal(got, entries) {
			t.Errorf("imported the box has %+v, and had %+v", got, entries)
		}
		if _, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{a.Turn}}); err != nil {
			t.Fatal(err)
		}
		if n := w.cell(`SELECT count(*) FROM cards`); n != "0" {
			t.Errorf("%s cards are left", n)
		}
	})
}

// TestAddedCardsAreRead: what a worker has added to its output is the context of the next turn.
func TestAddedCardsAreRead(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		first := w.withBoxes(person, api.Boxes{OutputBox: "b1"})
		claim := w.claims("wrk_0")
		raw := jsontext.Value(thought(first.Turn, agentName, "card_t1", "I look first."))
		if err := w.as(kernel.AgentCaller, agentName, api.OpCard, api.CardRequest{Card: raw, Box: "b1"}, nil); err != nil {
			t.Fatal(err)
		}
		w.answersWith(claim, "wrk_0")
		w.withBoxes(person, api.Boxes{ContextBox: "b1"})
		next := w.claims("wrk_1")
		var got api.ReadBoxAnswer
		err := w.as(kernel.AgentCaller, agentName, api.OpReadBox, api.ReadBoxRequest{WorkerRequest: next.WorkerRequest("wrk_1"), Box: "b1"}, &got)
		if err != nil || len(got.Cards) != 2 || !strings.Contains(string(got.Cards[0].Card), "I look first.") {
			t.Errorf("it reads %+v, %v", got, err)
		}
	})
}

// TestAddedCardsAreLimited: one card more than a turn may have is refused with the limit and its setting. The cards that are
// there stay, each may be sent again, and the turn goes on; another turn has a limit of its own.
func TestAddedCardsAreLimited(t *testing.T) {
	inWorld(t, func(w *world) { w.unended, w.cards = true, 2 }, func(t *testing.T, w *world) {
		first := w.withBoxes(person, api.Boxes{OutputBox: "b1"})
		claim := w.claims("wrk_0")
		add := func(turnID, id string) error {
			raw := jsontext.Value(thought(turnID, agentName, id, "I look first."))
			return w.as(kernel.AgentCaller, agentName, api.OpCard, api.CardRequest{Card: raw, Box: "b1"}, nil)
		}
		for _, id := range []string{"card_1", "card_2", "card_1", "card_2"} {
			if err := add(first.Turn, id); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
		}
		err := add(first.Turn, "card_3")
		wantFault(t, err, utp.CodeTooLarge)
		if err == nil || !strings.Contains(err.Error(), "2 cards") || !strings.Contains(err.Error(), "--max-cards") {
			t.Errorf("it does not name the limit: %v", err)
		}
		if err := add(first.Turn, "card_2"); err != nil {
			t.Errorf("after the refusal: %v", err)
		}
		if got := w.boxEntries(person, "b1"); len(got) != 2 {
			t.Errorf("the box has %+v", got)
		}
		w.answersWith(claim, "wrk_0")
		next := w.withBoxes(person, api.Boxes{OutputBox: "b1"})
		w.claims("wrk_1")
		if err := add(next.Turn, "card_3"); err != nil {
			t.Errorf("in another turn: %v", err)
		}
	})
}
