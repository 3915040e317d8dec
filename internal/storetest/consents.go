package storetest

import (
	"errors"
	"sync/atomic"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func consentCases() []exercise {
	return []exercise{
		{"have a digest", consentsHaveADigest},
		{"are used once", consentsOnce},
		{"are for one call, question and digest", consentsAreBound},
		{"are given once", consentsGivenOnce},
		{"one of many who use one wins", consentsRace},
		{"a start is granted once for each fence", grantsOnce},
		{"one of many who start under a fence wins", grantsRace},
	}
}

// asked saves n turns that each ask question n about call tc_n.
func (l *ledger) asked(n int) {
	l.t.Helper()
	for i := 1; i <= n; i++ {
		r := asking(i)
		l.save(store.Batch{Turn: &r})
	}
}

func use(n int) store.Batch {
	return store.Batch{Consumed: []store.Consent{{Question: n, Call: id("tc", n), Digest: digest("consented", n), At: at(n)}}}
}

func consentsOnce(l *ledger) {
	l.asked(2)
	l.refuse("a consent that nobody gave", store.ErrConflict, use(1))
	l.save(store.Batch{Consents: []store.Consent{consentTo(1), consentTo(2)}})
	twice := use(1)
	twice.Consumed = append(twice.Consumed, twice.Consumed[0])
	l.refuse("a consent used twice in one step", store.ErrConflict, twice)
	l.save(use(1)) // the refused step has not used it up
	l.refuse("a consent used again", store.ErrConflict, use(1))
	l.save(use(2))
}

func consentsAreBound(l *ledger) {
	l.asked(2)
	l.save(store.Batch{Consents: []store.Consent{consentTo(1), consentTo(2)}})
	for what, change := range map[string]func(*store.Consent){
		"another call":     func(c *store.Consent) { c.Call = "tc_2" },
		"another question": func(c *store.Consent) { c.Question = 2 },
		"another digest":   func(c *store.Consent) { c.Digest = digest("consented", 2) },
		"no digest":        func(c *store.Consent) { c.Digest = "" },
		"no call":          func(c *store.Consent) { c.Call = "" },
		"no question":      func(c *store.Consent) { c.Question = 0 },
		"a call elsewhere": func(c *store.Consent) { c.Call = "tc_9" },
	} {
		b := use(1)
		change(&b.Consumed[0])
		l.refuse(what, store.ErrConflict, b)
	}
	l.save(use(1))
	l.save(use(2))
}

func consentsGivenOnce(l *ledger) {
	l.asked(3)
	l.save(store.Batch{Consents: []store.Consent{consentTo(1)}})
	again, swapped, unasked, elsewhere := consentTo(1), consentTo(2), consentTo(9), consentTo(3)
	again.Digest = digest("consented", 7)
	swapped.Call = "tc_1"
	unasked.Call = "tc_2"
	elsewhere.Call = "tc_9"
	l.refuse("a second consent to a question", store.ErrConflict, store.Batch{Consents: []store.Consent{again}})
	l.refuse("a second consent to a call", store.ErrConflict, store.Batch{Consents: []store.Consent{swapped}})
	l.refuse("a consent to a question that was not asked", store.ErrConflict, store.Batch{Consents: []store.Consent{unasked}})
	l.refuse("a consent to a call that is not there", store.ErrConflict, store.Batch{Consents: []store.Consent{elsewhere}})
	l.save(use(1)) // the first one stands
	renewed := store.Consent{Question: 1, Call: "tc_2", Digest: digest("consented", 7), By: "ann", At: at(2)}
	l.save(store.Batch{Consents: []store.Consent{renewed}}) // the question is asked again, about another call
	l.refuse("a consent to a question that is asked again, used for the call before", store.ErrConflict, use(1))
	l.save(store.Batch{Consumed: []store.Consent{renewed}})
}

// oneSucceeds counts who succeeds; all others must see a conflict.
func (l *ledger) oneSucceeds(what string, try func(racer int) error) {
	l.t.Helper()
	var won atomic.Int32
	race(func(i int) {
		switch err := try(i); {
		case err == nil:
			won.Add(1)
		case !errors.Is(err, store.ErrConflict):
			l.t.Errorf("%s: %v", what, err)
		}
	})
	if won.Load() != 1 {
		l.t.Errorf("%s: %d of %d have won, want 1", what, won.Load(), racers)
	}
}

func consentsRace(l *ledger) {
	l.asked(rounds)
	for n := 1; n <= rounds; n++ {
		l.oneSucceeds("giving", func(int) error { return l.try(store.Batch{Consents: []store.Consent{consentTo(n)}}) })
		l.oneSucceeds("using", func(int) error { return l.try(use(n)) })
	}
}

func grant(n, fence int, owner string) store.Batch {
	return store.Batch{Grants: []store.Grant{{Call: id("tc", n), Fence: fence, Owner: owner, At: at(n)}}}
}

func grantsOnce(l *ledger) {
	l.asked(2)
	l.save(grant(1, 1, "a"))
	l.refuse("a second start", store.ErrConflict, grant(1, 1, "b"))
	l.refuse("a second start by the same owner", store.ErrConflict, grant(1, 1, "a"))
	l.save(grant(1, 2, "b"))
	l.save(grant(2, 1, "b"))
	l.refuse("a start of a call that is not there", store.ErrConflict, grant(9, 1, "a"))
}

func grantsRace(l *ledger) {
	l.asked(1)
	for fence := 1; fence <= rounds; fence++ {
		l.oneSucceeds("starting", func(i int) error { return l.try(grant(1, fence, id("owner", i))) })
	}
}

// consentsHaveADigest: a retry would not help, so it is no conflict.
func consentsHaveADigest(l *ledger) {
	r := asking(1)
	l.save(store.Batch{Turn: &r})
	c := consentTo(1)
	c.Digest = ""
	if err := l.try(store.Batch{Consents: []store.Consent{c}}); err == nil || errors.Is(err, store.ErrConflict) {
		l.t.Errorf("a consent to nothing: %v", err)
	}
	l.save(store.Batch{Consents: []store.Consent{consentTo(1)}})
}
