package storetest

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

func cardCases() []exercise {
	return []exercise{
		{"come back as they were", cardsComeBack},
		{"never change", cardsNeverChange},
		{"are listed", cardsAreListed},
		{"belong to the turn that their call has when they are saved", cardsBelong},
		{"one result for each call", cardsOneResult},
		{"one of many results wins", cardsRace},
	}
}

func cards(c ...utp.Card) store.Batch { return store.Batch{Cards: c} }

func cardsComeBack(l *ledger) {
	free := card(2)
	free.ToolCallID, free.Type, free.Content = "", "note", jsontext.Value(`{"__type__":"x","n":0.1e-7}`)
	l.save(cards(card(1), free))
	same(l, "card", l.card("result_1"), card(1))
	same(l, "card of no call", l.card("result_2"), free)
	l.missing("card", func(tx store.Tx) error {
		_, err := store.OneRow(tx.Cards(store.CardFilter{IDs: []string{"result_3"}}))
		return err
	})
	l.missing("card without an id", func(tx store.Tx) error {
		_, err := store.OneRow(tx.Cards(store.CardFilter{IDs: []string{""}}))
		return err
	})
}

func cardsAreListed(l *ledger) {
	r := asking(1)
	l.save(store.Batch{Turn: &r, Cards: []utp.Card{card(3), card(1), card(2)}}) // tc_1 is the turn's call
	for _, tt := range []struct {
		what   string
		filter store.CardFilter
		want   []utp.Card
	}{
		{"all", store.CardFilter{}, []utp.Card{card(1), card(2), card(3)}},
		{"a page", store.CardFilter{After: "result_1", Limit: 1}, []utp.Card{card(2)}},
		{"behind one that is not there", store.CardFilter{After: "result_1x"}, []utp.Card{card(2), card(3)}},
		{"by their ids", store.CardFilter{IDs: []string{"result_3", "none", "result_1"}}, []utp.Card{card(1), card(3)}},
		{"of no id", store.CardFilter{IDs: []string{}}, nil},
		{"of a turn", store.CardFilter{Turn: "turn_1"}, []utp.Card{card(1)}},
		{"of no turn", store.CardFilter{Turn: "turn_9"}, nil},
	} {
		l.view(func(tx store.Tx) error {
			got, err := tx.Cards(tt.filter)
			same(l, tt.what, got, tt.want)
			return err
		})
	}
}

func cardsBelong(l *ledger) {
	l.save(cards(card(1)))
	r := asking(1)
	other := card(1)
	other.ID, other.Type = "later", utp.CardToolCall
	l.save(store.Batch{Turn: &r, Cards: []utp.Card{other}})
	same(l, "cards of the turn", l.cardsOf("turn_1"), []utp.Card{other})
}

func cardsNeverChange(l *ledger) {
	l.save(cards(card(1)))
	l.save(cards(card(1), card(1))) // the same again
	for what, change := range map[string]func(*utp.Card){
		"project":  func(c *utp.Card) { c.Project = "other" },
		"type":     func(c *utp.Card) { c.Type = utp.CardToolCall },
		"author":   func(c *utp.Card) { c.AuthorID = "tool.other" },
		"time":     func(c *utp.Card) { c.CreatedAt = at(2) },
		"call":     func(c *utp.Card) { c.ToolCallID = "tc_2" },
		"content":  func(c *utp.Card) { c.Content = jsontext.Value(`{}`) },
		"metadata": func(c *utp.Card) { c.Metadata = nil },
		"a space":  func(c *utp.Card) { c.Content = append(c.Content, ' ') },
	} {
		c := card(1)
		change(&c)
		l.refuse("a card with another "+what, store.ErrConflict, cards(c))
	}
	same(l, "the card", l.card("result_1"), card(1))
}

func cardsOneResult(l *ledger) {
	again := func(change func(*utp.Card)) utp.Card {
		c := card(1)
		c.ID = "another"
		change(&c)
		return c
	}
	l.save(cards(card(1)))
	l.refuse("a second result of a call", store.ErrConflict, cards(again(func(*utp.Card) {})))
	l.save(cards(again(func(c *utp.Card) { c.ID, c.Project = "a", "other" })))
	l.save(cards(again(func(c *utp.Card) { c.ID, c.ToolCallID = "b", "tc_2" })))
	for _, name := range []string{"c", "d"} { // other kinds, and results of no call, as many as there are
		l.save(cards(again(func(c *utp.Card) { c.ID, c.Type = name, utp.CardToolCall })))
		l.save(cards(again(func(c *utp.Card) { c.ID, c.ToolCallID = name+name, "" })))
	}
}

func cardsRace(l *ledger) {
	for n := range rounds {
		l.oneSucceeds("a result", func(i int) error {
			c := card(n)
			c.ID = id(id("result", n), i)
			return l.try(cards(c))
		})
	}
}
