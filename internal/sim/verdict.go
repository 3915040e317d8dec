package sim

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// end judges what is left when nothing more happens.
func (j *judge) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	reported := map[string]bool{}
	for _, r := range j.w.ledger.Contents().Reports {
		reported[r.Call] = true
	}
	turns := j.w.stored()
	there := map[string]bool{}
	for _, rec := range turns {
		there[rec.State.Turn] = true
		j.turnEnded(rec, reported)
	}
	for _, id := range j.turns {
		if !there[id] && j.backs == 0 {
			j.brokenf("%s was begun and is not in the ledger", id)
		}
	}
	if n := len(j.w.unsent()); n > 0 {
		j.brokenf("%d messages still wait to leave", n)
	}
	for _, span := range slices.Sorted(maps.Keys(j.due)) {
		if !j.sent[span] {
			j.brokenf("the message to %s was written and has never left", j.due[span])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(j.calls)) {
		j.reported(id, j.calls[id])
	}
	j.audited(turns)
}

// audited: every answer has its entry in the audit chain, the chain is whole, and what was agreed to is
// what the ledger keeps of the calls.
func (j *judge) audited(turns []store.Record) {
	v := audit.Verifier{Found: func(f audit.Finding) { j.brokenf("the audit chain, entry %d: %s: %s", f.N, f.Flaw, f.Found) }}
	receipts := 0
	r := look(j.w, func(tx store.Tx) (audit.Report, error) {
		for _, rec := range turns {
			kept, err := tx.Receipts(rec.State.Session)
			if err != nil {
				return audit.Report{}, err
			}
			receipts += len(kept)
		}
		return v.Ledger(func(q api.AuditRequest) (api.AuditAnswer, error) { return admin.Audit(tx, q) })
	})
	if r.Receipts != int64(receipts) {
		j.brokenf("the audit chain has the entries of %d receipts; there are %d", r.Receipts, receipts)
	}
}

// turnEnded: it has its one end, its calls have theirs, and its session is in order.
func (j *judge) turnEnded(rec store.Record, reported map[string]bool) {
	s := rec.State
	if s.Status != turn.Ended || s.End == nil {
		j.brokenf("%s is %s, long after the weather has cleared up", s.Turn, s.Status)
		return
	}
	for _, c := range s.Calls {
		if !reported[c.ID] || c.State.Open() {
			j.brokenf("%s of %s is %s, and reported: %t", c.ID, s.Turn, c.State, reported[c.ID])
		}
	}
	seen := map[string]bool{}
	for _, r := range j.w.results(s.Turn) {
		if seen[r.Call] || seen["key "+r.Key] {
			j.brokenf("the result of %s, %s, was applied twice", r.Call, r.Key)
		}
		seen[r.Call], seen["key "+r.Key] = true, true
	}
	events := j.w.events(s.Session)
	if rec.Erased { // the machine was suspended for longer than content is kept
		if n := len(events); n > 0 {
			j.brokenf("%s is erased, and %d events of it are there", s.Turn, n)
		}
		return
	}
	j.sessionInOrder(events)
	j.textInOrder(s.Session, events)
	if s.End.Status == utp.StatusSuccess && len(s.ResultFields) > 0 && s.End.Deliverable != "" {
		for _, name := range s.ResultFields {
			if !bytes.Contains(j.deliverable(s).Content, []byte(name)) {
				j.brokenf("%s of %s has no %s", s.End.Deliverable, s.Turn, name)
			}
		}
	}
}

// deliverable reads the card that a turn ended with.
func (j *judge) deliverable(s turn.State) utp.Card {
	rows := look(j.w, func(tx store.Tx) ([]utp.Card, error) {
		return tx.Cards(store.CardFilter{IDs: []string{s.End.Deliverable}})
	})
	if len(rows) == 0 {
		return utp.Card{}
	}
	return rows[0]
}

func (j *judge) sessionInOrder(events []store.Event) {
	checker := session.NewChecker()
	ends := 0
	for i, e := range events {
		if e.Seq != int64(i+1) {
			j.brokenf("event %d of %s stands in place %d", e.Seq, e.Session, i+1)
		}
		for _, v := range aaep.Errors(checker.Check(e.Body)) {
			j.brokenf("event %d of %s: %s", e.Seq, e.Session, v)
		}
		if is, err := aaep.DecodeEvent(e.Body); err != nil {
			j.brokenf("event %d of %s: %v", e.Seq, e.Session, err)
		} else if is.IsTerminal() {
			ends++
		}
	}
	for _, v := range aaep.Errors(checker.Close()) {
		j.brokenf("at the end of a session: %s", v)
	}
	if ends != 1 {
		j.brokenf("a session of %d events has %d ends", len(events), ends)
	}
}

// textInOrder: what an agent writes while it plans is told once and in its order, however often
// it is started again; only another text is told from its beginning, and one of which the ledger
// has lost a part.
func (j *judge) textInOrder(name string, events []store.Event) {
	var text strings.Builder
	for _, e := range events {
		if e.Type == aaep.TypeHandoffRequested {
			j.w.did(handoff)
		}
		if e.Type != aaep.TypeOutputStreaming {
			continue
		}
		var body struct {
			Chunk string `json:"chunk"`
		}
		if err := decode(e.Body, &body); err != nil {
			j.brokenf("event %d of %s: %v", e.Seq, name, err)
		}
		text.WriteString(body.Chunk)
	}
	type piece struct {
		after, part int
		who         string
	}
	last := piece{after: -1}
	for _, sentence := range strings.SplitAfter(text.String(), ". ") {
		var is piece
		if n, _ := fmt.Sscanf(sentence, "After %d results part %d by %s", &is.after, &is.part, &is.who); n < 3 {
			continue
		}
		goesOn := is.part == 1 && last == piece{is.after, 0, is.who}
		begins := is.part == 0 && (is.after > last.after || is.after == last.after && (is.who != last.who || j.backs > 0))
		if !goesOn && !begins {
			j.brokenf("in %s, %+v is told after %+v", name, is, last)
		}
		last = is
	}
}

// reported: what was said of a call is what the tools have done, as far as the ledger knows the
// call and has not gone back.
func (j *judge) reported(id string, c *callLog) {
	rec := look(j.w, func(tx store.Tx) (store.Record, error) {
		rec, err := tx.Turn(store.TurnRef{Call: id})
		if errors.Is(err, store.ErrNotFound) { // the ledger has lost it
			return store.Record{}, nil
		}
		return rec, err
	})
	if call, live := rec.State.Find(id); live {
		c.outcome = call.Outcome
	}
	if c.outcome == nil || !c.class.Effectful() || j.backs > 0 {
		return
	}
	did := c.outcome.Status == utp.StatusSuccess
	undone := c.outcome.Status == utp.StatusCanceled
	switch {
	case did && c.effects == 0:
		j.brokenf("%s is told to be done, and nothing was done", id)
	case undone && c.effects > 0:
		j.brokenf("%s is told not to be done (%s), and was done %d times", id, c.outcome.Code, c.effects)
	}
}
