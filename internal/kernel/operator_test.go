package kernel_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// operate asks as the hub does for an operator.
func operate[A any](w *world, op string, request any) (A, error) {
	w.t.Helper()
	var a A
	err := rpc.Ask(context.Background(), w.person, op, request, &a)
	return a, err
}

// TestOperatorReadsTurn: a turn is told with all of its calls and receipts, page by page.
func TestOperatorReadsTurn(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(poller), one(burn))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		d, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: a.Session})
		if err != nil || d.Turn != a.Turn || len(d.Calls) != 2 || len(d.Receipts) != 1 || d.End == nil ||
			!slices.ContainsFunc(d.Calls, func(c api.CallDetail) bool { return c.Tool == burn && c.Digest != "" && c.Question > 0 }) {
			t.Errorf("got %+v, %v", d, err)
		}
		rest, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: a.Turn, After: d.Calls[0].ID})
		if err != nil || len(rest.Calls) != 1 || rest.Calls[0].ID != d.Calls[1].ID || len(rest.Receipts) != 0 {
			t.Errorf("behind the first call: %+v, %v", rest, err)
		}
		if _, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: "turn_none"}); !isFault(err, utp.CodeNotFound) {
			t.Errorf("a turn that is not there: %v", err)
		}
	})
}

// save writes a step beside the kernel.
func (w *world) save(b store.Batch) {
	w.t.Helper()
	if err := w.now.store.Update(w.ctx, func(tx store.Tx) error { return tx.Save(b) }); err != nil {
		w.t.Fatal(err)
	}
}

func isFault(err error, code utp.Code) bool {
	return err != nil && strings.HasPrefix(err.Error(), string(code))
}

// TestDeadRetryIsANewCall (call protocol, "Operators do not bypass the gate"): the command
// of a restored ledger is not sent again. Its call is asked for again, with a new question, and
// starts only with a new yes; what is under way is not retried at all.
func TestDeadRetryIsANewCall(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		w.services[0].conn.cut.Store(true) // the command leaves, and nobody starts it
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.reaches(a.Turn, turn.Dispatched)
		letter := store.Outgoing{Session: a.Session, Subject: "x", Payload: []byte("old"), Call: w.last(a.Turn).ID}
		b := store.Batch{Outbox: []store.Outgoing{letter}}
		w.save(b)
		w.save(store.Batch{Dead: []store.DeadLetter{{ID: b.Outbox[0].ID, Reason: "restored"}}})
		list, err := operate[api.DeadAnswer](w, api.OpDead, api.DeadRequest{})
		if err != nil || len(list.Dead) != 1 || list.Dead[0].Tool != burn || list.Dead[0].Reason != "restored" || len(list.Dead[0].Payload) != 0 {
			t.Fatalf("the letters are %+v, %v", list, err)
		}
		retry := api.RetryRequest{ID: list.Dead[0].ID, Owner: person}
		if _, err := operate[api.RetryAnswer](w, api.OpRetry, retry); !isFault(err, utp.CodeConflict) {
			t.Errorf("a retry of what is under way: %v", err)
		}
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session}); err != nil {
			t.Fatal(err)
		}
		w.over(a.Turn)
		w.services[0].conn.cut.Store(false)
		got, err := operate[api.RetryAnswer](w, api.OpRetry, retry)
		if err != nil || got.Turn == "" || got.Turn == a.Turn || got.Sent {
			t.Fatalf("the retry: %+v, %v", got, err)
		}
		w.effectsAre(0)
		row, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: got.Turn})
		if err != nil || row.Agent != api.OperatorAgent || !strings.Contains(string(row.Args), burn) {
			t.Errorf("the new turn is %+v, %v", row, err)
		}
		if list, err = operate[api.DeadAnswer](w, api.OpDead, api.DeadRequest{}); err != nil || len(list.Dead) != 0 {
			t.Errorf("after the retry there are %+v, %v", list, err)
		}
	})
}

// TestReviewShowsWhatChanged: a definition that has changed is unreviewed, and what was reviewed
// before is told; the word on another digest than the present one does not count.
func TestReviewShowsWhatChanged(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		before := w.tool(burn)
		changed := before.Definition
		changed.Options = jsontext.Value(`{"undo_seconds":9}`)
		if err := w.now.kernel.Registry().Register(w.ctx, target, changed); err != nil {
			t.Fatal(err)
		}
		got, err := operate[api.ToolsAnswer](w, api.OpTools, api.ToolsRequest{Tool: burn})
		if err != nil || len(got.Tools) != 1 || got.Tools[0].Reviewed || !strings.Contains(string(got.Tools[0].Seen), burn) || strings.Contains(string(got.Tools[0].Seen), "undo_seconds") {
			t.Fatalf("the tool is %+v, %v", got, err)
		}
		word := api.ReviewRequest{Tool: burn, Digest: before.Digest, Class: utp.Read, Risk: utp.RiskLow}
		if _, err := operate[api.ToolDetail](w, api.OpReview, word); !isFault(err, utp.CodeConflict) {
			t.Errorf("a review of what it was: %v", err)
		}
		word.Digest = got.Tools[0].Digest
		after, err := operate[api.ToolDetail](w, api.OpReview, word)
		if err != nil || !after.Reviewed || after.EffectiveClass != utp.Irreversible || len(after.Seen) != 0 { // the service says so itself
			t.Errorf("after the review it is %+v, %v", after, err)
		}
		if _, err := operate[jsontext.Value](w, api.OpRemove, api.RemoveRequest{Tool: burn}); err != nil {
			t.Error(err)
		}
		if _, err := operate[api.ToolsAnswer](w, api.OpTools, api.ToolsRequest{Tool: burn}); !isFault(err, utp.CodeNotFound) {
			t.Errorf("after its removal: %v", err)
		}
	})
}

// TestContentGoesByItself: content is erased when its time after the end is over, and later the
// receipts, without anybody asking for it.
func TestContentGoesByItself(t *testing.T) {
	var mu sync.Mutex // the kernel tells of it on a goroutine of its own
	var gone []string
	told := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(gone)
	}
	inWorld(t, func(w *world) {
		w.unjudged = true
		w.retention = admin.Retention{Content: 2 * time.Hour, Receipts: 4 * time.Hour, OnErased: func(calls []string) {
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, calls...)
		}}
	}, func(t *testing.T, w *world) {
		agent := w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		agent.kill()
		call := w.last(a.Turn).ID
		detail := func() (api.TurnDetail, error) {
			return operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: a.Turn})
		}
		w.pass(110 * time.Minute)
		if d, err := detail(); err != nil || d.Erased || len(told()) != 0 {
			t.Errorf("before its time: %+v, %v", d, err)
		}
		w.pass(75 * time.Minute)
		if d, err := detail(); err != nil || !d.Erased || len(d.Receipts) != 1 || len(d.Calls) != 1 || d.Calls[0].Digest == "" {
			t.Errorf("after its time: %+v, %v", d, err)
		}
		if !slices.Equal(told(), []string{call}) {
			t.Errorf("the calls that are gone are %v, want %s", told(), call)
		}
		w.pass(5 * time.Hour)
		if _, err := detail(); !isFault(err, utp.CodeNotFound) {
			t.Errorf("after the time of the receipts: %v", err)
		}
	})
}

// TestEraseRefuses: what is open is left alone and told, and a request says exactly what.
func TestEraseRefuses(t *testing.T) {
	inWorld(t, func(w *world) { w.unjudged, w.project = true, "home" }, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{a.Turn}})
		if err != nil || got.Erased != 0 || !slices.Equal(got.Open, []string{a.Turn}) {
			t.Errorf("erasing what is open: %+v, %v", got, err)
		}
		for project, open := range map[string][]string{"home": {a.Turn}, "other": nil} {
			got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Project: project})
			if err != nil || got.Erased != 0 || !slices.Equal(got.Open, open) {
				t.Errorf("erasing the project %s, of which %v is open: %+v, %v", project, open, got, err)
			}
		}
		for i, q := range []api.EraseRequest{{}, {Turns: []string{a.Turn}, Project: "home"}, {Turns: make([]string, 65)}} {
			if _, err := operate[api.EraseAnswer](w, api.OpErase, q); !isFault(err, utp.CodeBadRequest) {
				t.Errorf("request %s: %v", strconv.Itoa(i), err)
			}
		}
		w.say(q, "reject")
		w.over(a.Turn)
		got, err = operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{a.Session}})
		if err != nil || got.Erased != 1 || len(got.Open) != 0 {
			t.Errorf("erasing what has ended: %+v, %v", got, err)
		}
	})
}

// TestImportBringsNothingUsable (call protocol, "Operators do not bypass the gate"): of a
// turn whose call is under way, an import makes one that has ended, with a call of unknown fate; it
// is claimed by nobody, and a card of another call does not come with it.
func TestImportBringsNothingUsable(t *testing.T) {
	onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
		w.work(one(burn))
		records := []jsontext.Value{
			jsontext.Value(`{"turn":{"turn_id":"turn_x1","session_id":"sess_x1","project":"home","channel":"public","agent":"tidy","owner":"ada","status":"suspended","created":"2026-03-01T10:00:00Z","step":1,"applied":0}}`),
			jsontext.Value(`{"call":{"tool_call_id":"tc_x1","tool_name":"` + burn + `","class":"irreversible","risk":"high","state":"started","question":1}}`),
			jsontext.Value(`{"call":{"tool_call_id":"tc_x2","tool_name":"` + burn + `","class":"irreversible","risk":"high","state":"accepted","question":2}}`),
			jsontext.Value(`{"receipt":{"tool_call_id":"tc_x1","question":1,"decision":"accept","by":"ada","at":"2026-03-01T10:00:01Z","shown":"00"}}`),
		}
		for i := range 2 {
			got, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: "turn_x1", Records: records, Receipts: 1})
			if err != nil || got.Known || (i == 0) != (got.Added > 0) {
				t.Fatalf("import %d: %+v, %v", i, got, err)
			}
		}
		d, err := operate[api.TurnDetail](w, api.OpTurn, api.TurnRequest{Name: "turn_x1"})
		if err != nil || d.Status != string(turn.Ended) || d.Imported.IsZero() || len(d.Receipts) != 1 || len(d.Calls) != 2 ||
			d.Calls[0].Code != utp.CodeOutcomeUnknown || d.Calls[1].State != string(turn.Closed) || d.Calls[0].Question != 0 {
			t.Errorf("it is %+v, %v", d, err)
		}
		foreign := jsontext.Value(`{"event":{"seq":7,"event_id":"evt_x","type":"t","body":{},"at":"2026-03-01T10:00:01Z"}}`)
		if _, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: "turn_x1", Records: []jsontext.Value{foreign}}); !isFault(err, utp.CodeBadRequest) {
			t.Errorf("an event out of order: %v", err)
		}
		blob := jsontext.Value(`{"blob":{"sha256":"` + strings.Repeat("z", 64) + `","size":1,"offset":0,"data":"eA=="}}`)
		if _, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: "turn_x1", Records: []jsontext.Value{blob}}); !isFault(err, utp.CodeBadRequest) {
			t.Errorf("a blob under no hash: %v", err)
		}
		a := w.begin()
		w.say(w.asked(), "reject")
		w.over(a.Turn)
		known, err := operate[api.ImportAnswer](w, api.OpImport, api.ImportRequest{Turn: a.Turn, Records: records[1:2]})
		if err != nil || !known.Known {
			t.Errorf("into a turn of this ledger: %+v, %v", known, err)
		}
		w.effectsAre(0)
		for table, whose := range map[string]string{"questions": "turn_id = 'turn_x1'", "tokens": "turn_id = 'turn_x1'", "consents": "call_id LIKE 'tc_x%'", "outbox": "session_id = 'sess_x1'"} {
			if n := w.cell(`SELECT count(*) FROM ` + table + ` WHERE ` + whose); n != "0" {
				t.Errorf("%s: %s rows came with it", table, n)
			}
		}
	})
}
