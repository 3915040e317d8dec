package storetest

import (
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func keyCases() []exercise {
	return []exercise{
		{"are kept once, for each principal", keysOnce},
		{"give way when their time is over", keysGiveWay},
		{"one of many who begin under a key wins", keysRace},
		{"go by their age, in small steps", keysGo},
		{"last, if they are to", keysLast},
	}
}

func (l *ledger) key(principal, key string) (k store.RequestKey) {
	l.t.Helper()
	l.view(func(tx store.Tx) (err error) {
		k, err = tx.RequestKey(principal, key)
		return err
	})
	return k
}

func keysOnce(l *ledger) {
	first := requestKey(1)
	same(l, "a key that nobody has used", l.key(first.Principal, first.Key), store.RequestKey{})
	begun := plain(1)
	l.save(store.Batch{Turn: &begun, Keys: []store.RequestKey{first}})
	same(l, "the key", l.key(first.Principal, first.Key), first)
	again, other, another := first, first, first
	again.Turn, again.At = "turn_2", again.At.Add(store.KeyLife-time.Microsecond)
	other.Principal, other.Turn = "Bób", "turn_3"
	another.Key, another.Turn = digest("key", 9), "turn_4"
	second := plain(2)
	l.refuse("a second turn under one key", store.ErrConflict, store.Batch{Turn: &second, Keys: []store.RequestKey{again}})
	l.missing("its turn", func(tx store.Tx) error { _, err := tx.Turn(store.TurnRef{Turn: "turn_2"}); return err })
	l.refuse("one key twice in one step", store.ErrConflict, store.Batch{Keys: []store.RequestKey{other, other}})
	l.save(store.Batch{Keys: []store.RequestKey{other, another}})
	same(l, "the first key", l.key(first.Principal, first.Key), first)
	same(l, "another's key", l.key(other.Principal, other.Key), other)
	same(l, "another key", l.key(another.Principal, another.Key), another)
	for what, spoil := range map[string]func(*store.RequestKey){
		"no principal": func(k *store.RequestKey) { k.Principal = "" },
		"no key":       func(k *store.RequestKey) { k.Key = "" },
		"no digest":    func(k *store.RequestKey) { k.Digest = "" },
	} {
		bad := requestKey(5)
		spoil(&bad)
		if err := l.try(store.Batch{Keys: []store.RequestKey{bad}}); err == nil {
			l.t.Errorf("kept with %s", what)
		}
	}
}

func keysGiveWay(l *ledger) {
	old := requestKey(1)
	l.save(store.Batch{Keys: []store.RequestKey{old}})
	next := old
	next.Turn, next.Session, next.Digest, next.At = "turn_2", "sess_2", digest("asked", 2), old.At.Add(store.KeyLife)
	l.save(store.Batch{Keys: []store.RequestKey{next}})
	same(l, "the key a day later", l.key(old.Principal, old.Key), next)
	l.refuse("the key from before", store.ErrConflict, store.Batch{Keys: []store.RequestKey{old}})
}

func keysRace(l *ledger) {
	for n := 1; n <= rounds; n++ {
		l.oneSucceeds("beginning", func(i int) error {
			r := plain(n*1000 + i)
			return l.try(store.Batch{Turn: &r, Keys: []store.RequestKey{requestKey(n)}})
		})
	}
}

func keysGo(l *ledger) {
	var all []store.RequestKey
	for n := 1; n <= 5; n++ {
		all = append(all, requestKey(n))
	}
	l.save(store.Batch{Keys: all})
	left := func(want ...int) {
		l.t.Helper()
		var got []int
		for n, k := range all {
			if l.key(k.Principal, k.Key) != (store.RequestKey{}) {
				got = append(got, n+1)
			}
		}
		same(l, "the keys that are left", got, want)
	}
	l.purge(store.Purge{Content: at(1 << 20), Receipts: at(1 << 20)})
	left(1, 2, 3, 4, 5)
	same(l, "more", l.purge(store.Purge{Keys: at(3), Limit: 2}).More, true)
	left(3, 4, 5)
	same(l, "more", l.purge(store.Purge{Keys: at(3), Limit: 2}).More, false)
	left(4, 5)
}

// keysLast: a lasting key gives way to no other, and does not go by its age.
func keysLast(l *ledger) {
	lasting := lastingKey(1)
	l.save(store.Batch{Keys: []store.RequestKey{lasting, requestKey(2)}})
	same(l, "the lasting key", l.key(lasting.Principal, lasting.Key), lasting)
	much := lasting
	much.Turn, much.Session, much.At = "turn_2", "sess_2", lasting.At.Add(1000*store.KeyLife)
	l.refuse("a lasting key years later", store.ErrConflict, store.Batch{Keys: []store.RequestKey{much}})
	l.purge(store.Purge{Keys: much.At, Limit: 9})
	same(l, "the lasting key after a purge", l.key(lasting.Principal, lasting.Key), lasting)
	same(l, "the other key after a purge", l.key(requestKey(2).Principal, requestKey(2).Key), store.RequestKey{})
}
