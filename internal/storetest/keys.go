package storetest

import (
	"time"

	"github.com/earshot-dev/earshot/internal/kernel"
)

func keyCases() []exercise {
	return []exercise{
		{"are kept once, for each principal", keysOnce},
		{"give way when their time is over", keysGiveWay},
		{"one of many who begin under a key wins", keysRace},
		{"go by their age, in small steps", keysGo},
	}
}

func (l *ledger) key(principal, key string) (k kernel.RequestKey) {
	l.t.Helper()
	l.view(func(tx kernel.Tx) error {
		b, err := tx.Auxiliary(kernel.AuxiliaryFilter{KeyOf: principal, Key: key})
		k = b.Key
		return err
	})
	return k
}

func keysOnce(l *ledger) {
	first := requestKey(1)
	same(l, "a key that nobody has used", l.key(first.Principal, first.Key), kernel.RequestKey{})
	begun := plain(1)
	l.save(kernel.Batch{Turn: &begun, Keys: []kernel.RequestKey{first}})
	same(l, "the key", l.key(first.Principal, first.Key), first)
	again, other, another := first, first, first
	again.Turn, again.At = "turn_2", again.At.Add(kernel.KeyLife-time.Microsecond)
	other.Principal, other.Turn = "Bób", "turn_3"
	another.Key, another.Turn = digest("key", 9), "turn_4"
	second := plain(2)
	l.refuse("a second turn under one key", kernel.ErrConflict, kernel.Batch{Turn: &second, Keys: []kernel.RequestKey{again}})
	l.missing("its turn", func(tx kernel.Tx) error { _, err := tx.Turn(kernel.TurnRef{Turn: "turn_2"}); return err })
	l.refuse("one key twice in one step", kernel.ErrConflict, kernel.Batch{Keys: []kernel.RequestKey{other, other}})
	l.save(kernel.Batch{Keys: []kernel.RequestKey{other, another}})
	same(l, "the first key", l.key(first.Principal, first.Key), first)
	same(l, "another's key", l.key(other.Principal, other.Key), other)
	same(l, "another key", l.key(another.Principal, another.Key), another)
	for what, spoil := range map[string]func(*kernel.RequestKey){
		"no principal": func(k *kernel.RequestKey) { k.Principal = "" },
		"no key":       func(k *kernel.RequestKey) { k.Key = "" },
		"no digest":    func(k *kernel.RequestKey) { k.Digest = "" },
	} {
		bad := requestKey(5)
		spoil(&bad)
		if err := l.try(kernel.Batch{Keys: []kernel.RequestKey{bad}}); err == nil {
			l.t.Errorf("kept with %s", what)
		}
	}
}

func keysGiveWay(l *ledger) {
	old := requestKey(1)
	l.save(kernel.Batch{Keys: []kernel.RequestKey{old}})
	next := old
	next.Turn, next.Session, next.Digest, next.At = "turn_2", "sess_2", digest("asked", 2), old.At.Add(kernel.KeyLife)
	l.save(kernel.Batch{Keys: []kernel.RequestKey{next}})
	same(l, "the key a day later", l.key(old.Principal, old.Key), next)
	l.refuse("the key from before", kernel.ErrConflict, kernel.Batch{Keys: []kernel.RequestKey{old}})
}

func keysRace(l *ledger) {
	for n := 1; n <= rounds; n++ {
		l.oneSucceeds("beginning", func(i int) error {
			r := plain(n*1000 + i)
			return l.try(kernel.Batch{Turn: &r, Keys: []kernel.RequestKey{requestKey(n)}})
		})
	}
}

func keysGo(l *ledger) {
	var all []kernel.RequestKey
	for n := 1; n <= 5; n++ {
		all = append(all, requestKey(n))
	}
	l.save(kernel.Batch{Keys: all})
	left := func(want ...int) {
		l.t.Helper()
		var got []int
		for n, k := range all {
			if l.key(k.Principal, k.Key) != (kernel.RequestKey{}) {
				got = append(got, n+1)
			}
		}
		same(l, "the keys that are left", got, want)
	}
	l.purge(kernel.Purge{Content: at(1 << 20), Receipts: at(1 << 20)})
	left(1, 2, 3, 4, 5)
	same(l, "more", l.purge(kernel.Purge{Keys: at(3), Limit: 2}).More, true)
	left(3, 4, 5)
	same(l, "more", l.purge(kernel.Purge{Keys: at(3), Limit: 2}).More, false)
	left(4, 5)
}
