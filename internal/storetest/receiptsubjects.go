package storetest

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// receiptSubjects reads what is kept of the receipts of some entries.
func (l *ledger) receiptSubjects(after, to int64) []store.ReceiptSubject {
	l.t.Helper()
	var rows []store.ReceiptSubject
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.ReceiptSubjects(store.EntryFilter{After: after, To: to})
		return err
	})
	return rows
}

// unaudited lists the calls of which the chain does not say what it should.
func (l *ledger) unaudited(after string, limit int) []api.AuditCall {
	l.t.Helper()
	var rows []api.AuditCall
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.Unaudited(store.UnauditedFilter{After: after, Limit: limit})
		return err
	})
	return rows
}

// about is what is kept of the receipt of everything(n), if that has the entry.
func about(n int, entry int64) store.ReceiptSubject {
	r := full(n)
	c := r.State.Calls[0]
	return store.ReceiptSubject{
		Entry: entry, Turn: r.State.Turn, Project: r.State.Project, Imported: !r.Imported.IsZero(),
		Tool: c.Tool, Card: c.Card, Definition: c.Definition, Digest: c.Digest, Question: true, Consent: consentTo(n).Digest, Answer: report(n).Card,
		Unstarted: c.Fence > 1, // the sample's grant has the fence 1
	}
}

func receiptsHaveWhatTheyAreAbout(l *ledger) {
	for n := 1; n <= 3; n++ {
		b := everything(n)
		b.Turn.Erased = false // the sample says so, and has all of its content
		l.save(b)
	}
	same(l, "all", l.receiptSubjects(0, 9), []store.ReceiptSubject{about(1, 1), about(2, 2), about(3, 3)})
	same(l, "a part", l.receiptSubjects(1, 2), []store.ReceiptSubject{about(2, 2)})
	same(l, "none", l.receiptSubjects(0, 0), nil)
	again := start(1)
	again.Fence = full(1).State.Calls[0].Fence
	l.save(store.Batch{
		Grants: []store.Grant{{Call: again.Call, Fence: again.Fence, Owner: "owner", At: at(1)}},
		Acts:   []api.AuditAct{start(1), start(2), start(3), again},
	})
	started := about(1, 1)
	started.Unstarted = false
	same(l, "started", l.receiptSubjects(0, 1), []store.ReceiptSubject{started})
	same(l, "without a receipt", l.unaudited("", 9), nil)
	another := everything(4)
	another.Turn.Erased, another.Consents[0].By = false, "eve"
	another.Acts = []api.AuditAct{start(4)}
	l.save(another)
	none := about(4, 8)
	none.Consent = ""
	same(l, "a consent of somebody else", l.receiptSubjects(7, 8), []store.ReceiptSubject{none})
}

func receiptsOfNothing(l *ledger) {
	l.save(Answered(1))
	same(l, "of no turn", l.receiptSubjects(0, 9), []store.ReceiptSubject{{Entry: 1}})
	l.said(Content(2, digestOf(nil)))
	l.purge(store.Purge{Turns: []string{"turn_2"}})
	if kept := l.receiptSubjects(1, 2); len(kept) != 1 || !kept[0].Erased || kept[0].Turn != "turn_2" || kept[0].Digest == "" || kept[0].Card == "" || !kept[0].Question {
		l.t.Errorf("of an erased turn there is %+v", kept)
	}
	l.save(cards(uncalled(2)[1])) // some of its content is there again
	if kept := l.receiptSubjects(1, 2); len(kept) != 1 || kept[0].Erased {
		l.t.Errorf("of a turn with a late card there is %+v", kept)
	}
	l.purge(store.Purge{Receipts: time.Now().Add(24 * time.Hour)})
	same(l, "forgotten", len(l.receiptSubjects(1, 2)), 0)
}

func startsWithoutReceipts(l *ledger) {
	batch := func(n int, class utp.Class) store.Batch {
		b := everything(n)
		b.Turn.State.Calls[0].Class, b.Turn.State.Calls[0].Question = class, n
		b.Receipts[0].Decision, b.Acts = "reject", []api.AuditAct{start(n)}
		return b
	}
	started, asked, allowed, right := batch(1, utp.Irreversible), batch(2, utp.Reversible), batch(3, utp.Idempotent), everything(4)
	right.Acts = []api.AuditAct{start(4)}
	started.Consents, started.Consumed, allowed.Consents, allowed.Consumed = nil, nil, nil, nil
	for _, b := range []store.Batch{started, asked, allowed, right} {
		l.save(b)
	}
	of := func(n int) api.AuditCall {
		return api.AuditCall{Call: id("tc", n), Turn: id("turn", n), Question: n, Unreceipted: true}
	}
	same(l, "all", l.unaudited("", 9), []api.AuditCall{of(1), of(2)})
	same(l, "the first", l.unaudited("", 1), []api.AuditCall{of(1)})
	same(l, "the rest", l.unaudited(id("tc", 1), 9), []api.AuditCall{of(2)})
	same(l, "none", l.unaudited("", 0), nil)
	refused := everything(5)
	refused.Acts, refused.Turn.State.Calls[0].Question = []api.AuditAct{start(5)}, 5
	refused.Turn.Questions[0].State, refused.Receipts[0].Question = consent.Rejected, refused.Turn.Questions[0].Number+1
	l.save(refused)
	same(l, "a no without a receipt", l.unaudited(id("tc", 4), 9), []api.AuditCall{of(5)})
}
