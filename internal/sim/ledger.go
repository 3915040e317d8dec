package sim

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// look reads the ledger from outside, which never fails.
func look[T any](w *world, read func(store.Tx) (T, error)) (found T) {
	err := w.ledger.View(context.Background(), func(tx store.Tx) (err error) {
		found, err = read(tx)
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("sim: the ledger cannot be read: %v", err))
	}
	return found
}

func (w *world) turnRows(f store.TurnFilter) []store.TurnRow {
	return look(w, func(tx store.Tx) ([]store.TurnRow, error) { return tx.Turns(f) })
}

// stored lists the turns of the ledger in the order of their ids.
func (w *world) stored() []store.Record {
	return look(w, func(tx store.Tx) ([]store.Record, error) {
		rows, err := tx.Turns(store.TurnFilter{})
		if err != nil {
			return nil, err
		}
		ids := make([]string, 0, len(rows))
		for _, row := range rows {
			ids = append(ids, row.Turn)
		}
		slices.Sort(ids)
		recs := make([]store.Record, 0, len(ids))
		for _, id := range ids {
			rec, err := tx.Turn(store.TurnRef{Turn: id})
			if err != nil {
				return nil, err
			}
			recs = append(recs, rec)
		}
		return recs, nil
	})
}

// tool reads a tool; the zero value is one that nobody has registered.
func (w *world) tool(name string) store.Tool {
	rows := look(w, func(tx store.Tx) ([]store.Tool, error) { return tx.Tools(store.ToolFilter{Names: []string{name}}) })
	if len(rows) == 0 {
		return store.Tool{}
	}
	return rows[0]
}

func (w *world) events(session string) []store.Event {
	return look(w, func(tx store.Tx) ([]store.Event, error) {
		return tx.Events(store.EventFilter{Session: session, Limit: math.MaxInt})
	})
}

// results reads the transcript of a turn as the kernels do.
func (w *world) results(id string) []store.ResultRow {
	return look(w, func(tx store.Tx) ([]store.ResultRow, error) { return w.txOf(tx).Results(id, 0, math.MaxInt) })
}

func (w *world) unsent() []store.Outgoing {
	return look(w, func(tx store.Tx) ([]store.Outgoing, error) { return tx.Outbox(store.OutboxFilter{}) })
}

// recordOf copies a record, so that a change of one copy leaves the other alone.
func recordOf(r store.Record) store.Record {
	r.State = stateOf(r.State)
	r.Questions = slices.Clone(r.Questions)
	for i := range r.Questions {
		r.Questions[i] = questionOf(r.Questions[i])
	}
	r.Presented = slices.Clone(r.Presented)
	return r
}

func stateOf(s turn.State) turn.State {
	s.Calls = slices.Clone(s.Calls)
	for i := range s.Calls {
		c := &s.Calls[i]
		c.Consent, c.Outcome, c.Batch = pointed(c.Consent), pointed(c.Outcome), pointed(c.Batch)
		if c.Batch != nil {
			c.Batch.Children = slices.Clone(c.Batch.Children)
		}
	}
	s.Delegated = slices.Clone(s.Delegated)
	s.Stop, s.End = pointed(s.Stop), pointed(s.End)
	return s
}

func questionOf(q consent.Question) consent.Question {
	q.SpentTokens = slices.Clip(q.SpentTokens)
	return q
}

func pointed[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
