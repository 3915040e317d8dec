package kernel_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// altered plays, writes to the ledger behind the kernel's back, and wants just these flaws.
func altered(t *testing.T, play func(*testing.T, *world), change string, flaws ...audit.Flaw) {
	t.Helper()
	allowed := []rulebook.Rule{{Tool: put, Decide: turn.Allow}}
	onDisk(t, func(w *world) { w.unjudged, w.rules = true, allowed }, func(t *testing.T, w *world) {
		play(t, w)
		w.wholeChain()
		w.tamper(`PRAGMA foreign_keys = 0; ` + change)
		w.flaws = slices.Sorted(slices.Values(flaws))
		w.wholeChain()
	})
}

// ran is a call that was allowed, agreed that nobody was allowed without.
func ran(t *testing.T, w *world) {
	w.work(one(put))
	w.succeeded(w.begin().Turn)
}

func agreed(t *testing.T, w *world) {
	w.work(one(burn))
	a := w.begin()
	w.accepts()
	w.succeeded(a.Turn)
}

func refused(t *testing.T, w *world) {
	w.work(one(burn))
	a := w.begin()
	w.say(w.asked(), "reject")
	w.over(a.Turn)
}

// TestAltered: what is written to the ledger behind the kernel's back is found, also where it is put where
// nobody looks, or is marked as something that is not compared.
func TestAltered(t *testing.T) {
	testkit.Slow(t)
	const starts = `INSERT INTO grants (call_id, fence, owner, at) SELECT call_id, fence + 1, owner, at + 1000000 FROM grants; `
	const evil = `INSERT INTO calls SELECT 'tc_evil', turn_id, session_id, tool, target, state, class, risk, definition, card, question, digest, 1, owner, doc FROM calls;
		INSERT INTO consents SELECT 'tc_evil', question, digest, given_by, surface, at, consumed_at FROM consents;
		INSERT INTO grants (call_id, fence, owner, at) SELECT 'tc_evil', 1, owner, 1 FROM grants; `
	const yes = `(session_id, call_id, question, decision, given_by, surface, at, shown, language, entry, older)
		SELECT session_id, 'tc_evil', question, 'accept', 'ada', 'terminal', 1, '', 'en', `
	for _, tt := range []struct {
		name   string
		play   func(*testing.T, *world)
		change string
		flaws  []audit.Flaw
	}{
		{
			"a start with an entry of number 0", ran, starts + `INSERT INTO audit (n, kind, at, of, commitment, link, session_id, call_id, fence)
				SELECT 0, 'act', 9e15, 0, '', '', session_id, call_id, 2 FROM calls`,
			[]audit.Flaw{audit.Altered, audit.Repeat, audit.Unrecorded},
		},
		{"a yes with an entry of number 0", agreed, evil + `INSERT INTO receipts ` + yes + `0, 0 FROM receipts`, []audit.Flaw{audit.Unchained, audit.Unrecorded}},
		{"a yes that is said to be older", agreed, evil + `INSERT INTO receipts ` + yes + `NULL, 1 FROM receipts; UPDATE grants SET older = 1 WHERE call_id = 'tc_evil'`, []audit.Flaw{audit.Unchained}},
		{"a start that is said to be older", ran, starts + `UPDATE grants SET older = 1 WHERE fence = 2`, []audit.Flaw{audit.Unchained}},
		{"a start dated before the first act", ran, starts + `UPDATE grants SET at = 1 WHERE fence = 2`, []audit.Flaw{audit.Unrecorded}},
		{"a start behind the fence of the outcome's entry", ran, starts + `UPDATE audit SET fence = 2 WHERE call_id IS NOT NULL AND fence IS NULL`, []audit.Flaw{audit.Altered, audit.Unrecorded}},
		{
			"a start on a review's row", ran, starts + `UPDATE audit SET session_id = (SELECT session_id FROM calls), call_id = (SELECT call_id FROM calls), fence = 2 WHERE n = 1`,
			[]audit.Flaw{audit.Altered, audit.Standing},
		},
		{
			"a turn that counts as imported", agreed, `UPDATE turns SET imported = 1; UPDATE calls SET class = 'read', tool = 'look'; DELETE FROM grants; DELETE FROM consents; DELETE FROM questions`,
			[]audit.Flaw{audit.Orphaned},
		},
		{
			"a turn that counts as erased", agreed, `UPDATE turns SET erased_at = 1; UPDATE events SET body = replace(body, 'burn', 'read'); UPDATE cards SET content = replace(content, '"x"', '"y"')`,
			[]audit.Flaw{audit.Arguments, audit.Shown},
		},
		{"who gave a consent", agreed, `UPDATE consents SET given_by = 'eve'`, []audit.Flaw{audit.Unagreed}},
		{"where a consent was given", agreed, `UPDATE consents SET surface = 'page'`, []audit.Flaw{audit.Unagreed}},
		{"how a call ended, as people are told", agreed, `UPDATE calls SET doc = replace(doc, '"status":"success"', '"status":"canceled"')`, []audit.Flaw{audit.Outcome}},
		{"a no, with its receipt", refused, `DELETE FROM receipts`, []audit.Flaw{audit.Missing, audit.Unreceipted}},
		{"the class of a reviewed tool", ran, `UPDATE tools SET class = 'read' WHERE tool_name = 'burn'`, []audit.Flaw{audit.Standing}},
		{"the risk of a reviewed tool", ran, `UPDATE tools SET risk = 'low' WHERE tool_name = 'burn'`, []audit.Flaw{audit.Standing}},
		{"the words of a reviewed tool", ran, `UPDATE tools SET options = '{"consent":{"action":"Look at a file."}}' WHERE tool_name = 'burn'`, []audit.Flaw{audit.Standing}},
		{"the description of a reviewed tool", ran, `UPDATE tools SET description = 'Looks at a file.' WHERE tool_name = 'burn'`, []audit.Flaw{audit.Standing}},
		{"the description of a reviewed tool, as it was reviewed", ran, `UPDATE tools SET description = 'Look.', seen = replace(seen, 'Does burn.', 'Look.') WHERE tool_name = 'burn'`, []audit.Flaw{audit.Standing}},
		{"a review that nobody made", offered, `UPDATE tools SET reviewed = 1, class = 'read', risk = 'low' WHERE tool_name = 'mail'`, []audit.Flaw{audit.Standing}},
		{
			"the arguments of a call that was allowed", ran, `UPDATE cards SET content = replace(content, '"x"', '"y"') WHERE type = 'tool.call'`,
			[]audit.Flaw{audit.Bound},
		},
		{"a reviewed tool", ran, `DELETE FROM tools WHERE tool_name = 'burn'`, []audit.Flaw{audit.Standing}},
		{"the answer to a question of the agent's own", func(t *testing.T, w *world) {
			w.loop(asksOnce(worker.Question{Text: "Which?"}))
			a := w.begin()
			w.say(w.asked(), "the blue one")
			w.over(a.Turn)
		}, `UPDATE cards SET content = replace(content, 'the blue one', 'all of them')`, []audit.Flaw{audit.Outcome}},
		{"a late result", func(t *testing.T, w *world) {
			back := away(w, burn)
			a := w.begin()
			w.say(w.askedAfter(w.accepts()), "leave")
			w.over(a.Turn)
			back()
			w.pass(30 * time.Second)
		}, `DELETE FROM cards WHERE type = 'tool.late_result'`, []audit.Flaw{audit.Outcome}},
		{"a large result", largeResult, `UPDATE blob_chunks SET data = zeroblob(length(data))`, []audit.Flaw{audit.Outcome}},
		{"a large result, removed", largeResult, `DELETE FROM blob_chunks; DELETE FROM blobs`, []audit.Flaw{audit.Outcome}},
	} {
		t.Run(tt.name, func(t *testing.T) { altered(t, tt.play, tt.change, tt.flaws...) })
	}
}

// offered is a tool that a service has registered, and that nobody has reviewed.
func offered(t *testing.T, w *world) {
	if err := w.now.kernel.Registry().Register(w.ctx, target, definition(mail, utp.Irreversible, `{}`)); err != nil {
		t.Fatal(err)
	}
}

// TestOlderIsNotedOnce: what is marked as older than the chain after that had begun is not taken for it when the
// server starts the next time.
func TestOlderIsNotedOnce(t *testing.T) {
	for name, change := range map[string]string{
		"a start":  `INSERT INTO grants (call_id, fence, owner, at, older) SELECT call_id, fence + 1, owner, at, 1 FROM grants`,
		"a yes":    `INSERT INTO receipts (session_id, call_id, question, decision, given_by, surface, at, shown, language, older) SELECT session_id, call_id, 0, 'accept', 'ada', 'terminal', 1, '', 'en', 1 FROM calls`,
		"a review": `UPDATE tools SET reviewed = 1, class = 'read', risk = 'low' WHERE tool_name = 'mail'`,
	} {
		t.Run(name, func(t *testing.T) {
			allowed := []rulebook.Rule{{Tool: put, Decide: turn.Allow}}
			onDisk(t, func(w *world) { w.unjudged, w.rules = true, allowed }, func(t *testing.T, w *world) {
				offered(t, w)
				ran(t, w)
				w.wholeChain()
				w.tamper(`PRAGMA foreign_keys = 0; ` + change)
				w.restart()
				w.flaws = []audit.Flaw{audit.Unchained}
				if name == "a review" {
					w.flaws = []audit.Flaw{audit.Standing}
				}
				w.wholeChain()
			})
		})
	}
}

// largeResult is a call whose result lies in a blob.
func largeResult(t *testing.T, w *world) {
	w.post(definition(mail, utp.Irreversible, `{}`), func(_ context.Context, c *tool.Call) (tool.Result, error) {
		return tool.Result{Value: strings.Repeat("sent to ann ", api.InlineLimit/8)}, w.effects.happen(c.ID)
	})
	w.work(one(mail))
	a := w.begin()
	w.accepts()
	w.succeeded(a.Turn)
	if n := w.cell(`SELECT count(*) FROM blobs`); n == "0" {
		t.Fatal("the result lies in no blob")
	}
}

// TestForgottenByHand: a person's no is removed behind an entry that was noted, and an entry at the end says that
// it was forgotten; its question is still there.
func TestForgottenByHand(t *testing.T) {
	onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
		refused(t, w)
		all := w.chain()
		last := all[len(all)-1]
		no := slices.IndexFunc(all, func(e api.AuditEntry) bool { return e.Receipt != nil })
		forged := api.AuditEntry{N: last.N + 1, Kind: audit.Forgotten, At: last.At, Of: all[no].N}
		w.tamper(`DELETE FROM receipts`)
		w.tamper(`INSERT INTO audit (n, kind, at, of, commitment, link) VALUES (?, 'forgotten', ?, ?, '', ?)`,
			forged.N, strconv.FormatInt(forged.At.UnixMicro(), 10), forged.Of, audit.Link(last.Link, forged))
		w.flaws = []audit.Flaw{audit.Unreceipted}
		w.wholeChain()
	})
}

// TestInForceAltered: what is in force is not what the chain says of it.
func TestInForceAltered(t *testing.T) {
	for name, change := range map[string]string{
		"another":  `UPDATE in_force SET digest = '2'`,
		"one more": `INSERT INTO in_force VALUES ('login', 'eve', '9', 'a browser', 'eve')`,
		"gone":     `DELETE FROM in_force`,
	} {
		t.Run(name, func(t *testing.T) {
			altered(t, func(t *testing.T, w *world) {
				for _, digest := range []string{"0", "1"} {
					if err := w.now.kernel.Admin().RecordInForce(w.ctx, api.ActToken, []store.InForce{{Subject: "phone", Digest: digest, Detail: "listener"}}); err != nil {
						t.Fatal(err)
					}
				}
			}, change, audit.Standing)
		})
	}
}

// TestOlderIsNoAlarm: what an older program has left is not held against the ledger, whatever the clock showed
// then or shows later.
func TestOlderIsNoAlarm(t *testing.T) {
	for name, tt := range map[string]struct {
		left  string // as the migration leaves it
		later time.Duration
	}{
		"before the chain":                           {`DELETE FROM audit; UPDATE receipts SET entry = NULL, terms = '', salt = '', older = 1; UPDATE grants SET older = 1`, time.Minute},
		"before the chain, by a clock that was fast": {`DELETE FROM audit; UPDATE receipts SET entry = NULL, at = at + 3600000000, terms = '', salt = '', older = 1; UPDATE grants SET older = 1, at = at + 3600000000`, time.Minute},
		"and a clock that is set back":               {`DELETE FROM audit; UPDATE receipts SET entry = NULL, terms = '', salt = '', older = 1; UPDATE grants SET older = 1`, -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
				agreed(t, w)
				w.tamper(tt.left)
				w.wholeLedger(1, 1, "before the update")
				w.restart()
				keep := func(digest string) {
					if err := w.now.kernel.Admin().RecordInForce(w.ctx, api.ActToken, []store.InForce{{Subject: "phone", Digest: digest}}); err != nil {
						t.Fatal(err)
					}
				}
				keep("1")
				w.wholeLedger(1, 1, "after the update")
				w.clock.step(tt.later)
				keep("2")
				w.wholeLedger(1, 1, "later")
				w.restart()
				if got := w.acts(); !slices.Equal(got, []string{"older receipts1", "older starts1", "token phone", "token phone"}) && !slices.Equal(got, []string{"older starts1", "older receipts1", "token phone", "token phone"}) {
					t.Errorf("the chain has %q", got)
				}
				w.tamper(`INSERT INTO grants (call_id, fence, owner, at, older) SELECT call_id, fence + 1, owner, at, 1 FROM grants`)
				w.flaws = []audit.Flaw{audit.Unchained}
				w.wholeChain()
			})
		})
	}
}

// wholeLedger verifies the ledger, and counts what is older than its chain.
func (w *world) wholeLedger(receipts, starts int64, when string) {
	w.t.Helper()
	v := audit.Verifier{Found: func(f audit.Finding) {
		if when != "before the update" || f.Flaw != audit.Unchained { // that says how much there is
			w.t.Errorf("%s: %+v", when, f)
		}
	}}
	r, err := v.Ledger(func(q api.AuditRequest) (api.AuditAnswer, error) { return operate[api.AuditAnswer](w, api.OpAudit, q) })
	if err != nil || r.Older != receipts || r.OlderStarts != starts {
		w.t.Errorf("%s: %d receipts and %d starts are older, want %d and %d (%v)", when, r.Older, r.OlderStarts, receipts, starts, err)
	}
}

// TestImportedAndErased: a turn that was imported and then erased, or the other way round, is not an alarm.
func TestImportedAndErased(t *testing.T) {
	erase := func(w *world, id string) {
		w.t.Helper()
		w.pass(2 * time.Minute)
		if got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{id}}); err != nil || got.Erased != 1 {
			w.t.Fatalf("erased %+v, %v", got, err)
		}
	}
	for name, first := range map[string]bool{"erased first": true, "imported first": false} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.accepts()
				w.succeeded(a.Turn)
				if first {
					erase(w, a.Turn)
				}
				records := w.exported(a.Turn)
				w.elsewhere()
				w.imports(a.Turn, records, 10)
				w.wholeChain()
				if !first {
					erase(w, a.Turn)
				}
				w.wholeChain()
			})
		})
	}
}
