package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func textCases() []exercise {
	return []exercise{
		{"that are not text can be saved", brokenTexts},
		{"that are not text lead nowhere", brokenHandles},
		{"are ordered by their bytes", textsInOrder},
	}
}

// noText are what neither UTF-8 nor every database can hold.
func noText() []string { return []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} }

// brokenTexts: whatever people and tools have said, a turn can be saved and can end. What
// can be kept of the text is kept.
func brokenTexts(l *ledger) {
	for n, broken := range noText() {
		r := plain(n)
		r.Request, r.State.Agent = "before "+broken+" after", broken
		r.State.Status, r.State.End = turn.Ended, &turn.End{Message: "first " + broken + " last"}
		e := event(r.State.Session, n)
		e.Template = broken
		l.save(store.Batch{Turn: &r, Events: []store.Event{e}, Outbox: []store.Outgoing{{Session: r.State.Session, Subject: broken}}})
		got := l.turn(store.TurnRef{Turn: r.State.Turn})
		if !strings.HasPrefix(got.Request, "before ") || !strings.HasSuffix(got.Request, " after") {
			l.t.Errorf("the request %q came back as %q", r.Request, got.Request)
		}
		if end := got.State.End; end == nil || !strings.HasPrefix(end.Message, "first ") || !strings.HasSuffix(end.Message, " last") {
			l.t.Errorf("the end %q came back as %+v", r.State.End.Message, end)
		}
	}
	same(l, "turns", len(l.events("sess_0"))+len(l.events("sess_1"))+len(l.events("sess_2")), len(noText()))
}

// brokenHandles: asking for what cannot be there is no failure, and nobody is found by a
// name that is merely like theirs.
func brokenHandles(l *ledger) {
	r := plain(1)
	r.State.Turn, r.State.Owner = "a\ufffdb", "a\ufffdb"
	l.save(store.Batch{Turn: &r, Outbox: []store.Outgoing{outgoing("a\ufffdb", 1)}})
	for _, broken := range noText() {
		err := l.update(func(tx store.Tx) error {
			_, turnErr := tx.Turn(store.TurnRef{Turn: broken})
			_, callErr := tx.Turn(store.TurnRef{Call: broken})
			_, toolErr := store.OneRow(tx.Tools(store.ToolFilter{Names: []string{broken}}))
			_, cardErr := store.OneRow(tx.Cards(store.CardFilter{IDs: []string{broken}}))
			_, eventErr := store.OneRow(tx.Events(store.EventFilter{IDs: []string{broken}}))
			for what, err := range map[string]error{"turn": turnErr, "call": callErr, "tool": toolErr, "card": cardErr, "event": eventErr} {
				if !errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf("the %s %q: %w", what, broken, err)
				}
			}
			turns, err := tx.Turns(store.TurnFilter{Owners: []string{broken, "nobody"}})
			same(l, "turns of nobody", len(turns), 0)
			if err != nil {
				return err
			}
			rows, err := tx.Outbox(store.OutboxFilter{Session: broken})
			same(l, "messages of no session", len(rows), 0)
			return err
		})
		if err != nil {
			l.t.Error(err)
		}
	}
}

func textsInOrder(l *ledger) {
	want := []string{"turn_B", "turn_Z", "turn_a", "turn_b", "turn_é"}
	for i, name := range []string{want[3], want[0], want[4], want[2], want[1]} {
		r := plain(i)
		r.State.Turn, r.Created = name, at(0)
		l.save(store.Batch{Turn: &r})
	}
	var got []string
	l.view(func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{})
		for _, r := range rows {
			got = append(got, r.Turn)
		}
		return err
	})
	same(l, "turns that are equally old", got, want)
}
