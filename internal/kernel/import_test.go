package kernel_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/storetest"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// exported are all records of a turn.
func (w *world) exported(turnID string) []jsontext.Value {
	w.t.Helper()
	return w.exportedFrom(turnID, "")
}

// exportedFrom are those behind a cursor.
func (w *world) exportedFrom(turnID, cursor string) []jsontext.Value {
	w.t.Helper()
	var all []jsontext.Value
	for {
		page, err := operate[api.ExportAnswer](w, api.OpExport, api.ExportRequest{Turn: turnID, Cursor: cursor})
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, page.Records...)
		if cursor = page.Cursor; cursor == "" {
			return all
		}
	}
}

// elsewhere goes on with another, empty ledger.
func (w *world) elsewhere() {
	w.t.Helper()
	for _, a := range w.agents {
		a.kill()
	}
	w.now.die()
	<-w.now.done
	w.boot(w.emptyHome())
}

// imports brings all records of a turn in, n with each request; it says how many were new and
// whether the turn was known.
func (w *world) imports(turnID string, records []jsontext.Value, n int) (added int, known bool) {
	w.t.Helper()
	added, known = w.importsSome(turnID, records, n)
	a, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: turnID, Last: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return added + a.Added, known || a.Known
}

// importsSome brings the first records of a turn in.
func (w *world) importsSome(turnID string, records []jsontext.Value, n int) (added int, known bool) {
	w.t.Helper()
	receipts := 1
	for part := range slices.Chunk(records, n) {
		a, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: turnID, Records: part, Receipts: receipts})
		if err != nil {
			w.t.Fatal(err)
		}
		receipts += w.receiptsOf(part)
		added, known = added+a.Added, a.Known
	}
	return added, known
}

// TestImportOpen: a turn that had not ended where it came from has ended here, and its session has
// its one end, wherever it stood: the order of its events is right to the last, which the world
// judges. What is told of it by a later export is not taken.
func TestImportOpen(t *testing.T) {
	testkit.Slow(t)
	for name, play := range map[string]func(*world) api.EnqueueAnswer{
		"queued": func(w *world) api.EnqueueAnswer { return w.begin() },
		"asking": func(w *world) api.EnqueueAnswer {
			w.work(one(burn))
			a := w.begin()
			w.asked()
			return a
		},
		"about to leave": func(w *world) api.EnqueueAnswer {
			w.services[0].conn.cut.Store(true)
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Dispatched)
			return a
		},
		"under way": func(w *world) api.EnqueueAnswer {
			w.work(one(burn))
			w.effects.at("begun", func(ctx context.Context, _ *service, _ *tool.Call) error { <-ctx.Done(); return ctx.Err() })
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Started)
			return a
		},
		"unknown": func(w *world) api.EnqueueAnswer {
			w.work(one(burn))
			w.effects.at("begun", func(context.Context, *service, *tool.Call) error { w.services[0].kill(); return nil })
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Unknown)
			return a
		},
		"the agent asks": func(w *world) api.EnqueueAnswer {
			w.loop(asksOnce(worker.Question{Text: "Which?"}))
			a := w.begin()
			w.asked()
			return a
		},
	} {
		for _, n := range []int{1, 3, 1000} {
			t.Run(name, func(t *testing.T) {
				inWorld(t, func(w *world) { w.unended, w.restored = true, true }, func(t *testing.T, w *world) {
					a := play(w)
					early := w.exported(a.Turn)
					w.pass(time.Second)
					w.elsewhere()
					if _, known := w.imports(a.Turn, early, n); known {
						t.Fatal("it was known before")
					}
					if chained, want := len(w.audited()), w.receiptsOf(early); chained != want {
						t.Errorf("the chain has %d entries, want one for each receipt that came in: %d", chained, want)
					}
					d, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: a.Turn})
					if err != nil || d.Status != string(turn.Ended) || d.End.Code != utp.CodeOutcomeUnknown {
						t.Fatalf("it is %+v, %v", d, err)
					}
					for _, c := range d.Calls {
						if turn.CallState(c.State).Open() || c.Status == "" || name == "the agent asks" && c.Kind != string(turn.QuestionCall) {
							t.Errorf("the call is %+v", c)
						}
					}
					if ends := w.cell(`SELECT count(*) FROM events WHERE type LIKE '%session.errored'`); ends != "1" {
						t.Errorf("the session has %s ends", ends)
					}
					if added, known := w.imports(a.Turn, early, n); added != 0 || !known {
						t.Errorf("again: %d records were new, known %v", added, known)
					}
					if copied := w.exported(a.Turn); len(copied) < len(early) {
						t.Errorf("exported again it has %d records, and had %d", len(copied), len(early))
					}
				})
			})
		}
	}
}

// TestImportIsNoNews: what an import brings in happened elsewhere: no listener is told of it,
// neither where it comes in pieces nor by the end that it gets here.
func TestImportIsNoNews(t *testing.T) {
	for name, n := range map[string]int{"in pieces": 1, "at once": 1000} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.unended, w.restored = true, true }, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.asked()
				records := w.exported(a.Turn)
				w.elsewhere()
				w.imports(a.Turn, records, n)
				var got api.SinceAnswer
				if err := rpc.Ask(w.ctx, w.person, api.OpSince, api.SinceRequest{}, &got); err != nil || len(got.Sessions) != 0 || got.Newest == "" {
					t.Errorf("it is told that %+v, %v", got, err)
				}
			})
		})
	}
}

// TestImportOfATurnThatWentOn: a turn that goes on while it is exported comes as it was when the
// export of it began, and its session has one end where it is imported.
func TestImportOfATurnThatWentOn(t *testing.T) {
	inWorld(t, func(w *world) { w.restored = true }, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		first, err := operate[api.ExportAnswer](w, api.OpExport, api.ExportRequest{Turn: a.Turn})
		if err != nil {
			t.Fatal(err)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		records := slices.Concat(first.Records, w.exportedFrom(a.Turn, first.Cursor))
		w.elsewhere()
		if added, known := w.imports(a.Turn, records, 3); added == 0 || known {
			t.Errorf("%d records were new, known %v", added, known)
		}
		if ends := w.cell(`SELECT group_concat(type) FROM events WHERE type LIKE '%session.%' AND type NOT LIKE '%started'`); ends != "aaep:agent.session.errored" {
			t.Errorf("the session has the ends %s", ends)
		}
	})
}

// TestImportAll: what was exported of a turn that has ended comes in as it was: its deliverable,
// the question of its own that it asked and what it was answered, and the cards of a foreign
// worker.
func TestImportAll(t *testing.T) {
	inWorld(t, func(w *world) { w.restored = true }, func(t *testing.T, w *world) {
		own, foreign := w.tattled().Turn, w.commandsMarked()
		records := map[string][]jsontext.Value{own: w.exported(own), foreign: w.exported(foreign)}
		detail := func(id string) api.TurnDetail {
			d, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: id})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		before := detail(own)
		w.elsewhere()
		for id, all := range records {
			if added, known := w.imports(id, all, 4); added == 0 || known {
				t.Errorf("%s: %d records were new, known %v", id, added, known)
			}
			again := w.exported(id)
			if len(again) != len(all) {
				t.Fatalf("%s has %d records, and had %d", id, len(again), len(all))
			}
			for i := range all {
				var r api.Exported
				if err := json.Unmarshal(all[i], &r); err != nil {
					t.Fatal(err)
				}
				if (r.Card != nil || r.Event != nil || r.Receipt != nil) && string(again[i]) != string(all[i]) {
					t.Errorf("record %d is\n%s\nand was\n%s", i, again[i], all[i])
				}
			}
		}
		after := detail(own)
		if after.Deliverable == "" || after.Deliverable != before.Deliverable || len(after.End.Fields) != 1 ||
			!slices.ContainsFunc(after.Calls, func(c api.CallDetail) bool {
				return c.Kind == string(turn.QuestionCall) && c.Status == utp.StatusSuccess
			}) {
			t.Errorf("it is %+v, and was %+v", after, before)
		}
		stray := records[foreign][len(records[foreign])-1]
		for _, raw := range records[foreign] {
			var r api.Exported
			if err := json.Unmarshal(raw, &r); err == nil && r.Card != nil {
				stray = raw
			}
		}
		_, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: own, Records: []jsontext.Value{stray}})
		if !isFault(err, utp.CodeBadRequest) {
			t.Errorf("a card of another turn: %v", err)
		}
	})
}

// TestImportGoesOn: wherever the ledger refuses in the middle of an import, what came before is
// there and nothing of the refused part is; the same import again goes on from there.
func TestImportGoesOn(t *testing.T) {
	testkit.Slow(t)
	for name, open := range map[string]bool{"ended": false, "open": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.unended, w.restored = true, true }, func(t *testing.T, w *world) {
				var id string
				if open {
					w.work(one(poller), one(burn))
					id = w.begin().Turn
					w.asked()
				} else {
					id = w.tattled().Turn
				}
				all := w.exported(id)
				const part = 4
				for refused := 0; refused <= len(all); refused += part {
					w.elsewhere()
					taken := all[:min(refused, len(all))]
					w.importsSome(id, taken, part)
					w.now.full.Store(true)
					rest := all[min(refused, len(all)):min(refused+part, len(all))]
					before := w.cell(`SELECT (SELECT count(*) FROM cards) || ' ' || (SELECT count(*) FROM events) || ' ' || (SELECT count(*) FROM calls)`)
					q := api.ImportRequest{Turn: id, Records: rest, Receipts: w.receiptsOf(taken) + 1, Last: true}
					if _, err := operate[api.ImportAnswer](w, api.OpImport, q); err == nil {
						t.Fatalf("part %d is taken without room", refused/part)
					}
					after := w.cell(`SELECT (SELECT count(*) FROM cards) || ' ' || (SELECT count(*) FROM events) || ' ' || (SELECT count(*) FROM calls)`)
					if after != before {
						t.Errorf("part %d was refused, and there are %s cards, events and calls; were %s", refused/part, after, before)
					}
					w.now.full.Store(false)
					if added, known := w.imports(id, all, part); known || added == 0 {
						t.Errorf("after part %d was refused: %d new, known %v", refused/part, added, known)
					}
					w.judge()
					d, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: id})
					if err != nil || len(d.Receipts) != w.receiptsOf(all) {
						t.Errorf("after part %d was refused there are %d receipts, %v; want %d", refused/part, len(d.Receipts), err, w.receiptsOf(all))
					}
				}
			})
		})
	}
}

// receiptsOf counts the receipts among records.
func (w *world) receiptsOf(records []jsontext.Value) int {
	w.t.Helper()
	n := 0
	for _, raw := range records {
		var r api.Exported
		if err := json.Unmarshal(raw, &r); err != nil {
			w.t.Fatal(err)
		}
		if r.Receipt != nil {
			n++
		}
	}
	return n
}

// TestImportIntoErasedTurn: what was erased does not come back with the export that it came from,
// whether that is imported again as a whole or goes on where it broke off.
func TestImportIntoErasedTurn(t *testing.T) {
	for name, all := range map[string]bool{"again": true, "where it broke off": false} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, func(w *world) { w.restored, w.unjudged = true, true }, func(t *testing.T, w *world) {
				id := w.tattled().Turn
				records := w.exported(id)
				w.elsewhere()
				taken := records
				if !all {
					taken = records[:1] // the turn, and nothing of what it did
				}
				w.importsSome(id, taken, 4)
				if got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{id}}); err != nil || got.Erased != 1 {
					t.Fatalf("erased %+v, %v", got, err)
				}
				w.imports(id, records, 4)
				const marked = ` LIKE '%` + storetest.Marker + `%'`
				for _, where := range []string{
					`turn_inputs WHERE request || args` + marked, `turns WHERE doc || summary` + marked, `calls WHERE doc` + marked, `events`, `cards`,
				} {
					if n := w.cell(`SELECT count(*) FROM ` + where); n != "0" {
						t.Errorf("%s rows are in %s", n, where)
					}
				}
				d, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: id})
				if err != nil || !d.Erased || len(d.Receipts) != w.receiptsOf(records) {
					t.Errorf("it is %+v, %v; want it erased, with its %d receipts", d, err, w.receiptsOf(records))
				}
			})
		})
	}
}

// TestExportOddCards: a third-party worker names its cards as it likes, and writes what looks like
// a blob: its turn is exported all the same, and so are those behind it.
func TestExportOddCards(t *testing.T) {
	inWorld(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		c := s.holds()
		ids := []string{"card of/them:1", "card/of/them/2", "/"}
		for _, id := range ids {
			card := s.wanted(c.Turn, "tc_odd", poller)
			card.ID, card.Arguments = id, jsontext.Value(`{"name":{"$blob":"`+strings.Repeat("ab", 32)+`"}}`)
			s.keeps(utp.NewToolCall(card))
		}
		s.delivers(c)
		w.over(c.Turn)
		n := 0
		for _, raw := range w.exported(c.Turn) {
			var r api.Exported
			if err := json.Unmarshal(raw, &r); err != nil {
				t.Fatal(err)
			}
			if r.Card != nil {
				n++
			}
		}
		if n != len(ids) {
			t.Errorf("%d cards were exported, want %d", n, len(ids))
		}
	})
}
