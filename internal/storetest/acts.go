package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// start is the start of the call of everything(n), and outcome its outcome.
func start(n int) api.AuditAct {
	c := full(n).State.Calls[0]
	return api.AuditAct{
		Act: api.ActStart, At: at(n), Session: id("sess", n), Call: c.ID, Fence: 1, Detail: string(c.Class), Digest: c.Digest, By: "owner", Salt: digest("salt", n),
	}
}

func outcome(n int) api.AuditAct {
	a := start(n)
	a.Act, a.Detail, a.Digest = api.ActOutcome, string(report(n).Status), digest("result", n)
	return a
}

// operated is something that an operator did, with texts that not every ledger keeps.
func operated(n int) api.AuditAct {
	return api.AuditAct{Act: api.ActReview, At: at(n), Subject: "töol\x00", Detail: "read \xff", Digest: "d", Description: "s\x00", By: "ann", Salt: digest("salt", n)}
}

// actSubjects reads what is kept of the acts of some entries.
func (l *ledger) actSubjects(after, to int64) []store.ActSubject {
	l.t.Helper()
	var rows []store.ActSubject
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.ActSubjects(store.EntryFilter{After: after, To: to})
		return err
	})
	return rows
}

func actsAreChained(l *ledger) {
	all := []api.AuditAct{operated(1), start(2), outcome(2)}
	l.save(everything(2)) // its receipt is the first entry
	l.save(store.Batch{Acts: all})
	same(l, "the chain", Audit(l.t, l.store).Acts, 3)
	for i, want := range all {
		e := l.read(store.AuditFilter{After: int64(i + 1), Limit: 1})[0]
		want = audit.StorableAct(want)
		if e.Act == nil || e.Kind != audit.Act || e.Receipt != nil || e.Commitment != audit.ActCommitment(want) {
			l.t.Errorf("entry %d: %+v, want that of %+v", i+2, e, want)
			continue
		}
		same(l, "its act", *e.Act, want)
	}
}

func actsHaveTheirCalls(l *ledger) {
	b := everything(1)
	b.Turn.Erased = false // the sample says so, and has all of its content
	b.Acts = []api.AuditAct{start(1), outcome(1), operated(1)}
	l.save(b)
	r := full(1)
	c := r.State.Calls[0]
	kept := store.ActSubject{
		Entry: 2, Call: c.ID, Turn: r.State.Turn, Project: r.State.Project, Imported: !r.Imported.IsZero(), Class: string(c.Class), Digest: c.Digest, Fence: c.Fence,
		Document: c, Granted: true, Accepted: b.Receipts[0].Decision == "accept", Status: string(report(1).Status), Card: report(1).Card,
	}
	ended := kept
	ended.Entry = 3
	same(l, "all", l.actSubjects(0, 9), []store.ActSubject{kept, ended})
	same(l, "a part", l.actSubjects(2, 3), []store.ActSubject{ended})
	same(l, "none", l.actSubjects(0, 0), nil)
	another, nothing := start(1), start(7)
	another.Fence = 9
	l.save(store.Batch{Acts: []api.AuditAct{another, nothing}})
	kept.Entry, kept.Granted = 5, false
	same(l, "of no start, and of no turn", l.actSubjects(4, 9), []store.ActSubject{kept, {Entry: 6, Call: nothing.Call}})
}

func startsWithoutEntries(l *ledger) {
	save := func(n int, class utp.Class, fence int, state turn.CallState, acts ...api.AuditAct) {
		b := everything(n)
		c := &b.Turn.State.Calls[0]
		c.Class, c.Question, c.Fence, c.State = class, n, fence, state
		b.Grants[0].Fence, b.Acts = fence, acts
		l.save(b)
	}
	save(1, utp.Irreversible, 1, turn.Started)
	save(2, utp.Idempotent, 1, turn.Started, start(2))
	save(3, utp.Idempotent, 2, turn.Started, start(3)) // of its first fence
	save(4, utp.Read, 1, turn.Finished)
	save(5, utp.Reversible, 1, turn.Finished, start(5), outcome(5))
	save(6, utp.Reversible, 1, turn.Finished, start(6)) // and no outcome
	of := func(n int) api.AuditCall {
		return api.AuditCall{Call: id("tc", n), Turn: id("turn", n), Question: n, Unrecorded: true}
	}
	same(l, "all", l.unaudited("", 9), []api.AuditCall{of(1), of(3), of(6)})
	same(l, "the first", l.unaudited("", 1), []api.AuditCall{of(1)})
	same(l, "the rest", l.unaudited(id("tc", 1), 9), []api.AuditCall{of(3), of(6)})
}

// operatorsActs: acts that are about no call can be read apart, also those that are forgotten.
func operatorsActs(l *ledger) {
	b := everything(2)
	b.Turn.Erased = false
	b.Acts = []api.AuditAct{operated(1), start(2), operated(3)}
	l.save(b)
	numbers := func() string {
		var all strings.Builder
		for _, e := range l.read(store.AuditFilter{Limit: 9, Operators: true}) {
			fmt.Fprintf(&all, " %d:%t", e.N, e.Act != nil)
		}
		return all.String()
	}
	same(l, "what operators did", numbers(), " 2:true 4:true")
	l.purge(store.Purge{Receipts: time.Now().Add(24 * time.Hour), Limit: 1})
	same(l, "one is forgotten", numbers(), " 2:false 4:true")
}

func actsAreForgotten(l *ledger) {
	l.said(Content(1, digestOf(nil)))
	mine := start(1)
	mine.Session, mine.Call = "sess_1", "tc_1"
	l.save(store.Batch{Acts: []api.AuditAct{mine, operated(1), operated(2)}})
	l.purge(store.Purge{Turns: []string{"turn_1"}})
	if r := Audit(l.t, l.store); r.Acts != 3 || r.Forgotten != 0 {
		l.t.Errorf("erasure has taken acts: %+v", r)
	}
	l.purge(store.Purge{Receipts: time.Now().Add(24 * time.Hour)})
	if r := Audit(l.t, l.store); r.Acts != 3 || r.Forgotten < 3 {
		l.t.Errorf("acts were not forgotten: %+v", r)
	}
	for _, e := range l.read(store.AuditFilter{Limit: 99}) {
		if e.Act != nil {
			l.t.Errorf("the act of entry %d is still there: %+v", e.N, e.Act)
		}
	}
	same(l, "what is kept of them", l.actSubjects(0, 99), nil)
}

func inForceIsSaved(l *ledger) {
	read := func(kind string) []store.InForce {
		var rows []store.InForce
		l.view(func(tx store.Tx) (err error) {
			rows, err = tx.InForce(kind)
			return err
		})
		return rows
	}
	b, a := store.InForce{Kind: "token", Subject: "b", Digest: "1", Detail: "ö", By: "ann"}, store.InForce{Kind: "token", Subject: "a", Digest: "1"}
	l.save(store.Batch{InForce: []store.InForce{b, a, {Kind: "login", Subject: "b", Digest: "2"}}})
	same(l, "in order", read("token"), []store.InForce{a, b})
	b.Digest = "3"
	l.save(store.Batch{InForce: []store.InForce{b, {Kind: "token", Subject: "a"}, {Kind: "token", Subject: "never"}}})
	same(l, "changed and gone", read("token"), []store.InForce{b})
	same(l, "of another kind", len(read("login")), 1)
}
