package storetest

import (
	"errors"
	"math"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func passkeyCases() []exercise {
	return []exercise{
		{"are added once, in order, and removed", passkeysAreAdded},
		{"move on, and never back", passkeysMoveOn},
		{"and what they have signed is kept", signaturesAreKept},
	}
}

func (l *ledger) passkeys() []store.Passkey {
	l.t.Helper()
	var all []store.Passkey
	l.view(func(tx store.Tx) (err error) {
		all, err = tx.Passkeys()
		return err
	})
	return all
}

// conflicts demands that a batch is refused because of what is there.
func (l *ledger) conflicts(what string, b store.Batch) {
	l.t.Helper()
	if err := l.try(b); !errors.Is(err, store.ErrConflict) {
		l.t.Errorf("%s: got %v, want ErrConflict", what, err)
	}
}

func passkeysAreAdded(l *ledger) {
	if all := l.passkeys(); len(all) > 0 {
		l.t.Errorf("an empty ledger has %+v", all)
	}
	first, second := passkey(1), passkey(2)
	first.Counter, second.Used = math.MaxUint32, at(9)
	l.save(store.Batch{Passkeys: []store.Passkey{second}})
	l.save(store.Batch{Passkeys: []store.Passkey{first}})
	same(l, "all", l.passkeys(), []store.Passkey{first, second})
	l.conflicts("once more", store.Batch{Passkeys: []store.Passkey{first}})
	for _, bad := range []store.Passkey{{Person: "ann", Public: "p"}, {ID: "i", Public: "p"}, {ID: "i", Person: "ann"}} {
		if err := l.try(store.Batch{Passkeys: []store.Passkey{bad}}); err == nil {
			l.t.Errorf("the passkey %+v was added", bad)
		}
	}
	l.save(store.Batch{PasskeysRemoved: []string{first.ID}})
	same(l, "what is left", l.passkeys(), []store.Passkey{second})
	l.conflicts("removed twice", store.Batch{PasskeysRemoved: []string{first.ID}})
	l.conflicts("used after it was removed", store.Batch{PasskeysUsed: []store.PasskeyUse{{ID: first.ID, At: at(3)}}})
	same(l, "after that", l.passkeys(), []store.Passkey{second})
}

func passkeysMoveOn(l *ledger) {
	counts, silent := passkey(1), passkey(2)
	counts.Counter, silent.Counter = 5, 0
	l.save(store.Batch{Passkeys: []store.Passkey{counts, silent}})
	use := func(id string, counter uint32) store.Batch {
		return store.Batch{PasskeysUsed: []store.PasskeyUse{{ID: id, Counter: counter, At: at(7)}}}
	}
	l.conflicts("the same number", use(counts.ID, 5))
	l.conflicts("a smaller number", use(counts.ID, 4))
	l.conflicts("none any more", use(counts.ID, 0))
	l.save(use(counts.ID, 6))
	l.save(use(silent.ID, 0))
	counts.Counter, counts.Used, silent.Used = 6, at(7), at(7)
	same(l, "both", l.passkeys(), []store.Passkey{counts, silent})
}

func signaturesAreKept(l *ledger) {
	b := everything(1)
	r := &b.Receipts[0]
	r.Terms.Signed = api.SignedAccept{
		Assertion: api.Assertion{Passkey: id("key", 1), Authenticator: "YQ", Client: "Yg", Signature: "Yw"},
		Key:       "ZA", Site: "localhost", Token: id("rpl", 1), Generation: id("gen", 1),
	}
	l.save(b)
	var kept []store.Receipt
	l.view(func(tx store.Tx) (err error) {
		kept, err = tx.Receipts(r.Session)
		return err
	})
	if len(kept) != 1 {
		l.t.Fatalf("the receipts are %+v", kept)
	}
	same(l, "what was signed", kept[0].Terms.Signed, r.Terms.Signed)
}
