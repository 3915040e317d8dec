package web

import (
	"context"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// told are the events of a session as they were read, for announcers that begin later: what is said of an event follows from those
// before it, and from who listens.
type told struct{ rows []api.EventRow }

// Add adds the next event.
func (t *told) Add(raw []byte, seq int64) { t.rows = append(t.rows, api.EventRow{Seq: seq, Body: raw}) }

// Last is the sequence number of the last event.
func (t *told) Last() int64 {
	if len(t.rows) == 0 {
		return 0
	}
	return t.rows[len(t.rows)-1].Seq
}

// tell calls take with the events of a session behind one number and up to another, as far as this version can read them. Of the
// ledger it reads what has come since anybody asked last.
func (s *Server) tell(ctx context.Context, v visitor, one api.Session, behind, last int64, take func(e aaep.Event, seq int64)) error {
	var rows []api.EventRow
	if err := follow(ctx, s, &s.told, v, one, func(t *told) { rows = t.rows }); err != nil { // which grow, and do not change
		return err
	}
	for _, row := range rows {
		if row.Seq <= behind || row.Seq > last {
			continue
		}
		if e, err := aaep.DecodeEvent(row.Body); err == nil {
			take(e, row.Seq)
		}
	}
	return nil
}
