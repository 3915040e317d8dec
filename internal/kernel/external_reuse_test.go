package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/utp"
)

// asksFor keeps a card and sends its command, for the call of a step. Providers that count their ids
// again give the same one in each.
func (s *stranger) asksFor(c api.ClaimAnswer, card, call, step string) (api.CommandAnswer, error) {
	s.world.t.Helper()
	w := s.wanted(c.Turn, call, poller)
	w.ID, w.Lineage.StepID = card, step
	s.keeps(utp.NewToolCall(w))
	return s.sends(s.commanded(w, c.Epoch))
}

// rows are all reports on a call, by their steps.
func (s *stranger) rows(turnID, call string) map[string]utp.ResultCard {
	s.world.t.Helper()
	var a api.InboxAnswer
	s.must(api.OpInbox, api.InboxRequest{Turn: turnID, Calls: []string{call}}, &a)
	all := map[string]utp.ResultCard{}
	ids := map[string]bool{}
	for _, raw := range a.Rows {
		row, err := utp.DecodeInboxRow(raw)
		if err != nil {
			s.world.t.Fatal(err)
		}
		var read api.CardRequest
		s.must(api.OpRead, api.ReadRequest{Card: row.Report.ToolResultCardID}, &read)
		card, err := utp.DecodeCard(read.Card)
		if err != nil {
			s.world.t.Fatal(err)
		}
		r, err := utp.DecodeToolResult(card)
		if err != nil {
			s.world.t.Fatal(err)
		}
		if row.Context.StepID != r.Lineage.StepID || row.Report.Status != r.Status || r.ToolCallID != call || ids[row.ID] {
			s.world.t.Errorf("the row %+v does not fit its card %+v", row, r)
		}
		ids[row.ID], all[r.Lineage.StepID] = true, r
	}
	return all
}

// isReused wants the answer to a call whose id was used before.
func isReused(t *testing.T, r utp.ResultCard) {
	t.Helper()
	if r.Status != utp.StatusFailed || r.Error == nil || r.Error.Code != utp.CodeConflict || !strings.Contains(r.Error.Message, "id of its own") {
		t.Errorf("the answer is %+v, %+v", r, r.Error)
	}
}

// TestForeignIDReused: a call whose id was used before is not made, and gets a failed result that says
// so, in its own turn and step. The first one's result stays what it was.
func TestForeignIDReused(t *testing.T) {
	const id = "call_0"
	t.Run("in a later step", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			s := w.stranger("peer")
			c := s.holds()
			if _, err := s.asksFor(c, "card_1", id, "step_1"); err != nil {
				t.Fatal(err)
			}
			w.pass(2 * time.Second)
			s.took(".wakeup")
			for _, step := range []string{"2", "3"} {
				_, err := s.asksFor(c, "card_"+step, id, "step_"+step)
				wantFault(t, err, utp.CodeConflict)
				if n := len(s.took(".wakeup")); n != 1 {
					t.Errorf("%d rings", n)
				}
			}
			again, err := s.asksFor(c, "card_2", id, "step_2")
			if err != nil || again.State != api.CommandAnswered {
				t.Errorf("the same again: %+v, %v", again, err)
			}
			first, err := s.asksFor(c, "card_1b", id, "step_1") // the worker has lost its place: the first outcome counts
			if err != nil || first.State != api.CommandAnswered {
				t.Errorf("the first again: %+v, %v", first, err)
			}
			got := s.rows(c.Turn, id)
			if len(got) != 3 || got["step_1"].Status != utp.StatusSuccess {
				t.Errorf("rows %+v", got)
			}
			isReused(t, got["step_2"])
			isReused(t, got["step_3"])
			if n := w.cell(`SELECT count(*) FROM calls`); n != "1" {
				t.Errorf("%s calls were made", n)
			}
			if n := w.now.kernel.ExternalCounts(); n.Answered != 2 || n.Dropped != 0 {
				t.Errorf("counts %+v", n)
			}
			s.delivers(c)
			w.succeeded(c.Turn)
		})
	})
	t.Run("in a later turn", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			s := w.stranger("peer")
			c := s.holds()
			if _, err := s.asksFor(c, "card_1", id, "step_1"); err != nil {
				t.Fatal(err)
			}
			w.pass(2 * time.Second)
			s.delivers(c)
			w.succeeded(c.Turn)
			next := s.holds()
			_, err := s.asksFor(next, "card_2", id, "step_1")
			wantFault(t, err, utp.CodeConflict)
			isReused(t, s.rows(next.Turn, id)["step_1"])
			if got := s.rows(c.Turn, id); len(got) != 1 || got["step_1"].Status != utp.StatusSuccess {
				t.Errorf("the first turn has %+v", got)
			}
			s.delivers(next)
			w.over(next.Turn)
		})
	})
	t.Run("while the first is open", func(t *testing.T) {
		inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: poller, Decide: "ask"}} }, func(t *testing.T, w *world) {
			s := w.stranger("peer")
			c := s.holds()
			if _, err := s.asksFor(c, "card_1", id, "step_1"); err != nil {
				t.Fatal(err)
			}
			q := w.asked()
			_, err := s.asksFor(c, "card_2", id, "step_2")
			wantFault(t, err, utp.CodeConflict)
			if got := s.rows(c.Turn, id); len(got) != 1 {
				t.Errorf("rows %+v", got)
			}
			w.say(q, "accept")
			w.pass(5 * time.Second)
			got := s.rows(c.Turn, id)
			isReused(t, got["step_2"])
			if got["step_1"].Status != utp.StatusSuccess {
				t.Errorf("the first has %+v", got["step_1"])
			}
			s.delivers(c)
			w.succeeded(c.Turn)
		})
	})
	t.Run("in two turns at once", func(t *testing.T) { // neither has been answered: each gets its own result
		inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: poller, Decide: "ask"}} }, func(t *testing.T, w *world) {
			one, other := w.stranger("peer"), w.stranger("other")
			c, d := one.holds(), other.holds()
			if _, err := one.asksFor(c, "card_1", id, "step_1"); err != nil {
				t.Fatal(err)
			}
			q := w.asked()
			if _, err := other.asksFor(d, "card_2", id, "step_1"); err != nil {
				t.Fatal(err)
			}
			for _, open := range w.questions() {
				word := "accept"
				if open.Number != q.Number {
					word = "reject"
				}
				w.say(open, word)
			}
			w.pass(5 * time.Second)
			if got := one.rows(c.Turn, id)["step_1"]; got.Status != utp.StatusSuccess {
				t.Errorf("the first has %+v", got)
			}
			if got := other.rows(d.Turn, id)["step_1"]; got.Status != utp.StatusCanceled || got.Error.Code != utp.CodeConsentDeclined {
				t.Errorf("the second has %+v", got)
			}
			one.delivers(c)
			other.delivers(d)
			w.over(c.Turn)
			w.over(d.Turn)
		})
	})
}

// TestForeignIDReusedTooOften: there is an end to the answers under one id.
func TestForeignIDReusedTooOften(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		c := s.holds()
		if _, err := s.asksFor(c, "card_1", "call_0", "step_1"); err != nil {
			t.Fatal(err)
		}
		w.pass(2 * time.Second)
		const most = 64
		for i := range most + 2 {
			step := "step_" + strings.Repeat("x", i+2)
			_, err := s.asksFor(c, "card_"+step, "call_0", step)
			wantFault(t, err, utp.CodeConflict)
		}
		if got := len(s.rows(c.Turn, "call_0")); got != most+1 {
			t.Errorf("%d rows", got)
		}
		if n := w.now.kernel.ExternalCounts(); n.Answered != most || n.Dropped != 2 {
			t.Errorf("counts %+v", n)
		}
		s.delivers(c)
		w.succeeded(c.Turn)
	})
}
