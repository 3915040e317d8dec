package storetest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func auditCases() []exercise {
	return []exercise{
		{"each receipt has its entry", receiptsAreChained},
		{"the chain is read in pages", chainsHavePages},
		{"content goes and the chain stays", erasureLeavesChains},
		{"what is forgotten has an entry that says so", forgettingIsChained},
		{"what is undone leaves no gap", undoneLeaveNoGap},
		{"many at once are numbered once", manyAreChained},
		{"what a receipt is about is read beside it", receiptsHaveWhatTheyAreAbout},
		{"what a receipt is about can be gone", receiptsOfNothing},
		{"a yes or a start without a receipt is found", startsWithoutReceipts},
		{"each act has its entry", actsAreChained},
		{"what an act is about is read beside it", actsHaveTheirCalls},
		{"a start or an end without an entry is found", startsWithoutEntries},
		{"what operators did is read apart", operatorsActs},
		{"acts are forgotten with their turn, or in their time", actsAreForgotten},
		{"what is in force is kept until it is gone", inForceIsSaved},
		{"a text that not every ledger keeps is committed to as it is kept", awkwardReceipts},
	}
}

// Audit verifies the audit chain of a store, and demands that it is whole.
func Audit(t *testing.T, s store.Ledger) audit.Report {
	t.Helper()
	const page = 3 // small, so that pages meet
	v := audit.Verifier{Found: func(f audit.Finding) { t.Errorf("the audit chain: %+v", f) }}
	var unchained api.AuditUnchained
	err := s.View(context.WithoutCancel(t.Context()), func(tx store.Tx) error {
		var err error
		unchained, err = tx.Unchained()
		return errors.Join(err, v.Read(func(after int64) (api.AuditAnswer, error) {
			entries, err := tx.Audit(store.AuditFilter{After: after, Limit: page})
			return api.AuditAnswer{Entries: entries, More: len(entries) == page}, err
		}))
	})
	if err != nil {
		t.Errorf("View: %v", err)
	}
	older := unchained // which no kernel has noted here
	unchained.Older, unchained.Starts = 0, 0
	r := v.End(unchained)
	r.Older, r.OlderStarts = older.Older, older.Starts
	return r
}

// Verify verifies the audit chain of a ledger that kernels have written, with all that it keeps of what was
// answered and done, as `earshot audit verify` does, and demands that nothing is wrong.
func Verify(t *testing.T, s store.Ledger) audit.Report {
	t.Helper()
	v := audit.Verifier{Found: func(f audit.Finding) { t.Errorf("the audit chain: %+v", f) }}
	var report audit.Report
	err := s.View(context.WithoutCancel(t.Context()), func(tx store.Tx) (err error) {
		report, err = v.Ledger(func(q api.AuditRequest) (api.AuditAnswer, error) { return admin.Audit(tx, q) })
		return err
	})
	if err != nil {
		t.Errorf("View: %v", err)
	}
	return report
}

// unnumbered are receipts as they were saved: the store has given each its entry.
func (l *ledger) unnumbered(kept []store.Receipt) []store.Receipt {
	l.t.Helper()
	for i := range kept {
		if kept[i].Entry == 0 {
			l.t.Errorf("the receipt of %s has no entry", kept[i].Call)
		}
		kept[i].Entry = 0
	}
	return kept
}

// read reads a part of the chain.
func (l *ledger) read(f store.AuditFilter) []api.AuditEntry {
	l.t.Helper()
	var rows []api.AuditEntry
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.Audit(f)
		return err
	})
	return rows
}

// counted compares what is in the chain.
func (l *ledger) counted(entries, answers, receipts, forgotten int64) {
	l.t.Helper()
	got := Audit(l.t, l.store)
	head := got.Head
	got.Head = audit.Head{}
	same(l, "the chain", got, audit.Report{Entries: entries, Answers: answers, Receipts: receipts, Forgotten: forgotten})
	if head.N != entries {
		l.t.Errorf("the head is %d of %d", head.N, entries)
	}
}

func receiptsAreChained(l *ledger) {
	l.counted(0, 0, 0, 0)
	b := everything(1)
	second := b.Receipts[0]
	second.Decision, second.Salt = "undo", "another"
	b.Receipts = append(b.Receipts, second)
	l.save(b)
	l.save(everything(2))
	l.counted(3, 3, 3, 0)
	for i, want := range []store.Receipt{b.Receipts[0], second, everything(2).Receipts[0]} {
		e := l.read(store.AuditFilter{After: int64(i), Limit: 1})[0]
		if e.Receipt == nil || e.N != int64(i+1) || e.Kind != audit.Answer || e.Of != 0 || e.Commitment != audit.Commitment(want.Audited()) {
			l.t.Errorf("entry %d: %+v, want that of %+v", i+1, e, want)
			continue
		}
		same(l, "its receipt", *e.Receipt, want.Audited())
	}
}

func chainsHavePages(l *ledger) {
	for n := 1; n <= 5; n++ {
		l.save(everything(n))
	}
	numbers := func(f store.AuditFilter) string {
		var all strings.Builder
		for _, e := range l.read(f) {
			all.WriteString(strconv.FormatInt(e.N, 10))
		}
		return all.String()
	}
	same(l, "the first", numbers(store.AuditFilter{Limit: 2}), "12")
	same(l, "the rest", numbers(store.AuditFilter{After: 2, Limit: 9}), "345")
	same(l, "behind the last", numbers(store.AuditFilter{After: 5, Limit: 9}), "")
	same(l, "the newest", numbers(store.AuditFilter{Newest: true, Limit: 2}), "54")
	same(l, "none", numbers(store.AuditFilter{}), "")
}

func erasureLeavesChains(l *ledger) {
	l.said(Content(1, digestOf(nil)))
	l.said(Content(2, digestOf(nil)))
	before := l.read(store.AuditFilter{Limit: 9})
	same(l, "erased", l.purge(store.Purge{Turns: []string{"turn_1"}}).Erased, []string{"turn_1"})
	same(l, "the chain", l.read(store.AuditFilter{Limit: 9}), before)
	l.counted(2, 2, 2, 0)
}

func forgettingIsChained(l *ledger) {
	for n := 1; n <= 3; n++ {
		l.said(Content(n, digestOf(nil)))
	}
	l.purge(store.Purge{Turns: []string{"turn_1", "turn_3"}})
	same(l, "forgotten", l.purge(store.Purge{Receipts: time.Now().Add(24 * time.Hour)}).Dropped, 2)
	l.counted(5, 3, 1, 2)
	chain := l.read(store.AuditFilter{Limit: 9})
	for i, of := range []int64{1, 3} {
		said, answer := chain[3+i], chain[of-1]
		if said.Kind != audit.Forgotten || said.Of != of || said.Commitment != "" || answer.Receipt != nil || answer.Commitment == "" {
			l.t.Errorf("%+v says what became of %+v", said, answer)
		}
	}
	l.save(everything(4))
	l.counted(6, 4, 2, 2)
}

func undoneLeaveNoGap(l *ledger) {
	l.save(everything(1))
	err := l.update(func(tx store.Tx) error { return errors.Join(tx.Save(everything(2)), errOnPurpose) })
	if !errors.Is(err, errOnPurpose) {
		l.t.Errorf("got %v", err)
	}
	twice := everything(1) // is there already
	l.refuse("a turn again", store.ErrConflict, twice)
	l.save(everything(3))
	l.counted(2, 2, 2, 0)
}

// manyAreChained also writes such steps that a store may put off and send together: those that
// only add.
func manyAreChained(l *ledger) {
	const each, hands = 4, 8
	var all sync.WaitGroup
	for hand := range hands {
		all.Go(func() {
			for i := range each {
				if err := l.try(Answered(hand*each + i)); err != nil {
					l.t.Errorf("an answer of many: %v", err)
				}
			}
		})
	}
	all.Wait()
	l.counted(hands*each, hands*each, hands*each, 0)
}

// Answered is a step that saves an answer and nothing else.
func Answered(n int) store.Batch { return store.Batch{Receipts: everything(n).Receipts} }

func awkwardReceipts(l *ledger) {
	b := Answered(1)
	b.Receipts[0].By, b.Receipts[0].Surface = "a\x00nn", "br\xffken"
	b.Receipts[0].Terms.Credential, b.Receipts[0].Terms.Policy = "a\x00key", "br\xff\xffken"
	l.save(b)
	l.counted(1, 1, 1, 0)
}
