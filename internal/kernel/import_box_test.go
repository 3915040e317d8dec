package kernel_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// looksAndTells reads the context of its turn, if it has one, calls a tool and answers with a text.
func looksAndTells(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
	if len(t.Results) > 0 {
		return worker.Decision{Answer: &worker.Answer{Summary: "Done.", Output: "All of it."}}, nil
	}
	if t.Boxes.ContextBox != "" {
		if err := worker.Cards(ctx, t.Boxes.ContextBox, func(utp.Card) error { return nil }); err != nil {
			return worker.Decision{}, err
		}
	}
	return worker.Decision{Calls: one(poller)}, nil
}

// passedOn plays three turns, of which the second reads what the first wrote, between what the third writes.
func (w *world) passedOn() (turns []string) {
	w.t.Helper()
	w.loop(looksAndTells)
	for _, boxes := range []api.Boxes{{OutputBox: "b1"}, {ContextBox: "b1", OutputBox: "b1"}, {ContextBox: "b1", OutputBox: "b2"}} {
		a := w.withBoxes(person, boxes)
		w.succeeded(a.Turn)
		turns = append(turns, a.Turn)
	}
	return turns
}

// TestImportBoxes: boxes come with the turns that wrote into them and read them: in their order and with their numbers,
// whichever turn is imported first, with the turn, the call and the card of each entry, and once however often. The next
// turn reads them here, and what is erased leaves them and does not come back.
func TestImportBoxes(t *testing.T) {
	for _, n := range []int{1, 3, 1000} {
		t.Run(fmt.Sprint(n, " at a time"), func(t *testing.T) {
			inWorld(t, func(w *world) { w.restored, w.unjudged = true, true }, func(t *testing.T, w *world) { importsBoxes(t, w, n) })
		})
	}
}

func importsBoxes(t *testing.T, w *world, n int) {
	t.Helper()
	turns := w.passedOn()
	before := map[string][]api.BoxEntry{"b1": w.boxEntries(person, "b1"), "b2": w.boxEntries(person, "b2")}
	records := map[string][]jsontext.Value{}
	for _, id := range turns {
		records[id] = w.exported(id)
	}
	w.elsewhere()
	for _, id := range []string{turns[1], turns[2], turns[0]} {
		if added, known := w.imports(id, records[id], n); added == 0 || known {
			t.Errorf("%s: %d records were new, known %v", id, added, known)
		}
	}
	for box, want := range before {
		if got := w.boxEntries(person, box); len(got) < 2 || !slices.Equal(got, want) {
			t.Errorf("the box %s has\n%+v\nand had\n%+v", box, got, want)
		}
	}
	for _, id := range turns {
		if added, _ := w.imports(id, records[id], n); added != 0 {
			t.Errorf("again: %d records of %s were new", added, id)
		}
		if again := w.exported(id); len(again) != len(records[id]) {
			t.Errorf("exported again %s has %d records, and had %d", id, len(again), len(records[id]))
		}
	}
	card := before["b1"][0].Card
	if a, err := operate[api.CardsAnswer](w, api.OpCards, api.CardsRequest{ID: card}); err != nil || len(a.Cards) != 1 {
		t.Errorf("the card %s: %+v, %v", card, a, err)
	}
	w.loop(looksAndTells)
	reader := w.withBoxes(person, api.Boxes{ContextBox: "b1"})
	w.succeeded(reader.Turn)
	last := w.boxEntries(person, "b1")[len(before["b1"])]
	if last.Use != api.BoxRead || last.Turn != reader.Turn || last.N != int64(len(before["b1"]))+1 || last.Through < 1 {
		t.Errorf("the turn that reads it here has left %+v", last)
	}
	if got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: turns[:1]}); err != nil || got.Erased != 1 {
		t.Fatalf("erased %+v, %v", got, err)
	}
	w.imports(turns[0], records[turns[0]], n)
	if got := w.boxEntries(person, "b1"); slices.ContainsFunc(got, func(e api.BoxEntry) bool { return e.Turn == turns[0] }) {
		t.Errorf("after its first turn was erased the box has %+v", got)
	}
}

// TestImportBoxInUse: where a box is in use here under the same id, what comes in keeps its order behind it, and a read
// says no longer how far it went.
func TestImportBoxInUse(t *testing.T) {
	inWorld(t, func(w *world) { w.restored, w.unjudged = true, true }, func(t *testing.T, w *world) {
		turns := w.passedOn()
		before := w.boxEntries(person, "b1")
		records := map[string][]jsontext.Value{}
		for _, id := range turns {
			records[id] = w.exported(id)
		}
		w.elsewhere()
		w.loop(looksAndTells)
		for range 3 {
			w.succeeded(w.withBoxes(person, api.Boxes{OutputBox: "b1"}).Turn)
		}
		here := w.boxEntries(person, "b1")
		for _, id := range turns {
			w.imports(id, records[id], 3)
			w.imports(id, records[id], 3)
		}
		got := w.boxEntries(person, "b1")
		if len(here) < len(before) || len(got) != len(here)+len(before) || !slices.Equal(got[:len(here)], here) {
			t.Fatalf("the box has\n%+v\nit had here\n%+v\nand there\n%+v", got, here, before)
		}
		for i, e := range got[len(here):] {
			want := before[i]
			want.N, want.Through = int64(len(here)+i+1), 0
			if e != want {
				t.Errorf("entry %d is %+v, want %+v", i, e, want)
			}
		}
	})
}

// TestImportWrongBoxes: an entry leads to a card and a call of its turn, in a box of its owner's; any other is refused.
func TestImportWrongBoxes(t *testing.T) {
	inWorld(t, func(w *world) { w.restored, w.unjudged = true, true }, func(t *testing.T, w *world) {
		turns := w.passedOn()
		records := map[string][]jsontext.Value{}
		var entry, other api.BoxEntry
		for _, id := range turns {
			records[id] = w.exported(id)
		}
		all := w.boxEntries(person, "b1")
		entry, other = all[0], all[len(all)-1]
		w.elsewhere()
		w.imports(turns[1], records[turns[1]], 1000)
		var bare []jsontext.Value // without what it has in boxes
		for _, raw := range records[turns[0]] {
			var r api.Exported
			if err := json.Unmarshal(raw, &r); err != nil {
				t.Fatal(err)
			}
			if r.Box == nil {
				bare = append(bare, raw)
			}
		}
		w.imports(turns[0], bare, 1000)
		for name, alter := range map[string]func(*api.BoxEntry){
			"another turn's":         func(e *api.BoxEntry) { e.Turn = turns[1] },
			"another person's":       func(e *api.BoxEntry) { e.Owner = "bob" },
			"no box":                 func(e *api.BoxEntry) { e.Box = "" },
			"a long name":            func(e *api.BoxEntry) { e.Box = string(make([]byte, store.MaxName+1)) },
			"no number":              func(e *api.BoxEntry) { e.N = 0 },
			"no use":                 func(e *api.BoxEntry) { e.Use = "" },
			"a write without card":   func(e *api.BoxEntry) { e.Card = "" },
			"a read with a card":     func(e *api.BoxEntry) { e.Use = api.BoxRead },
			"a card of another turn": func(e *api.BoxEntry) { e.Card = other.Card },
			"no such card":           func(e *api.BoxEntry) { e.Card = "card_none" },
			"a call of another turn": func(e *api.BoxEntry) { e.Call = "tc_none" },
		} {
			bad := entry
			alter(&bad)
			raw, err := json.Marshal(api.Exported{Box: &bad})
			if err != nil {
				t.Fatal(err)
			}
			_, err = operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: turns[0], Records: []jsontext.Value{raw}})
			if !isFault(err, utp.CodeBadRequest) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := w.boxEntries(person, "b1"); slices.ContainsFunc(got, func(e api.BoxEntry) bool { return e.Turn == turns[0] }) {
			t.Errorf("the box has %+v", got)
		}
		raw, err := json.Marshal(api.Exported{Box: &entry})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: turns[0], Records: []jsontext.Value{raw}}); err != nil || a.Added != 1 {
			t.Errorf("the entry itself: %+v, %v", a, err)
		}
	})
}
