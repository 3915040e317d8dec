package storetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func boxCases() []exercise {
	return []exercise{
		{"keep their entries in order", boxesKeepTheirOrder},
		{"are listed page by page, each owner's by themselves", boxesAreListed},
		{"number entries that come at once", boxesNumberEntries},
		{"keep the numbers that entries come with", boxesKeepNumbers},
	}
}

func written(owner, box, turn string, n int) api.BoxEntry {
	return api.BoxEntry{
		Owner: owner, Box: box, Use: api.BoxWrite, Turn: turn, Agent: "clerk", Call: id("tc", n), Card: id("card", n), At: at(n),
	}
}

func (l *ledger) entries(f store.BoxFilter) []api.BoxEntry {
	l.t.Helper()
	var all []api.BoxEntry
	l.view(func(tx store.Tx) (err error) {
		all, err = tx.BoxEntries(f)
		return err
	})
	return all
}

func boxesKeepTheirOrder(l *ledger) {
	first, second := written("ann", "in", "turn_1", 1), written("ann", "in", "turn_2", 2)
	read := api.BoxEntry{Owner: "ann", Box: "in", Use: api.BoxRead, Turn: "turn_3", Agent: "scout", Through: 2, At: at(3)}
	l.save(store.Batch{Boxes: []api.BoxEntry{first, second}})
	l.save(store.Batch{Boxes: []api.BoxEntry{read}})
	first.N, second.N, read.N = 1, 2, 3
	same(l, "the whole box", l.entries(store.BoxFilter{Owner: "ann", Box: "in"}), []api.BoxEntry{first, second, read})
	same(l, "after the first", l.entries(store.BoxFilter{Owner: "ann", Box: "in", After: 1, Limit: 1}), []api.BoxEntry{second})
	same(l, "its reads", l.entries(store.BoxFilter{Owner: "ann", Box: "in", Use: string(api.BoxRead)}), []api.BoxEntry{read})
	same(l, "of a card", l.entries(store.BoxFilter{Card: id("card", 2)}), []api.BoxEntry{second})
	same(l, "of a turn", l.entries(store.BoxFilter{Turn: "turn_1"}), []api.BoxEntry{first})
	same(l, "of another owner", len(l.entries(store.BoxFilter{Owner: "ben", Box: "in"})), 0)
	for _, bad := range []api.BoxEntry{
		{Box: "in", Use: api.BoxRead, Turn: "turn_1"},
		{Owner: "ann", Use: api.BoxRead, Turn: "turn_1"},
		{Owner: "ann", Box: "in", Use: api.BoxRead},
		{Owner: "ann", Box: "in", Use: api.BoxWrite, Turn: "turn_1"},
		{Owner: "ann", Box: "in", Use: api.BoxRead, Turn: "turn_1", Card: "card_1"},
	} {
		if err := l.try(store.Batch{Boxes: []api.BoxEntry{bad}}); err == nil || errors.Is(err, store.ErrConflict) {
			l.t.Errorf("the entry %+v: %v", bad, err)
		}
	}
}

func boxesAreListed(l *ledger) {
	read := api.BoxEntry{Owner: "ann", Box: "b", Use: api.BoxRead, Turn: "turn_1", Agent: "scout", At: at(9)}
	l.save(store.Batch{Boxes: []api.BoxEntry{
		written("ben", "a", "turn_2", 3), written("ann", "b", "turn_1", 1), written("ann", "b", "turn_1", 2), read, written("ann", "c", "turn_1", 4),
	}})
	var all []api.BoxDetail
	for page := (store.BoxPage{Limit: 2}); ; {
		var rows []api.BoxDetail
		l.view(func(tx store.Tx) (err error) {
			rows, err = tx.Boxes(page)
			return err
		})
		if len(rows) == 0 {
			break
		}
		all = append(all, rows...)
		page.Owner, page.Box = all[len(all)-1].Owner, all[len(all)-1].Box
	}
	same(l, "all", all, []api.BoxDetail{
		{Owner: "ann", Box: "b", Cards: 2, Used: at(9)}, {Owner: "ann", Box: "c", Cards: 1, Used: at(4)}, {Owner: "ben", Box: "a", Cards: 1, Used: at(3)},
	})
}

// boxesNumberEntries: those who append at once are told of a conflict, and try again; no number is missing or given twice.
func boxesNumberEntries(l *ledger) {
	const writers = 6
	var wait sync.WaitGroup
	for n := range writers {
		wait.Go(func() {
			for {
				err := l.try(store.Batch{Boxes: []api.BoxEntry{written("ann", "in", fmt.Sprint("turn_", n), n+1)}})
				if !errors.Is(err, store.ErrConflict) {
					if err != nil {
						l.t.Errorf("an entry: %v", err)
					}
					return
				}
			}
		})
	}
	wait.Wait()
	for i, e := range l.entries(store.BoxFilter{Owner: "ann", Box: "in"}) {
		same(l, "the number", e.N, int64(i+1))
	}
	same(l, "entries", len(l.entries(store.BoxFilter{})), writers)
}

// boxesKeepNumbers: an entry with a number of its own is put there, also before one that is there already; a number that
// is taken is a conflict, and what is appended comes behind all of them.
func boxesKeepNumbers(l *ledger) {
	fourth, second, next := written("ann", "in", "turn_4", 4), written("ann", "in", "turn_2", 2), written("ann", "in", "turn_5", 5)
	fourth.N, second.N = 4, 2
	l.save(store.Batch{Boxes: []api.BoxEntry{fourth}})
	l.save(store.Batch{Boxes: []api.BoxEntry{second}})
	l.save(store.Batch{Boxes: []api.BoxEntry{next}})
	next.N = 5
	same(l, "the box", l.entries(store.BoxFilter{Owner: "ann", Box: "in"}), []api.BoxEntry{second, fourth, next})
	taken := written("ann", "in", "turn_3", 3)
	taken.N = 4
	l.refuse("a number that is taken", store.ErrConflict, store.Batch{Boxes: []api.BoxEntry{taken}})
}
