package kernel_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// acts are the acts of the audit chain, which has to be whole.
func (w *world) acts() []string {
	w.t.Helper()
	var all []string
	for _, e := range w.chain() {
		if e.Act != nil && (e.Act.Act != api.ActReview || e.Act.By != "") { // the world reviews its own tools
			all = append(all, fmt.Sprintf("%s %s%s", e.Act.Act, e.Act.Subject, e.Act.Detail))
		}
	}
	return all
}

// TestEffectsAreChained: the start and the outcome of each call with an effect has an entry in the audit
// chain, whether somebody was asked or not; a read has none, and neither has a call that was never started.
func TestEffectsAreChained(t *testing.T) {
	inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: put, Decide: turn.Allow}} }, func(t *testing.T, w *world) {
		w.work(one(poller), one(put), one(paint), one(burn))
		a := w.begin()
		w.accepts() // to paint
		w.accepts() // to burn
		w.succeeded(a.Turn)
		want := []string{
			"start idempotent", "outcome success", "start reversible", "outcome success", "start irreversible", "outcome success",
		}
		if got := w.acts(); !slices.Equal(got, want) {
			t.Errorf("the chain has %q, want %q", got, want)
		}
	})
}

// TestUnstartedIsNotChained: of a call that was never started the chain has its answer alone.
func TestUnstartedIsNotChained(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.say(w.asked(), "reject")
		w.succeeded(a.Turn)
		if got := w.acts(); len(got) != 0 {
			t.Errorf("of a call that was not started the chain has %q", got)
		}
	})
}

// TestDoneIsCompared: what was done, and is altered or removed behind the kernel's back when all is over, is
// found; also of calls that nobody was asked about.
func TestDoneIsCompared(t *testing.T) {
	for _, tt := range []struct {
		name, tool, change string
		flaws              []audit.Flaw
	}{
		{"nothing", put, ``, nil},
		{"the start", put, `DELETE FROM grants`, []audit.Flaw{audit.Ungranted}},
		{"the start, hidden", put, `DELETE FROM grants; UPDATE calls SET fence = 0`, []audit.Flaw{audit.Ungranted}},
		{"another start", put, `INSERT INTO grants (call_id, fence, owner, at) SELECT call_id, fence + 1, owner, at + 1000000 FROM grants`, []audit.Flaw{audit.Unrecorded}},
		{
			"another start, counted", put, `INSERT INTO grants (call_id, fence, owner, at) SELECT call_id, fence + 1, owner, at + 1000000 FROM grants; UPDATE calls SET fence = 2`,
			[]audit.Flaw{audit.Ungranted, audit.Unrecorded},
		},
		{"the class", put, `UPDATE calls SET class = 'read'`, []audit.Flaw{audit.Class}},
		{"the class, when somebody was asked", burn, `UPDATE calls SET class = 'read'`, []audit.Flaw{audit.Class}},
		{"the outcome", put, `UPDATE reports SET status = 'failed'`, []audit.Flaw{audit.Outcome}},
		{"no outcome", put, `DELETE FROM reports`, []audit.Flaw{audit.Outcome}},
		{"the result", put, `UPDATE cards SET content = replace(content, 'success', 'failed') WHERE type = 'tool.result'`, []audit.Flaw{audit.Outcome}},
		{"the turn", put, `DELETE FROM turns`, []audit.Flaw{audit.Orphaned}},
		{"the act", put, `UPDATE audit SET doc = replace(doc, 'idempotent', 'read') WHERE fence > 0`, []audit.Flaw{audit.Altered}},
		{"an act that is none", put, `UPDATE audit SET doc = '{' WHERE fence > 0`, []audit.Flaw{audit.Altered}},
		{"no act", put, `UPDATE audit SET doc = '' WHERE fence > 0`, []audit.Flaw{audit.Altered}},
		{"the call it is filed under", put, `UPDATE audit SET call_id = 'tc_other' WHERE fence > 0`, []audit.Flaw{audit.Altered, audit.Unrecorded}},
		{
			"all that says that an irreversible call was started", burn,
			`DELETE FROM grants; DELETE FROM consents; UPDATE calls SET fence = 0, class = 'read'`,
			[]audit.Flaw{audit.Unagreed, audit.Ungranted},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			allowed := []rulebook.Rule{{Tool: put, Decide: turn.Allow}}
			onDisk(t, func(w *world) { w.unjudged, w.rules = true, allowed }, func(t *testing.T, w *world) {
				w.work(one(tt.tool))
				a := w.begin()
				if tt.tool == burn {
					w.accepts()
				}
				w.succeeded(a.Turn)
				if tt.change != "" {
					w.tamper(`PRAGMA foreign_keys = 0; ` + tt.change)
				}
				w.flaws = slices.Sorted(slices.Values(tt.flaws))
				w.wholeChain()
			})
		})
	}
}

// TestOperatorsAreChained: what an operator changes has an entry that names them, in the transaction of the
// change; what is refused has none.
func TestOperatorsAreChained(t *testing.T) {
	inWorld(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
		w.work(one(poller))
		a := w.begin()
		w.succeeded(a.Turn)
		w.pass(2 * time.Minute)
		tool := w.tool(put)
		before := len(w.acts())
		for op, q := range map[string]any{
			api.OpReview: api.ReviewRequest{Tool: put, Digest: "0", Class: utp.Read, Risk: utp.RiskLow, By: "ann"},
			api.OpErase:  api.EraseRequest{Turns: []string{"turn_none"}, By: "ann"},
			api.OpRemove: api.RemoveRequest{Tool: unknown, By: "ann"},
		} {
			if _, err := operate[struct{}](w, op, q); err == nil {
				t.Errorf("%s was not refused", op)
			}
		}
		if got := w.acts(); len(got) != before {
			t.Errorf("what was refused has entries: %q", got[before:])
		}
		if _, err := operate[api.ToolDetail](w, api.OpReview, api.ReviewRequest{Tool: put, Digest: tool.Digest, Class: utp.Reversible, Risk: utp.RiskHigh, By: "ann"}); err != nil {
			t.Fatal(err)
		}
		if _, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{a.Turn}, By: "ben"}); err != nil {
			t.Fatal(err)
		}
		if _, err := operate[struct{}](w, api.OpRemove, api.RemoveRequest{Tool: paint, By: "cid"}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range w.chain() {
			if e.Act == nil || e.Act.By == "" {
				continue
			}
			got = append(got, fmt.Sprintf("%s %s %s by %s", e.Act.Act, e.Act.Subject, e.Act.Detail, e.Act.By))
		}
		want := []string{"review put reversible, high risk by ann", "erase " + a.Turn + "  by ben", "remove paint  by cid"}
		if !slices.Equal(got, want) {
			t.Errorf("the chain has %q, want %q", got, want)
		}
	})
}

// TestImportIsChained: a turn that comes from another ledger has an entry with the operator who brought it, when all
// of it is here, and not before.
func TestImportIsChained(t *testing.T) {
	inWorld(t, func(w *world) { w.unjudged, w.restored = true, true }, func(t *testing.T, w *world) {
		w.work(one(poller))
		a := w.begin()
		w.succeeded(a.Turn)
		records := w.exported(a.Turn)
		w.elsewhere()
		w.importsSome(a.Turn, records, 3)
		if got := w.imported(); len(got) != 0 {
			t.Errorf("before the last part the chain has %q", got)
		}
		if _, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: a.Turn, Last: true, By: "ann"}); err != nil {
			t.Fatal(err)
		}
		if got, want := w.imported(), []string{a.Turn + " by ann"}; !slices.Equal(got, want) {
			t.Errorf("the chain has %q, want %q", got, want)
		}
	})
}

// imported are the acts of imports.
func (w *world) imported() []string {
	w.t.Helper()
	var all []string
	for _, e := range w.chain() {
		if e.Act != nil && e.Act.Act == api.ActImport {
			all = append(all, e.Act.Subject+" by "+e.Act.By)
		}
	}
	return all
}

// TestRestoredIsChained: a ledger that went back in time has an entry that says so, once.
func TestRestoredIsChained(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		old := w.copied()
		w.work(one(burn))
		w.accepts()
		w.succeeded(a.Turn)
		w.goesBack(old, true)
		w.say(w.asked(), "reject")
		w.over(a.Turn)
		w.restart()
		if got := w.acts(); !slices.Equal(got, []string{"restore ledgerthe ledger went back in time"}) {
			t.Errorf("the chain has %q", got)
		}
	})
}

// TestLostStartIsChained: how a call ended has its entry also where the start was lost with a part of the ledger.
func TestLostStartIsChained(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		cut := func(is bool) {
			for _, s := range w.services {
				s.conn.cut.Store(is)
			}
		}
		running := w.gate()
		w.effects.at("begun", running.pass)
		w.work(one(shred))
		a := w.begin()
		cut(true)
		w.accepts()
		w.reaches(a.Turn, turn.Dispatched)
		old := w.copied()
		cut(false)
		w.reaches(a.Turn, turn.Started)
		w.goesBack(old, true)
		running.open()
		w.pass(time.Minute)
		for _, q := range w.questions() {
			w.say(q, "leave")
		}
		w.over(a.Turn)
		want := []string{"restore ledgerthe ledger went back in time", "outcome failed"}
		if c, got := w.last(a.Turn), w.acts(); c.Fence != 0 || !slices.Equal(got, want) {
			t.Errorf("the chain has %q, want %q: %+v", got, want, c)
		}
	})
}

// TestTakeoverIsChained: a ledger that another data directory takes over has an entry that says so, once.
func TestTakeoverIsChained(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.takenOver = true
		w.restart()
		w.takenOver = false
		w.restart()
		if got := w.acts(); !slices.Equal(got, []string{"restore ledgertaken over from another data directory"}) {
			t.Errorf("the chain has %q", got)
		}
	})
}

// TestInForceIsChained: what is in force has an entry when it is first seen, when it changes, and when it is
// gone, and none while it stays; also when it changed while no kernel ran.
func TestInForceIsChained(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		keep := func(now ...store.InForce) {
			t.Helper()
			if err := w.now.kernel.Admin().RecordInForce(w.ctx, api.ActToken, now); err != nil {
				t.Fatal(err)
			}
		}
		phone := store.InForce{Subject: "phone", Digest: "1", Detail: "approver for ann", By: "ann"}
		keep()
		keep(phone)
		keep(phone)
		if err := w.now.kernel.Admin().RecordInForce(w.ctx, api.ActLogin, nil); err != nil { // another kind ends nothing
			t.Fatal(err)
		}
		w.restart()
		phone.Digest, phone.Detail = "2", "operator for ann"
		keep(phone)
		keep()
		keep()
		want := []string{"token phoneapprover for ann", "token phoneoperator for ann", "token phoneended"}
		if got := w.acts(); !slices.Equal(got, want) {
			t.Errorf("the chain has %q, want %q", got, want)
		}
	})
}
