package storetest

import (
	"errors"
	"sync"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func claimCases() []exercise {
	return []exercise{
		{"list as any list does", claimsList},
		{"are for updates", claimsNeedAnUpdate},
		{"give each turn to one", claimsRace},
	}
}

func claimsList(l *ledger) {
	for n := range 4 {
		r := plain(n)
		l.save(store.Batch{Turn: &r})
	}
	for _, f := range []store.TurnFilter{
		{}, {Limit: 2}, {Newest: true}, {Open: true, Agent: "tidy", Statuses: []turn.Status{turn.Queued}, Owners: []string{"ann"}, After: "turn_1"},
	} {
		if err := l.update(func(tx store.Tx) error {
			want, err := tx.Turns(f)
			if err != nil {
				return err
			}
			f.Claim = true
			got, err := tx.Turns(f)
			same(l, "claimed", got, want)
			return err
		}); err != nil {
			l.t.Error(err)
		}
	}
}

func claimsNeedAnUpdate(l *ledger) {
	err := l.store.View(l.t.Context(), func(tx store.Tx) error {
		_, err := tx.Turns(store.TurnFilter{Claim: true})
		return err
	})
	if !errors.Is(err, store.ErrReadOnly) {
		l.t.Errorf("got %v, want %v", err, store.ErrReadOnly)
	}
}

// claimsRace lets many take turns one by one: each is taken once, and nobody loses a race.
func claimsRace(l *ledger) {
	const turns = 3 * racers
	for n := range turns {
		r := plain(n)
		l.save(store.Batch{Turn: &r})
	}
	var mu sync.Mutex
	taken := map[string]int{}
	race(func(int) {
		for range 2 * turns / racers {
			name, err := l.claim()
			if err != nil {
				l.t.Errorf("claiming: %v", err)
			}
			mu.Lock()
			taken[name]++
			mu.Unlock()
		}
	})
	delete(taken, "") // nothing was left, or others held it
	for name, n := range taken {
		if n != 1 {
			l.t.Errorf("%s was taken %d times", name, n)
		}
	}
	same(l, "turns that were taken", len(taken), turns)
}

// claim takes the oldest turn that waits, and returns "" where there is none.
func (l *ledger) claim() (name string, err error) {
	err = l.update(func(tx store.Tx) error {
		name = ""
		rows, err := tx.Turns(store.TurnFilter{Statuses: []turn.Status{turn.Queued}, Limit: 1, Claim: true})
		if err != nil || len(rows) == 0 {
			return err
		}
		r, err := tx.Turn(store.TurnRef{Turn: rows[0].Turn})
		if err != nil {
			return err
		}
		name, r.State.Status = r.State.Turn, turn.Running
		return tx.Save(store.Batch{Turn: &r})
	})
	return name, err
}
