package kernel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// chain verifies the audit chain by the kernel's own requests, and returns it.
func (w *world) chain() []api.AuditEntry {
	w.t.Helper()
	all, flaws := w.verified(func(q api.AuditRequest) (api.AuditAnswer, error) { return operate[api.AuditAnswer](w, api.OpAudit, q) })
	for _, f := range flaws {
		w.t.Errorf("the audit chain: %+v", f)
	}
	return all
}

// audited is the chain without its acts.
func (w *world) audited() []api.AuditEntry {
	w.t.Helper()
	return slices.DeleteFunc(w.chain(), func(e api.AuditEntry) bool { return e.Kind == audit.Act })
}

// verified verifies the chain of answers, and returns it with what is wrong with it.
func (w *world) verified(ask func(api.AuditRequest) (api.AuditAnswer, error)) (all []api.AuditEntry, flaws []audit.Finding) {
	w.t.Helper()
	v := audit.Verifier{Found: func(f audit.Finding) { flaws = append(flaws, f) }}
	report, err := v.Ledger(func(q api.AuditRequest) (api.AuditAnswer, error) {
		a, err := ask(q)
		if !q.Head {
			all = append(all, a.Entries...)
		}
		return a, err
	})
	newest, herr := ask(api.AuditRequest{Head: true})
	if err := errors.Join(err, herr); err != nil {
		w.t.Fatal(err)
	}
	if last := slices.Concat(newest.Entries, []api.AuditEntry{{}})[0]; last.N != report.Head.N || last.Link != report.Head.Link {
		w.t.Errorf("the head is %+v, and the last entry %+v", last, report.Head)
	}
	return all, flaws
}

// wholeChain demands at the end of a world that its chain is whole, and that the ledger keeps what was
// agreed to, but for what the test itself has altered: all of that has to be found.
func (w *world) wholeChain() {
	w.t.Helper()
	_, flaws := w.verified(func(q api.AuditRequest) (a api.AuditAnswer, err error) {
		err = w.now.store.View(context.WithoutCancel(w.ctx), func(tx store.Tx) error {
			a, err = admin.Audit(tx, q)
			return err
		})
		return a, err
	})
	var found []audit.Flaw
	for _, f := range flaws {
		found = append(found, f.Flaw)
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, w.flaws) {
		w.t.Errorf("the audit chain has the flaws %q, want %q: %+v", found, w.flaws, flaws)
	}
}

// TestAnswersAreChained: each answer has an entry, which commits to its receipt with a salt that
// is its own and stands nowhere else; a call that nobody is asked about has none.
func TestAnswersAreChained(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(poller), one(burn))
		a := w.begin()
		q := w.accepts()
		if _, err := w.hub.Undo(w.ctx, api.ReplyRequest{Token: q.Token, By: "bob", Surface: "page"}); err != nil {
			t.Fatal(err)
		}
		w.cancelled(a.Turn)
		all := w.audited()
		if len(all) != 2 {
			t.Fatalf("the chain has %d entries, want one of the yes and one of taking it back", len(all))
		}
		for i, want := range []string{"accept ada", "undo bob"} {
			r := all[i].Receipt
			if r == nil || r.Decision+" "+r.By != want || len(r.Salt) != 32 || strings.Trim(r.Salt, "0123456789abcdef") != "" {
				t.Errorf("entry %d: %+v of %+v, want %s", i+1, all[i], r, want)
				continue
			}
			for _, table := range []string{"audit", "events", "cards", "turns", "outbox", "results"} {
				if n := w.cell(`SELECT count(*) FROM ` + table + ` AS t WHERE instr(json_array(` + w.columns(table) + `), '` + r.Salt + `') > 0`); n != "0" {
					t.Errorf("the salt of entry %d stands in %s rows of %s", i+1, n, table)
				}
			}
		}
		if all[0].Receipt.Salt == all[1].Receipt.Salt {
			t.Error("two receipts have one salt")
		}
	})
}

// columns are the columns of a table, as texts.
func (w *world) columns(table string) string {
	w.t.Helper()
	var all []string
	for _, row := range w.query(w.now.path, `SELECT name FROM pragma_table_info('`+table+`')`) {
		all = append(all, "CAST("+row[0]+" AS text)")
	}
	return strings.Join(all, ", ")
}

// TestAuditPages: a chain that is longer than one answer holds is handed out in pages.
func TestAuditPages(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		const many = 501
		b := store.Batch{Receipts: slices.Repeat([]store.Receipt{{Session: "sess_x", Call: "tc_x", By: "ada", At: w.clock.now()}}, many)}
		err := w.now.store.Update(w.ctx, func(tx store.Tx) error { return tx.Save(b) })
		if err != nil {
			t.Fatal(err)
		}
		if n := len(w.audited()); n != many {
			t.Errorf("%d entries, want %d", n, many)
		}
	})
}

// TestAllowedAndUnknown: a call that was allowed without a question, and whose outcome was then asked about, is still what
// was started.
func TestAllowedAndUnknown(t *testing.T) {
	inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: paint, Decide: turn.Allow}} }, func(t *testing.T, w *world) {
		w.effects.at("done", dies)
		w.work(one(paint))
		a := w.begin()
		w.say(w.asked(), "leave")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}
