package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestAgreedIsCompared: what was agreed to, and is altered or removed behind the kernel's back when all
// is over, is found, each thing as what it is; also when the content is erased, as far as rows are kept.
func TestAgreedIsCompared(t *testing.T) {
	testkit.Slow(t)
	for _, tt := range []struct {
		name, change string
		erased       bool
		flaws        []audit.Flaw
	}{
		{"nothing", ``, false, nil},
		{"nothing, erased", ``, true, nil},
		{"arguments", `UPDATE cards SET content = replace(content, '"x"', '"y"') WHERE type = 'tool.call'`, false, []audit.Flaw{audit.Arguments}},
		{"the card", `DELETE FROM cards WHERE type = 'tool.call'`, false, []audit.Flaw{audit.Arguments}},
		{"the tool", `UPDATE calls SET tool = 'look'`, false, []audit.Flaw{audit.Bound}},
		{"the definition", `UPDATE calls SET definition = 'd' || definition`, false, []audit.Flaw{audit.Bound}},
		{"the definition, erased", `UPDATE calls SET definition = 'd' || definition`, true, []audit.Flaw{audit.Bound}},
		{"the digest, erased", `UPDATE calls SET digest = 'd' || digest`, true, []audit.Flaw{audit.Bound}},
		{"the project", `UPDATE turns SET project = 'other'`, false, []audit.Flaw{audit.Bound}},
		{"the event", `UPDATE events SET body = replace(body, 'burn', 'read') WHERE type LIKE '%awaiting.confirmation'`, false, []audit.Flaw{audit.Shown}},
		{"no event", `DELETE FROM events WHERE type LIKE '%awaiting.confirmation'`, false, []audit.Flaw{audit.Shown}},
		{"the question", `DELETE FROM questions`, false, []audit.Flaw{audit.Unasked}},
		{"the question, erased", `DELETE FROM questions`, true, []audit.Flaw{audit.Unasked}},
		{"the consent", `DELETE FROM consents`, false, []audit.Flaw{audit.Unagreed}},
		{"the consent, erased", `UPDATE consents SET digest = 'd' || digest`, true, []audit.Flaw{audit.Unagreed}},
		{"the start", `DELETE FROM grants`, false, []audit.Flaw{audit.Ungranted, audit.Unstarted}},
		{"the start, erased", `DELETE FROM grants`, true, []audit.Flaw{audit.Ungranted, audit.Unstarted}},
		{"the turn", `DELETE FROM turns`, false, []audit.Flaw{audit.Orphaned}},
		{"the turn and its calls", `DELETE FROM calls; DELETE FROM turns`, false, []audit.Flaw{audit.Orphaned}},
		{"the receipt", `DELETE FROM receipts`, false, []audit.Flaw{audit.Missing, audit.Unreceipted}},
		{"the decision", `UPDATE receipts SET decision = 'reject'`, false, []audit.Flaw{audit.Altered, audit.Unreceipted}},
		{"the terms", `UPDATE receipts SET terms = ''`, false, []audit.Flaw{audit.Altered}},
		{"terms that are none", `UPDATE receipts SET terms = '{'`, false, []audit.Flaw{audit.Altered}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.accepts()
				w.succeeded(a.Turn)
				if tt.erased {
					w.pass(time.Minute)
					if got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{a.Turn}}); err != nil || got.Erased != 1 {
						t.Fatalf("erased %+v, %v", got, err)
					}
				}
				if tt.change != "" {
					w.tamper(`PRAGMA foreign_keys = 0; ` + tt.change)
				}
				w.flaws = tt.flaws
				w.wholeChain()
			})
		})
	}
}

// TestFindingsName: what was found names the question and its call.
func TestFindingsName(t *testing.T) {
	onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		w.succeeded(a.Turn)
		w.tamper(`DELETE FROM cards`)
		_, flaws := w.verified(func(r api.AuditRequest) (api.AuditAnswer, error) { return operate[api.AuditAnswer](w, api.OpAudit, r) })
		want := fmt.Sprintf("question %d, call %s: the arguments cannot be read, and what has the digest ", q.Number, w.last(a.Turn).ID)
		if !slices.ContainsFunc(flaws, func(f audit.Finding) bool { return strings.HasPrefix(f.Found.String(), want) }) {
			t.Errorf("%+v, want one that begins %q", flaws, want)
		}
	})
}
